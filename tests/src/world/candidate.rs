//! Addresses of the registry data whose city is known.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use hierarchy::{CompanyId, Country, Hierarchy, Range, Subnet, SubnetKind};
use lab::{CityId, Noise};

use super::Geography;

/// One such address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) address: Ipv4Addr,
    pub(super) range: Range,
    pub(super) company: CompanyId,
    pub(super) country: Country,
    pub(super) city: CityId,
}

/// All candidates, by rising address.
pub(super) fn candidates(
    hierarchy: &Hierarchy,
    geography: &Geography,
    seed: u64,
) -> Vec<Candidate> {
    let mut found = if geography.is_measured() {
        measured(hierarchy, geography)
    } else {
        placed(hierarchy, geography, seed)
    };
    found.sort_by_key(|candidate| candidate.address);
    found.dedup_by_key(|candidate| candidate.address);
    found
}

/// The geography's addresses, as far as somebody holds them in the registry data.
fn measured(hierarchy: &Hierarchy, geography: &Geography) -> Vec<Candidate> {
    let targets = geography.targets().iter();
    targets
        .filter_map(|target| {
            let subnet = hierarchy.subnet(hierarchy.smallest(target.address.into()));
            candidate(&subnet, target.address, target.city)
        })
        .collect()
}

/// One address of every subnet, in a city of its country: the same one for most subnets of a
/// company.
fn placed(hierarchy: &Hierarchy, geography: &Geography, seed: u64) -> Vec<Candidate> {
    let noise = Noise::new(seed);
    let mut cities: HashMap<Country, Vec<CityId>> = HashMap::new();
    let mut found = Vec::new();
    for subnet in hierarchy.iter() {
        let (Some(company), Some(country)) = (subnet.company(), subnet.country()) else { continue };
        let IpAddr::V4(first) = subnet.range().first() else { continue };
        let cities = cities.entry(country).or_insert_with(|| geography.cities_of(country.as_str()));
        let strays = noise.uniform(&[u64::from(subnet.id().get()), 1]) < STRAY_SHARE;
        let key =
            if strays { [u64::from(subnet.id().get()), 2] } else { [u64::from(company.get()), 3] };
        let Some(city) = pick(cities, noise.hash(&key)) else { continue };
        let run_directory = subnet.range().addresses().clamp(2, 1 << 32) as u64 - 1;
        let offset = noise.hash(&[u64::from(subnet.id().get()), 4]) % run_directory;
        let address = Ipv4Addr::from(u32::from(first).saturating_add(offset as u32));
        found.extend(candidate(&subnet, ending_like_a_host(address), city));
    }
    found
}

/// Share of subnets that are not in their company's city.
const STRAY_SHARE: f64 = 0.1;

fn pick(cities: &[CityId], hash: u64) -> Option<CityId> {
    let place = hash.checked_rem(cities.len() as u64)?;
    cities.get(place as usize).copied()
}

/// An address of the same /24 that is not its first or last.
pub(super) fn ending_like_a_host(address: Ipv4Addr) -> Ipv4Addr {
    let [a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d.clamp(1, 254))
}

fn candidate(subnet: &Subnet<'_>, address: Ipv4Addr, city: CityId) -> Option<Candidate> {
    let held = subnet.kind() == SubnetKind::Delegated && subnet.range().contains(address.into());
    let company = subnet.company()?;
    let country = subnet.country()?;
    held.then_some(Candidate { address, range: subnet.range(), company, country, city })
}
