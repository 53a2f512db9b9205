//! Source and destination of an IP packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ends of an IP packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PacketEnds {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
}

impl PacketEnds {
    /// Reads the addresses of an IPv4 (RFC 791) or IPv6 (RFC 8200) header; none for anything else.
    pub(super) fn of(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => Some(Self { source: v4(packet, 12)?, destination: v4(packet, 16)? }),
            6 => Some(Self { source: v6(packet, 8)?, destination: v6(packet, 24)? }),
            _ => None,
        }
    }

    /// True for the chatter of a link (multicast, broadcast, unspecified sender), which no router
    /// forwards.
    pub(super) fn stays_on_link(self) -> bool {
        let broadcast = self.destination == IpAddr::V4(Ipv4Addr::BROADCAST);
        broadcast || self.destination.is_multicast() || self.source.is_unspecified()
    }
}

fn v4(packet: &[u8], at: usize) -> Option<IpAddr> {
    let octets: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
    Some(Ipv4Addr::from(octets).into())
}

fn v6(packet: &[u8], at: usize) -> Option<IpAddr> {
    let octets: [u8; 16] = packet.get(at..at + 16)?.try_into().ok()?;
    Some(Ipv6Addr::from(octets).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_versions_and_refuses_the_rest() {
        let mut four = [0_u8; 20];
        four[0] = 0x45;
        four[12..20].copy_from_slice(&[192, 0, 2, 1, 198, 51, 100, 7]);
        let ends = PacketEnds::of(&four).unwrap();
        assert_eq!(ends.source, "192.0.2.1".parse::<IpAddr>().unwrap());
        assert_eq!(ends.destination, "198.51.100.7".parse::<IpAddr>().unwrap());

        let mut six = [0_u8; 40];
        six[0] = 0x60;
        six[8..10].copy_from_slice(&[0x20, 0x01]);
        six[24..26].copy_from_slice(&[0xff, 0x02]);
        let ends = PacketEnds::of(&six).unwrap();
        assert_eq!(ends.source, "2001::".parse::<IpAddr>().unwrap());
        assert!(ends.stays_on_link());

        assert_eq!(PacketEnds::of(&[]), None);
        assert_eq!(PacketEnds::of(&four[..19]), None);
        assert_eq!(PacketEnds::of(&[0x50; 64]), None);
    }
}
