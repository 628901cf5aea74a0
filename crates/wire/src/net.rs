//! The network as two traits, which a simulation replaces, and their implementation with TCP.
//! Code above them takes time from the runtime and never from the system, so a simulation controls it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, lookup_host};

use crate::endpoint::Endpoint;

pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

pub trait Listener: Send + 'static {
    type Stream: Stream;

    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;

    fn local_addr(&self) -> io::Result<SocketAddr>;
}

pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send + 'a>>;

pub trait Connector: Send + Sync + 'static {
    /// `host` is a name or an IP address without brackets.
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Connecting<'a>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = TcpListener::accept(self).await?;
        // Every message is small and its sender waits, so Nagle's algorithm would only add delay.
        stream.set_nodelay(true)?;
        Ok((stream, peer))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        TcpListener::local_addr(self)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Tcp;

impl Connector for Tcp {
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Connecting<'a> {
        Box::pin(async move {
            let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
            for address in addresses(host, port).await? {
                match TcpStream::connect(address).await {
                    Ok(stream) => {
                        stream.set_nodelay(true)?;
                        return Ok(Box::new(stream) as Box<dyn Stream>);
                    }
                    Err(error) => failure = error,
                }
            }
            Err(failure)
        })
    }
}

/// All loopback addresses count as the same machine.
pub async fn resolves_to(endpoint: &Endpoint, address: IpAddr) -> bool {
    let address = address.to_canonical();
    let found = addresses(endpoint.host(), endpoint.port()).await.unwrap_or_default();
    let mut found = found.into_iter().map(|found| found.ip().to_canonical());
    found.any(|found| found == address || (found.is_loopback() && address.is_loopback()))
}

/// IPv4 first: most players listen on 127.0.0.1 or 0.0.0.0.
pub(crate) async fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    if host.eq_ignore_ascii_case("localhost") {
        let both: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        return Ok(both.map(|address| SocketAddr::new(address, port)).to_vec());
    }
    let mut found: Vec<_> = lookup_host((host, port)).await?.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    Ok(found)
}
