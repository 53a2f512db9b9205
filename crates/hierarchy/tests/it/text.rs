//! Text forms of ranges, registries and countries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::{Country, Range, RangeError, Registry};
use proptest::prelude::*;

fn range(text: &str) -> Range {
    text.parse().unwrap()
}

#[test]
fn a_range_is_shown_as_a_prefix_only_when_it_is_one() {
    for (given, shown) in [
        ("192.0.2.0 - 192.0.2.255", "192.0.2.0/24"),
        ("192.0.2.0-192.0.2.254", "192.0.2.0 - 192.0.2.254"),
        ("192.0.2.128 - 192.0.3.127", "192.0.2.128 - 192.0.3.127"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("::/0", "::/0"),
        ("198.51.100.7", "198.51.100.7/32"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("2001:db8:: - 2001:db8:0:ffff:ffff:ffff:ffff:ffff", "2001:db8::/48"),
        ("2001:db8:: - 2001:db8::2", "2001:db8:: - 2001:db8::2"),
    ] {
        assert_eq!(range(given).to_string(), shown);
    }
}

#[test]
fn text_that_is_no_range_has_a_specific_error() {
    for (given, why) in [
        ("192.0.2.9 - 192.0.2.1", "192.0.2.9 comes after 192.0.2.1"),
        ("192.0.2.9 - ::1", "192.0.2.9 and ::1 are not of the same address family"),
        ("192.0.2.9/24", "192.0.2.9/24 has host bits set; the network is 192.0.2.0/24"),
        (
            "192.0.2.0/33",
            "`192.0.2.0/33` is neither an address, a prefix (a/n) nor a range (a - b)",
        ),
        ("", "`` is neither an address, a prefix (a/n) nor a range (a - b)"),
    ] {
        assert_eq!(given.parse::<Range>().unwrap_err().to_string(), why);
    }
}

#[test]
fn a_mapped_address_counts_as_the_ipv4_address_in_it() {
    let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
    assert!(range("192.0.2.0/24").contains(mapped));
    assert!(!range("::/0").contains(mapped));
}

#[test]
fn the_number_of_addresses_is_exact_except_for_all_of_ipv6() {
    assert_eq!(Range::V4.addresses(), 1 << 32);
    assert_eq!(range("192.0.2.0 - 192.0.2.2").addresses(), 3);
    assert_eq!(range("2001:db8::/32").addresses(), 1 << 96);
    assert_eq!(Range::V6.addresses(), u128::MAX);
}

#[test]
fn registries_and_countries_have_one_spelling() {
    for registry in Registry::ALL {
        assert_eq!(registry.as_str().to_uppercase().parse(), Ok(registry));
    }
    assert!("iana".parse::<Registry>().is_err());
    assert_eq!("cy".parse::<Country>().unwrap().as_str(), "CY");
    for wrong in ["", "C", "CYP", "C1", "é"] {
        assert!(wrong.parse::<Country>().is_err(), "{wrong}");
    }
}

fn ends() -> impl Strategy<Value = (IpAddr, IpAddr)> {
    let v4 =
        any::<(u32, u32)>().prop_map(|(a, b)| (Ipv4Addr::from(a).into(), Ipv4Addr::from(b).into()));
    let v6 = any::<(u128, u128)>()
        .prop_map(|(a, b)| (Ipv6Addr::from(a).into(), Ipv6Addr::from(b).into()));
    prop_oneof![v4, v6]
}

proptest! {
    #[test]
    fn text_parses_to_the_same_range((a, b) in ends()) {
        let range = Range::new(a.min(b), a.max(b)).unwrap();
        prop_assert_eq!(range.to_string().parse(), Ok(range));
        prop_assert_eq!(a > b, matches!(Range::new(a, b), Err(RangeError::Backwards { .. })));
    }

    #[test]
    fn a_prefix_is_its_range((a, _) in ends(), length in 0..=128_u8) {
        let length = if a.is_ipv4() { length.min(32) } else { length };
        let net = ipnet::IpNet::new(a, length).unwrap().trunc();
        let range = Range::try_from(net).unwrap();
        prop_assert_eq!(range.cidr(), Some(net));
        let holds_its_ends = range.contains(net.network()) && range.contains(net.broadcast());
        // A mapped address counts as IPv4, and an IPv6 range holds none.
        prop_assert!(holds_its_ends || a.to_canonical() != a);
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in ".{0,40}") {
        let _ = text.parse::<Range>();
        let _ = text.parse::<Country>();
        let _ = text.parse::<Registry>();
    }
}
