//! Ports: bound before anything starts, so that a port that is taken is said at once.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};

use anyhow::{Result, anyhow};
use league_wire::endpoint::Endpoint;

/// A port that is ours.
pub(crate) struct Bound {
    listener: TcpListener,
    /// Where it is.
    pub(crate) address: SocketAddr,
}

impl Bound {
    /// Takes `port` of `host`; any free one when it is 0.
    pub(crate) fn to(host: IpAddr, port: u16, whose: &str) -> Result<Self> {
        let listener = TcpListener::bind((host, port)).map_err(|error| {
            let holder = if error.kind() == ErrorKind::AddrInUse {
                format!(". Another process has it, perhaps an agent that still runs (`lsof -i :{port}` tells which); stop that, or")
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

    /// Takes `port` of `host`, or any free one when another process has it.
    pub(crate) fn near(host: IpAddr, port: u16, whose: &str) -> Result<Self> {
        if let Err(error) = TcpListener::bind((host, port))
            && error.kind() == ErrorKind::AddrInUse
        {
            tracing::info!(port, "the port is taken; {whose} takes another one");
            return Self::to(host, 0, whose);
        }
        Self::to(host, port, whose)
    }

    /// How others reach it by `scheme`, unless they are told otherwise.
    pub(crate) fn endpoint(&self, scheme: &str) -> Result<Endpoint> {
        let host = match self.address.ip() {
            address if address.is_unspecified() => "localhost".to_owned(),
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        Ok(format!("{scheme}://{host}:{}/mcp", self.address.port()).parse()?)
    }

    /// For the runtime that it is used in.
    pub(crate) fn into_tokio(self) -> std::io::Result<tokio::net::TcpListener> {
        tokio::net::TcpListener::from_std(self.listener)
    }
}
