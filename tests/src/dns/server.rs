//! Serves a zone over UDP and TCP.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener, UdpSocket as StdUdp};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Zone;
use crate::net::{Namespace, NetError};

/// How long a TCP connection may be idle.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a port is looked for that is free for UDP and TCP alike.
const ATTEMPTS: usize = 20;

/// Why the name server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum DnsError {
    #[error("cannot listen on {address} for DNS")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The namespace refused.
    #[error("cannot listen for DNS inside the virtual internet")]
    Net(#[from] NetError),
}

/// Both sockets of a name server, on the same port.
#[derive(Debug)]
pub struct Sockets {
    udp: StdUdp,
    tcp: StdListener,
    address: SocketAddr,
}

impl Sockets {
    /// Opens them in the namespace that the calling thread is in; port 0 finds one.
    pub fn open(address: SocketAddr) -> Result<Self, DnsError> {
        let mut last = Self::try_open(address);
        for _ in 1..ATTEMPTS {
            if last.is_ok() || address.port() != 0 {
                break;
            }
            last = Self::try_open(address);
        }
        last.map_err(|source| DnsError::Listen { address, source })
    }

    /// Opens them inside a namespace, on port 53.
    pub fn inside(namespace: &Namespace, address: IpAddr) -> Result<Self, DnsError> {
        namespace.run(|| Self::open(SocketAddr::new(address, 53)))?
    }

    fn try_open(address: SocketAddr) -> io::Result<Self> {
        let udp = StdUdp::bind(address)?;
        let address = udp.local_addr()?;
        let tcp = StdListener::bind(address)?;
        udp.set_nonblocking(true)?;
        tcp.set_nonblocking(true)?;
        Ok(Self { udp, tcp, address })
    }
}

/// A running name server; dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    _serving: JoinSet<()>,
}

impl Server {
    /// Answers from the zone. Call it inside a tokio runtime.
    pub fn start(zone: Zone, sockets: Sockets) -> Result<Self, DnsError> {
        let Sockets { udp, tcp, address } = sockets;
        let listen = |source| DnsError::Listen { address, source };
        let zone = Arc::new(zone);
        let udp = UdpSocket::from_std(udp).map_err(listen)?;
        let tcp = TcpListener::from_std(tcp).map_err(listen)?;
        let mut serving = JoinSet::new();
        serving.spawn(serve_udp(Arc::clone(&zone), udp));
        serving.spawn(serve_tcp(zone, tcp));
        Ok(Self { address, _serving: serving })
    }

    /// Where it can be asked.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve_udp(zone: Arc<Zone>, socket: UdpSocket) {
    let mut buffer = vec![0; 65_535];
    loop {
        // An error here is the echo of an answer that found nobody (ICMP unreachable): the next
        // question will do.
        let Ok((length, asker)) = socket.recv_from(&mut buffer).await else { continue };
        if let Some(answer) = zone.answer_udp(&buffer[..length]) {
            let _ = socket.send_to(&answer, asker).await;
        }
    }
}

async fn serve_tcp(zone: Arc<Zone>, listener: TcpListener) {
    let mut guests = JoinSet::new();
    loop {
        tokio::select! {
            guest = listener.accept() => match guest {
                Ok((guest, _)) => drop(guests.spawn(converse(Arc::clone(&zone), guest))),
                // Out of descriptors, most likely: accepting again at once would only spin.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
            Some(_) = guests.join_next() => {}
        }
    }
}

/// Questions and answers, each after its length in two bytes, until the guest leaves or is silent
/// for too long.
async fn converse(zone: Arc<Zone>, mut guest: TcpStream) -> io::Result<()> {
    while let Ok(question) = timeout(PATIENCE, read(&mut guest)).await {
        let Some(answer) = zone.answer_tcp(&question?) else { break };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        guest.write_all(&[&length.to_be_bytes(), answer.as_slice()].concat()).await?;
    }
    Ok(())
}

async fn read(guest: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = guest.read_u16().await?;
    let mut question = vec![0; usize::from(length)];
    guest.read_exact(&mut question).await?;
    Ok(question)
}
