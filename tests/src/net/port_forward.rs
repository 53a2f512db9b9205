//! Port forward from the machine's own loopback to a listener inside a namespace, so that a browser
//! outside can open a dashboard inside. It accepts connections from outside only; nothing inside
//! can use it to get out.

use std::io;
use std::net::{SocketAddr, TcpStream as StdStream};
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::{Namespace, NetError};

/// How long a connection to the inside may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait after a connection could not be accepted.
const BREATHER: Duration = Duration::from_millis(100);

/// An open port forward; dropping it closes it and every connection through it.
#[derive(Debug)]
pub struct PortForward {
    outside: SocketAddr,
    keeper: JoinHandle<()>,
}

impl PortForward {
    /// Forwards connections from `outside` to the address `inside` of the namespace.
    pub fn open(
        namespace: Namespace,
        outside: TcpListener,
        inside: SocketAddr,
    ) -> Result<Self, NetError> {
        let address = outside.local_addr().map_err(NetError::Router)?;
        let keeper = tokio::spawn(keep(namespace, outside, inside));
        Ok(Self { outside: address, keeper })
    }

    /// Where the port forward is outside.
    pub fn outside(&self) -> SocketAddr {
        self.outside
    }
}

impl Drop for PortForward {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

async fn keep(namespace: Namespace, outside: TcpListener, inside: SocketAddr) {
    let mut guests = JoinSet::new();
    loop {
        tokio::select! {
            guest = outside.accept() => {
                match guest {
                    Ok((guest, _)) => drop(guests.spawn(lead(namespace.clone(), guest, inside))),
                    // Out of descriptors, most likely: accepting again at once would only spin.
                    Err(_) => tokio::time::sleep(BREATHER).await,
                }
            }
            Some(left) = guests.join_next() => report(left.unwrap_or(Ok(()))),
        }
    }
}

/// A guest whose connection breaks is an everyday event, worth a line only to someone who looks for
/// it.
fn report(left: Result<(), io::Error>) {
    if let Err(error) = left {
        tracing::debug!(%error, "a connection through the port_forward ended early");
    }
}

async fn lead(
    namespace: Namespace,
    mut guest: TcpStream,
    inside: SocketAddr,
) -> Result<(), io::Error> {
    let connect = move || namespace.run(|| StdStream::connect_timeout(&inside, PATIENCE));
    let host = tokio::task::spawn_blocking(connect).await?.map_err(io::Error::other)??;
    host.set_nonblocking(true)?;
    let mut host = TcpStream::from_std(host)?;
    copy_bidirectional(&mut guest, &mut host).await.map(drop)
}
