use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

/// Addresses at and around every edge of the table.
const VECTORS: &[(&str, Class)] = &[
    ("0.0.0.0", Class::Unspecified),
    ("0.255.255.255", Class::Unspecified),
    ("1.0.0.0", Class::Public),
    ("1.1.1.1", Class::Public),
    ("9.255.255.255", Class::Public),
    ("10.0.0.0", Class::Private),
    ("10.255.255.255", Class::Private),
    ("11.0.0.0", Class::Public),
    ("100.63.255.255", Class::Public),
    ("100.64.0.0", Class::CarrierNat),
    ("100.127.255.255", Class::CarrierNat),
    ("100.128.0.0", Class::Public),
    ("126.255.255.255", Class::Public),
    ("127.0.0.1", Class::Loopback),
    ("127.255.255.254", Class::Loopback),
    ("128.0.0.0", Class::Public),
    ("169.253.255.255", Class::Public),
    ("169.254.169.254", Class::LinkLocal),
    ("169.255.0.0", Class::Public),
    ("172.15.255.255", Class::Public),
    ("172.16.0.0", Class::Private),
    ("172.31.255.255", Class::Private),
    ("172.32.0.0", Class::Public),
    ("191.255.255.255", Class::Public),
    ("192.0.0.0", Class::Protocol),
    ("192.0.0.171", Class::Protocol),
    ("192.0.1.0", Class::Public),
    ("192.0.2.1", Class::Documentation),
    ("192.0.3.0", Class::Public),
    ("192.88.98.255", Class::Public),
    ("192.88.99.1", Class::Transition),
    ("192.88.100.0", Class::Public),
    ("192.167.255.255", Class::Public),
    ("192.168.0.1", Class::Private),
    ("192.169.0.0", Class::Public),
    ("198.17.255.255", Class::Public),
    ("198.18.0.0", Class::Benchmark),
    ("198.19.255.255", Class::Benchmark),
    ("198.20.0.0", Class::Public),
    ("198.51.99.255", Class::Public),
    ("198.51.100.7", Class::Documentation),
    ("198.51.101.0", Class::Public),
    ("203.0.112.255", Class::Public),
    ("203.0.113.7", Class::Documentation),
    ("203.0.114.0", Class::Public),
    ("223.255.255.255", Class::Public),
    ("224.0.0.1", Class::Multicast),
    ("239.255.255.250", Class::Multicast),
    ("240.0.0.1", Class::Reserved),
    ("255.255.255.255", Class::Reserved),
    ("::", Class::Unspecified),
    ("::1", Class::Loopback),
    ("::2", Class::Transition),
    ("::127.0.0.1", Class::Transition),
    ("::8.8.8.8", Class::Transition),
    ("::ffff:127.0.0.1", Class::Loopback),
    ("::ffff:10.1.2.3", Class::Private),
    ("::ffff:169.254.169.254", Class::LinkLocal),
    ("::ffff:8.8.8.8", Class::Public),
    ("::ffff:0:127.0.0.1", Class::NotAllocated),
    ("64:ff9b::8.8.8.8", Class::Transition),
    ("64:ff9b::10.0.0.1", Class::Transition),
    ("64:ff9b:1::1", Class::Transition),
    ("100::1", Class::NotAllocated),
    ("1fff:ffff::1", Class::NotAllocated),
    ("2000::1", Class::Public),
    ("2001::1", Class::Protocol),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Class::Protocol),
    ("2001:10::1", Class::Protocol),
    ("2001:20::1", Class::Protocol),
    ("2001:1ff:ffff::1", Class::Protocol),
    ("2001:200::1", Class::Public),
    ("2001:db7:ffff::1", Class::Public),
    ("2001:db8::1", Class::Documentation),
    ("2001:db9::1", Class::Public),
    ("2002:7f00:1::1", Class::Transition),
    ("2002:808:808::1", Class::Transition),
    ("2003::1", Class::Public),
    ("2a00:1450:4001::200e", Class::Public),
    ("3ffe::1", Class::Public),
    ("3fff::1", Class::Documentation),
    ("3fff:fff:ffff::1", Class::Documentation),
    ("3fff:1000::1", Class::Public),
    ("4000::1", Class::NotAllocated),
    ("5f00::1", Class::NotAllocated),
    ("fbff::1", Class::NotAllocated),
    ("fc00::1", Class::Private),
    ("fd12:3456::1", Class::Private),
    ("fe00::1", Class::NotAllocated),
    ("fe80::1", Class::LinkLocal),
    ("febf:ffff::1", Class::LinkLocal),
    ("fec0::1", Class::Private),
    ("ff02::1", Class::Multicast),
];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn nets(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().map(|t| t.parse().unwrap()).collect()
}

fn guard(allow: &[&str], deny: &[&str], on_link: &[&str]) -> Guard {
    let rules = GuardRules::new(&nets(allow), &nets(deny), vec![], vec![80, 443]);
    Guard::new(Arc::new(rules), nets(on_link).into_iter().collect())
}

#[test]
fn every_edge_of_the_table() {
    for (text, class) in VECTORS {
        assert_eq!(classify(address(text)), *class, "{text}");
        assert_eq!(
            Guard::default().check_address(address(text)).is_ok(),
            *class == Class::Public,
            "{text}"
        );
    }
}

#[test]
fn every_spelling_of_a_literal_host_ends_at_the_same_address() {
    for spelling in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0177.0.0.1",
        "2130706433",
        "017700000001",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "0",
        "0.0.0.0",
        "[::]",
        "[::ffff:0:0]",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "[64:ff9b::a9fe:a9fe]",
        "[fe80::1]",
    ] {
        let url = model::CrawlUrl::parse(&format!("http://{spelling}/")).unwrap();
        let literal = match url.host().unwrap() {
            Host::Ipv4(a) => IpAddr::V4(a),
            Host::Ipv6(a) => IpAddr::V6(a),
            Host::Domain(name) => panic!("{spelling} was taken for the name {name}"),
        };
        assert!(Guard::default().check_address(literal).is_err(), "{spelling}");
    }
}

#[test]
fn the_longest_of_the_owners_prefixes_decides() {
    let guard = guard(&["10.1.0.0/16", "10.1.2.3/32"], &["10.1.2.0/24", "8.8.0.0/16"], &[]);
    assert_eq!(guard.check_address(address("10.1.9.9")), Ok(()));
    assert_eq!(guard.check_address(address("10.1.2.3")), Ok(()));
    assert!(matches!(guard.check_address(address("10.1.2.4")), Err(Refusal::Denied { .. })));
    assert!(matches!(guard.check_address(address("10.2.0.0")), Err(Refusal::NotPublic { .. })));
    assert!(matches!(guard.check_address(address("8.8.8.8")), Err(Refusal::Denied { .. })));
    assert_eq!(guard.check_address(address("8.9.8.8")), Ok(()));
}

#[test]
fn deny_wins_between_equals() {
    let guard = guard(&["10.1.0.0/16"], &["10.1.0.0/16"], &[]);
    assert!(matches!(guard.check_address(address("10.1.0.1")), Err(Refusal::Denied { .. })));
}

#[test]
fn own_networks_are_closed_unless_the_owner_opens_them() {
    let closed = guard(&[], &[], &["93.184.216.0/24", "2a00:1::/64"]);
    assert!(matches!(closed.check_address(address("93.184.216.34")), Err(Refusal::OnLink { .. })));
    assert!(matches!(
        closed.check_address(address("::ffff:93.184.216.34")),
        Err(Refusal::OnLink { .. })
    ));
    assert!(matches!(closed.check_address(address("2a00:1::5")), Err(Refusal::OnLink { .. })));
    assert_eq!(closed.check_address(address("93.184.217.34")), Ok(()));
    let opened = guard(&["93.184.216.32/29"], &[], &["93.184.216.0/24"]);
    assert_eq!(opened.check_address(address("93.184.216.34")), Ok(()));
    assert!(opened.check_address(address("93.184.216.1")).is_err());
}

#[test]
fn mapped_addresses_are_judged_as_ipv4() {
    let guard = guard(&["127.0.0.0/8"], &[], &[]);
    assert_eq!(guard.check_address(address("::ffff:127.0.0.1")), Ok(()));
    assert!(guard.check_address(address("::127.0.0.1")).is_err());
}

#[test]
fn ports_are_the_owners() {
    assert_eq!(Guard::default().check_port(80), Ok(()));
    assert_eq!(Guard::default().check_port(443), Ok(()));
    for port in [0, 22, 25, 8080, 65_535] {
        assert_eq!(Guard::default().check_port(port), Err(Refusal::Port(port)));
    }
}

#[test]
fn denied_names_take_everything_below_them_along() {
    let rules = GuardRules {
        deny_hosts: vec!["example.org".into(), "internal".into()],
        ..GuardRules::default()
    };
    let guard = Guard::new(Arc::new(rules), AddressSet::default());
    for denied in ["example.org", "www.example.org", "EXAMPLE.org.", "printer.internal"] {
        assert!(guard.check_host(&Host::Domain(denied)).is_err(), "{denied}");
    }
    for allowed in ["badexample.org", "example.org.uk", "org"] {
        assert_eq!(guard.check_host(&Host::Domain(allowed)), Ok(()), "{allowed}");
    }
    assert_eq!(guard.check_host(&Host::Ipv4(Ipv4Addr::LOCALHOST)), Ok(()));
}

/// Longest match over the owner's lists, one prefix after the other; none when no prefix matches.
fn naive(allow: &[IpNet], deny: &[IpNet], address: IpAddr) -> Option<bool> {
    let longest = |prefixes: &[IpNet]| {
        prefixes.iter().filter(|prefix| prefix.contains(&address)).map(IpNet::prefix_len).max()
    };
    match (longest(allow), longest(deny)) {
        (None, None) => None,
        (allow, deny) => Some(allow > deny),
    }
}

/// Prefixes whose bits lie in one byte, so that they often nest and coincide.
fn prefix() -> impl Strategy<Value = IpNet> {
    let v4 = (any::<u8>(), 0u8..=8)
        .prop_map(|(bits, length)| IpNet::new(Ipv4Addr::new(bits, 0, 0, 0).into(), length));
    let v6 = (any::<u8>(), 0u8..=8).prop_map(|(bits, length)| {
        IpNet::new(std::net::Ipv6Addr::from(u128::from(bits) << 120).into(), length)
    });
    prop_oneof![v4, v6].prop_map(|net| net.unwrap().trunc())
}

proptest! {
    #[test]
    fn the_owners_lists_agree_with_a_naive_longest_match(
        allow in prop::collection::vec(prefix(), 0..6),
        deny in prop::collection::vec(prefix(), 0..6),
        bits in any::<u8>(),
    ) {
        let rules = GuardRules::new(&allow, &deny, vec![], vec![80]);
        let v4 = IpAddr::V4(Ipv4Addr::new(bits, 0, 0, 1));
        let v6 = IpAddr::V6(std::net::Ipv6Addr::from((u128::from(bits) << 120) | 1));
        for address in [v4, v6] {
            let expected = naive(&allow, &deny, address);
            prop_assert_eq!(rules.allowed.contains(address), expected == Some(true));
            prop_assert_eq!(rules.denied.contains(address), expected == Some(false));
        }
    }

    /// What the standard library classifies as local is never public here.
    #[test]
    fn nothing_that_the_standard_library_calls_local_is_public(bits in any::<u32>()) {
        let a = Ipv4Addr::from(bits);
        let local = a.is_private()
            || a.is_loopback()
            || a.is_link_local()
            || a.is_multicast()
            || a.is_broadcast()
            || a.is_documentation()
            || a.is_unspecified();
        prop_assert!(!(local && classify(IpAddr::V4(a)) == Class::Public));
        prop_assert_eq!(classify(IpAddr::V6(a.to_ipv6_mapped())), classify(IpAddr::V4(a)));
    }

    /// Without an allow list the owner's other lists only ever take away.
    #[test]
    fn more_rules_never_open_an_address(
        bits in any::<u32>(),
        net in any::<u32>(),
        length in 0u8..=32,
    ) {
        let a = IpAddr::V4(Ipv4Addr::from(bits));
        let net = IpNet::new(IpAddr::V4(Ipv4Addr::from(net)), length).unwrap();
        let rules = GuardRules::new(&[], &[net], vec![], vec![80]);
        let denying = Guard::new(Arc::new(rules), [net].into_iter().collect());
        let open_before = Guard::default().check_address(a).is_ok();
        prop_assert!(open_before || denying.check_address(a).is_err());
    }
}
