//! The address of a process, which also shows its role.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use league_wire::endpoint::{BadEndpoint, Endpoint};

pub const PORT: u16 = 8000;

/// The manager, then the referees, then the players.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProcessId(pub u8);

impl ProcessId {
    pub const MANAGER: Self = Self(0);
    /// The second manager of a league that has one.
    pub const STANDBY: Self = Self(250);

    pub fn is_manager(self) -> bool {
        self == Self::MANAGER || self == Self::STANDBY
    }

    pub fn address(self) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, self.0 + 1))
    }

    pub fn socket(self, port: u16) -> SocketAddr {
        SocketAddr::new(self.address(), port)
    }

    pub fn endpoint(self) -> Result<Endpoint, BadEndpoint> {
        format!("http://{}:{PORT}/mcp", self.address()).parse()
    }

    pub fn of(host: &str) -> Option<Self> {
        match host.parse::<Ipv4Addr>().ok()?.octets() {
            [10, 0, 0, number] => number.checked_sub(1).map(Self),
            _ => None,
        }
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("manager"),
            250 => f.write_str("standby"),
            number => write!(f, "#{number}"),
        }
    }
}
