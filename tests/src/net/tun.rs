//! A TUN device: packets that the namespace sends are read here, and packets written here arrive
//! there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use nix::libc;

use super::NetError;

/// Name of every namespace's way out.
pub(super) const NAME: &str = "wan0";

/// The user-space end of a TUN device. Any thread may use it, in whatever namespace; it never
/// blocks.
#[derive(Debug)]
pub(super) struct Tun {
    device: File,
}

/// `struct ifreq` of netdevice(7), as TUNSETIFF reads it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

nix::ioctl_write_ptr_bad!(
    /// Attaches an open `/dev/net/tun` to an interface.
    tun_set_interface,
    nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()),
    InterfaceRequest
);

impl Tun {
    /// Makes the device in the namespace of the calling thread. It disappears with the returned
    /// value.
    pub(super) fn create(name: &str) -> Result<Self, NetError> {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(NetError::NoTun)?;
        let mut request = InterfaceRequest {
            name: [0; libc::IFNAMSIZ],
            flags: (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short,
            rest: [0; 22],
        };
        // The last byte stays zero; a name that is too long is cut.
        let place = request.name[..libc::IFNAMSIZ - 1].iter_mut();
        place.zip(name.bytes()).for_each(|(place, byte)| *place = byte);
        #[expect(
            unsafe_code,
            reason = "the ioctl reads a struct of the size and layout that it expects"
        )]
        let attached = unsafe { tun_set_interface(device.as_raw_fd(), &raw const request) };
        attached.map_err(|e| NetError::NoTun(e.into()))?;
        Ok(Self { device })
    }

    /// The next packet, or none when there is none now.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.device).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Delivers a packet.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.device).write(packet).map(drop)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
