//! Ports, bound before anything else starts, so that a port in use is an error at once.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener};

use anyhow::{Result, anyhow};
use league_wire::endpoint::Endpoint;
use league_wire::lan;
use socket2::{Domain, Socket, Type};

pub(crate) struct Bound {
    listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Bound {
    /// Port 0 takes any free port.
    pub(crate) fn to(host: IpAddr, port: u16, whose: &str) -> Result<Self> {
        let listener = listen(SocketAddr::new(host, port)).map_err(|error| {
            let holder = if error.kind() == ErrorKind::AddrInUse {
                let list = if cfg!(windows) { "netstat -ano".to_owned() } else { format!("lsof -i :{port}") };
                format!(". Another process has it, perhaps an agent that still runs (`{list}` tells which); stop that, or")
            } else {
                String::from(";")
            };
            anyhow!(
                "{whose} cannot listen on {host}:{port}: {error}{holder} choose another port with --port, or 0 for any free one"
            )
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Takes any free port if another process has this one.
    pub(crate) fn near(host: IpAddr, port: u16, whose: &str) -> Result<Self> {
        if let Err(error) = listen(SocketAddr::new(host, port))
            && error.kind() == ErrorKind::AddrInUse
        {
            tracing::info!(port, "the port is taken; {whose} takes another one");
            return Self::to(host, 0, whose);
        }
        Self::to(host, port, whose)
    }

    pub(crate) fn endpoint(&self, scheme: &str) -> Result<Endpoint> {
        let (address, port) = (self.address.ip(), self.address.port());
        if address.is_unspecified() {
            return Ok(format!("{scheme}://localhost:{port}/mcp").parse()?);
        }
        Ok(lan::endpoint_at(scheme, address, port)?)
    }

    /// Another handle of the same port, so that one server can follow another without closing it.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self { listener: self.listener.try_clone()?, address: self.address })
    }

    pub(crate) fn into_tokio(self) -> io::Result<tokio::net::TcpListener> {
        tokio::net::TcpListener::from_std(self.listener)
    }
}

/// `::` accepts IPv4 as well on every system; Windows would leave it out.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    if address.ip() != IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        return TcpListener::bind(address);
    }
    let socket = Socket::new(Domain::IPV6, Type::STREAM, None)?;
    socket.set_only_v6(false)?;
    // As `TcpListener::bind` does: a port is free as soon as its process has ended. On Windows the option would share
    // it.
    if cfg!(unix) {
        socket.set_reuse_address(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}
