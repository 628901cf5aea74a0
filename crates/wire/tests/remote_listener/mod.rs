//! A listener that reports a remote address for every client.

use std::io;
use std::net::SocketAddr;

use league_wire::net::Listener;
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct RemoteListener {
    pub(crate) listener: TcpListener,
    pub(crate) caller: SocketAddr,
}

impl Listener for RemoteListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, _) = Listener::accept(&mut self.listener).await?;
        Ok((stream, self.caller))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
