//! Links, addresses and routes of the calling thread's namespace, set by rtnetlink(7).
//!
//! The `ip` command does not work here: for an ordinary user in a user namespace the privilege does
//! not survive `execve`.

use std::net::IpAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send,
    socket,
};

/// Packets that may wait in a device for the router to read them; the kernel's 500 is little for a
/// burst.
const QUEUE_LENGTH: u32 = 5_000;

/// A request socket.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the namespace of the calling thread.
    pub(super) fn open() -> Result<Self, Errno> {
        let family = AddressFamily::Netlink;
        let protocol = SockProtocol::NetlinkRoute;
        let socket = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Sets a link up.
    pub(super) fn link_up(&mut self, link: &str) -> Result<(), Errno> {
        let up = libc::IFF_UP as u32;
        // struct ifinfomsg: family, padding, type, index, flags, mask of flags that change.
        let mut body = Body::new(&[0; 4]);
        body.put(&index(link)?.to_ne_bytes()).put(&up.to_ne_bytes()).put(&up.to_ne_bytes());
        body.attribute(libc::IFLA_TXQLEN, &QUEUE_LENGTH.to_ne_bytes());
        self.request(libc::RTM_NEWLINK, 0, &body)
    }

    /// Gives a link an address, alone in its network.
    pub(super) fn add_address(&mut self, link: &str, address: IpAddr) -> Result<(), Errno> {
        // struct ifaddrmsg: family, prefix length, flags, scope, index. IPv6 need not look for
        // duplicates.
        let flags = libc::IFA_F_NODAD as u8;
        let mut body = Body::new(&[family(address), bits(address), flags, libc::RT_SCOPE_UNIVERSE]);
        body.put(&index(link)?.to_ne_bytes());
        body.attribute(libc::IFA_LOCAL, &octets(address))
            .attribute(libc::IFA_ADDRESS, &octets(address));
        self.request(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_REPLACE, &body)
    }

    /// Sends everything of the address's family that is not local through a link.
    pub(super) fn default_route(&mut self, link: &str, like: IpAddr) -> Result<(), Errno> {
        let mut body =
            route(like, 0, libc::RT_TABLE_MAIN, libc::RT_SCOPE_UNIVERSE, libc::RTN_UNICAST);
        body.attribute(libc::RTA_OIF, &index(link)?.to_ne_bytes());
        self.request(libc::RTM_NEWROUTE, libc::NLM_F_CREATE, &body)
    }

    /// Makes the namespace answer for an address that no link has (AnyIP).
    pub(super) fn answer_for(&mut self, address: IpAddr) -> Result<(), Errno> {
        let prefix = bits(address);
        let mut body =
            route(address, prefix, libc::RT_TABLE_LOCAL, libc::RT_SCOPE_HOST, libc::RTN_LOCAL);
        body.attribute(libc::RTA_DST, &octets(address));
        body.attribute(libc::RTA_OIF, &index("lo")?.to_ne_bytes());
        self.request(libc::RTM_NEWROUTE, libc::NLM_F_CREATE, &body)
    }

    /// Sends one request and waits for the kernel's verdict.
    fn request(&mut self, kind: u16, flags: i32, body: &Body) -> Result<(), Errno> {
        self.sequence += 1;
        let flags = (flags | libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
        let length = 16 + body.bytes.len() as u32;
        // struct nlmsghdr: length, type, flags, sequence, port.
        let mut message = Vec::with_capacity(length as usize);
        message.extend_from_slice(&length.to_ne_bytes());
        message.extend_from_slice(&kind.to_ne_bytes());
        message.extend_from_slice(&flags.to_ne_bytes());
        message.extend_from_slice(&self.sequence.to_ne_bytes());
        message.extend_from_slice(&[0; 4]);
        message.extend_from_slice(&body.bytes);
        send(self.socket.as_raw_fd(), &message, MsgFlags::empty())?;
        self.verdict()
    }

    fn verdict(&self) -> Result<(), Errno> {
        let mut answer = [0; 4_096];
        let length = recv(self.socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        // struct nlmsgerr follows the header: zero is an acknowledgement, else a negated errno.
        let kind = answer.get(4..6).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        let code =
            answer[..length].get(16..20).and_then(|b| b.try_into().ok()).map(i32::from_ne_bytes);
        match (kind.map(i32::from), code) {
            (Some(libc::NLMSG_ERROR), Some(0)) => Ok(()),
            (Some(libc::NLMSG_ERROR), Some(code)) => Err(Errno::from_raw(-code)),
            _ => Err(Errno::EBADMSG),
        }
    }
}

/// A message after its header: a fixed structure and attributes, each aligned to four bytes.
struct Body {
    bytes: Vec<u8>,
}

impl Body {
    fn new(start: &[u8]) -> Self {
        Self { bytes: start.to_vec() }
    }

    fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        let length = 4 + value.len() as u16;
        self.put(&length.to_ne_bytes()).put(&kind.to_ne_bytes()).put(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }
}

/// `struct rtmsg`: family, destination and source bits, type of service, table, origin, scope,
/// kind, flags.
fn route(like: IpAddr, bits: u8, table: u8, scope: u8, kind: u8) -> Body {
    let mut body = Body::new(&[family(like), bits, 0, 0, table, libc::RTPROT_STATIC, scope, kind]);
    body.put(&[0; 4]);
    body
}

fn index(link: &str) -> Result<u32, Errno> {
    if_nametoindex(link)
}

fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    family as u8
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}
