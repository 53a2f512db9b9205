//! The same ranges in the tries of other crates. A trie takes only prefixes: a range that is none
//! is split into several, all of which name its subnet. Where prefixes of two ranges are equal, the
//! inner one remains, because it is inserted later.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::{Hierarchy, SubnetId};
use ip_network::IpNetwork;
use ip_network_table::IpNetworkTable;
use ipnet::{IpNet, Ipv4Net, Ipv4Subnets, Ipv6Net, Ipv6Subnets};
use iptrie::map::{LCTrieMap, RTrieMap};
use iptrie::{Ipv4Prefix, Ipv6Prefix};
use prefix_trie::PrefixMap;

/// Prefixes of all subnets, those of the outer before those of the inner.
fn prefixes(hierarchy: &Hierarchy) -> impl Iterator<Item = (IpNet, SubnetId)> {
    hierarchy.iter().flat_map(|subnet| {
        let pieces: Vec<IpNet> = match (subnet.range().first(), subnet.range().last()) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                Ipv4Subnets::new(first, last, 0).map(IpNet::V4).collect()
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                Ipv6Subnets::new(first, last, 0).map(IpNet::V6).collect()
            }
            _ => vec![],
        };
        pieces.into_iter().map(move |net| (net, subnet.id()))
    })
}

/// A trie of another crate.
pub(crate) trait Trie {
    const NAME: &'static str;

    fn of(hierarchy: &Hierarchy) -> Self;
    fn look_up(&self, address: &IpAddr) -> Option<SubnetId>;
}

/// The name of a table and its function that finds the smallest subnet.
pub(crate) type Lookup<'c> = (&'static str, Box<dyn Fn(&IpAddr) -> Option<SubnetId> + 'c>);

/// Builds a trie from the hierarchy.
pub(crate) fn trie<'c, T: Trie + 'c>(hierarchy: &Hierarchy) -> Lookup<'c> {
    let trie = T::of(hierarchy);
    (T::NAME, Box::new(move |address| trie.look_up(address)))
}

/// `prefix-trie`: a map for each family.
pub(crate) struct PrefixTrie(PrefixMap<Ipv4Net, SubnetId>, PrefixMap<Ipv6Net, SubnetId>);

impl Trie for PrefixTrie {
    const NAME: &'static str = "prefix-trie";

    fn of(hierarchy: &Hierarchy) -> Self {
        let mut tries = Self(PrefixMap::new(), PrefixMap::new());
        for (net, id) in prefixes(hierarchy) {
            match net {
                IpNet::V4(net) => tries.0.insert(net, id),
                IpNet::V6(net) => tries.1.insert(net, id),
            };
        }
        tries
    }

    fn look_up(&self, address: &IpAddr) -> Option<SubnetId> {
        match *address {
            IpAddr::V4(address) => self.0.get_lpm(&Ipv4Net::from(address)).map(|(_, id)| *id),
            IpAddr::V6(address) => self.1.get_lpm(&Ipv6Net::from(address)).map(|(_, id)| *id),
        }
    }
}

/// `ip_network_table`: one table, a tree bitmap.
pub(crate) struct NetworkTable(IpNetworkTable<SubnetId>);

impl Trie for NetworkTable {
    const NAME: &'static str = "ip_network_table";

    fn of(hierarchy: &Hierarchy) -> Self {
        let mut table = IpNetworkTable::new();
        for (net, id) in prefixes(hierarchy) {
            let network = IpNetwork::new(net.network(), net.prefix_len()).unwrap();
            table.insert(network, id);
        }
        Self(table)
    }

    fn look_up(&self, address: &IpAddr) -> Option<SubnetId> {
        match *address {
            IpAddr::V4(address) => self.0.longest_match_ipv4(address).map(|(_, id)| *id),
            IpAddr::V6(address) => self.0.longest_match_ipv6(address).map(|(_, id)| *id),
        }
    }
}

/// `iptrie` in its compressed form, which is its faster one.
pub(crate) struct LcTrie(LCTrieMap<Ipv4Prefix, SubnetId>, LCTrieMap<Ipv6Prefix, SubnetId>);

impl Trie for LcTrie {
    const NAME: &'static str = "iptrie";

    fn of(hierarchy: &Hierarchy) -> Self {
        let v4_root = hierarchy.smallest(Ipv4Addr::UNSPECIFIED.into());
        let v6_root = hierarchy.smallest(Ipv6Addr::UNSPECIFIED.into());
        let mut v4 = RTrieMap::with_root(v4_root);
        let mut v6 = RTrieMap::with_root(v6_root);
        for (net, id) in prefixes(hierarchy) {
            match net {
                IpNet::V4(net) => v4.insert(Ipv4Prefix::from(net), id),
                IpNet::V6(net) => v6.insert(Ipv6Prefix::from(net), id),
            };
        }
        Self(v4.compress(), v6.compress())
    }

    fn look_up(&self, address: &IpAddr) -> Option<SubnetId> {
        Some(match *address {
            IpAddr::V4(address) => *self.0.lookup(&address).1,
            IpAddr::V6(address) => *self.1.lookup(&address).1,
        })
    }
}
