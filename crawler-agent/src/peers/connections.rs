//! Bounded connections of a listener: few in all, fewer from one address, and none that is idle for
//! long. Else strangers could keep peers out by opening connections.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{extract::connect_info::Connected, serve::IncomingStream};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::{Instant, Sleep},
};

use crate::lock::lock;

/// Connections of all peers: four of each in a region of the greatest size, because the messages of
/// each lane are delivered and collected apart.
const ALL: usize = 400;
/// Connections from one address, or from one IPv6 network of 64 bits, which is one line: several
/// agents may be behind one.
const OF_ONE: usize = 32;
/// Time without a byte in either direction after which a connection is closed: longer than a
/// collection waits for envelopes.
const IDLE: Duration = Duration::from_mins(1);

/// Connections that are open, by address.
type Open = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// A listener that closes connections beyond the bounds at once.
pub(crate) struct BoundedListener {
    listener: TcpListener,
    open: Open,
}

impl BoundedListener {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, open: Arc::default() }
    }
}

impl axum::serve::Listener for BoundedListener {
    type Io = BoundedConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedConnection, SocketAddr) {
        loop {
            // Waits after errors, such as too many open files.
            let (stream, from) = axum::serve::Listener::accept(&mut self.listener).await;
            if let Some(slot) = ConnectionSlot::take(&self.open, from.ip()) {
                return (BoundedConnection::new(stream, slot), from);
            }
            tracing::debug!(%from, "closed a connection: too many are open");
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// The address by which connections are counted: an owner of a line has all addresses of its IPv6
/// network.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        address @ IpAddr::V4(_) => address,
    }
}

/// The address of a client as it is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientAddress(pub(super) IpAddr);

impl Connected<IncomingStream<'_, BoundedListener>> for ClientAddress {
    fn connect_info(stream: IncomingStream<'_, BoundedListener>) -> Self {
        Self(counted(stream.remote_addr().ip()))
    }
}

/// One of the connections that may be open; free again when it is dropped.
struct ConnectionSlot {
    open: Open,
    address: IpAddr,
}

impl ConnectionSlot {
    fn take(open: &Open, address: IpAddr) -> Option<Self> {
        let address = counted(address);
        let mut counts = lock(open);
        if counts.values().sum::<usize>() >= ALL {
            return None;
        }
        let count = counts.entry(address).or_default();
        if *count >= OF_ONE {
            return None;
        }
        *count += 1;
        Some(Self { open: Arc::clone(open), address })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut counts = lock(&self.open);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// A connection that ends when it is idle.
pub(crate) struct BoundedConnection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    _slot: ConnectionSlot,
}

impl BoundedConnection {
    fn new(stream: TcpStream, slot: ConnectionSlot) -> Self {
        Self { stream, idle: Box::pin(tokio::time::sleep(IDLE)), _slot: slot }
    }

    fn is_busy(&mut self) {
        self.idle.as_mut().reset(Instant::now() + IDLE);
    }
}

impl AsyncRead for BoundedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Ready(read) => {
                self.is_busy();
                Poll::Ready(read)
            }
            Poll::Pending => {
                ready!(self.idle.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncWrite for BoundedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, buffer));
        self.is_busy();
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_bounded_by_address_and_in_all_and_become_free() {
        let open = Open::default();
        let address = |number: u8| IpAddr::from([10, 0, 0, number]);
        let of_one: Vec<ConnectionSlot> =
            (0..OF_ONE).filter_map(|_| ConnectionSlot::take(&open, address(1))).collect();
        assert_eq!(of_one.len(), OF_ONE);
        assert!(ConnectionSlot::take(&open, address(1)).is_none());
        let others = (2..=u8::MAX).flat_map(|number| [number; OF_ONE]);
        let others: Vec<ConnectionSlot> =
            others.filter_map(|number| ConnectionSlot::take(&open, address(number))).collect();
        assert_eq!(of_one.len() + others.len(), ALL);
        drop(of_one);
        assert!(ConnectionSlot::take(&open, address(1)).is_some());
        drop(others);
        assert!(open.lock().unwrap().is_empty());
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let open = Open::default();
        let take = |address: String| ConnectionSlot::take(&open, address.parse().unwrap());
        let slots: Vec<ConnectionSlot> =
            (0..OF_ONE).filter_map(|n| take(format!("2001:db8:0:1::{n:x}"))).collect();
        assert_eq!(slots.len(), OF_ONE);
        assert!(take("2001:db8:0:1:ffff::1".into()).is_none());
        assert!(take("2001:db8:0:2::1".into()).is_some());
        assert!(take("::ffff:10.0.0.1".into()).is_some_and(|slot| slot.address.is_ipv4()));
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_ends() {
        use tokio::io::AsyncReadExt as _;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let to = listener.local_addr().unwrap();
        let mut bounded = BoundedListener::new(listener);
        let accepting = axum::serve::Listener::accept(&mut bounded);
        let (peer, (mut connection, _)) = tokio::join!(TcpStream::connect(to), accepting);
        let error = connection.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(peer);
    }
}
