//! Topology: a hierarchy, addresses in it, and the city of each; the same in all scenarios.

use std::collections::HashSet;
use std::net::Ipv4Addr;

use hierarchy::{
    BlockLevel, Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, SubnetId,
    SubnetKind,
};

use crate::{City, CityId, Target, World};

/// The blocks that registry data are loaded with: every /8, and every /16 with more than one
/// record.
const BLOCKS: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, min_records: 1 }, BlockLevel { prefix: 16, min_records: 2 }];

/// A subnet with an address that can be probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The subnet that is delegated.
    pub subnet: SubnetId,
    /// Names the holder: two sites of one company have the same number.
    pub company: u64,
    /// City of the address.
    pub city: CityId,
}

/// Hierarchy and sites over a world.
#[derive(Debug, Clone)]
pub struct Topology {
    pub world: World,
    /// All records with their blocks.
    pub hierarchy: Hierarchy,
    /// One site per record.
    pub sites: Vec<Site>,
}

impl Topology {
    /// The registry records of `targets` as a hierarchy; of several addresses of one record the
    /// first is the site. Targets of `max_dist_km` or more are left out, because their city says
    /// little about them.
    pub fn of_targets(world: World, targets: &[Target], max_dist_km: u32) -> Self {
        let mut companies = CompanyIndex::default();
        let mut builder = Builder::default();
        for target in targets {
            let registry = target.registry.parse().ok();
            let company = registry.map(|registry| companies.number(registry, &target.company));
            let country = target.country.parse().ok();
            let Some(range) = record_range(target) else { continue };
            builder.add(Record { range, kind: SubnetKind::Delegated, registry, company, country });
        }
        builder.group(&BLOCKS, &[]);
        let (hierarchy, _report) = builder.build(Generation::new(1), companies.into_companies());
        let near = targets.iter().filter(|target| target.dist_km < max_dist_km);
        let mut taken = HashSet::new();
        let sites = near
            .filter_map(|target| site(&hierarchy, target))
            .filter(|site| taken.insert(site.subnet));
        Self { sites: sites.collect(), world, hierarchy }
    }

    /// A generated hierarchy for a matrix that has none: every host is a /24 of a company of its
    /// own, sixteen hosts share a /16, 256 of those a /8, in the order of the matrix. It knows
    /// nothing of distances.
    pub fn of_matrix(world: World) -> Self {
        let mut companies = CompanyIndex::default();
        let mut builder = Builder::default();
        let ranges: Vec<Option<Range>> = world.ids().map(generated_range).collect();
        for (range, city) in ranges.iter().zip(world.cities()) {
            let company = Some(companies.number(Registry::RipeNcc, &city.name));
            let Some(range) = *range else { continue };
            let registry = Some(Registry::RipeNcc);
            builder.add(Record {
                range,
                kind: SubnetKind::Delegated,
                registry,
                company,
                country: None,
            });
        }
        builder.group(&BLOCKS, &[]);
        let (hierarchy, _report) = builder.build(Generation::new(1), companies.into_companies());
        let placed = world
            .ids()
            .zip(ranges)
            .filter_map(|(city, range)| Some((city, hierarchy.find(&range?)?)));
        let sites = placed.map(|(city, subnet)| Site { subnet, company: city.get() as u64, city });
        Self { sites: sites.collect(), world, hierarchy }
    }

    /// The city of a site.
    pub fn city(&self, site: Site) -> &City {
        &self.world.cities()[site.city.get()]
    }
}

fn v4_range(first: u32, last: u32) -> Option<Range> {
    Range::new(Ipv4Addr::from_bits(first).into(), Ipv4Addr::from_bits(last).into()).ok()
}

fn record_range(target: &Target) -> Option<Range> {
    let first = target.record_start.to_bits();
    v4_range(first, first.checked_add(target.record_count.checked_sub(1)?)?)
}

/// Host *n* of a matrix lives at 1 + *n* / 4096 . *n* / 16 . *n* mod 16 . 0/24.
fn generated_range(host: CityId) -> Option<Range> {
    let host = u32::try_from(host.get()).ok().filter(|host| *host < 200 * 4096)?;
    let first = (1 + host / 4096) << 24 | (host / 16 % 256) << 16 | (host % 16) << 8;
    v4_range(first, first | 0xFF)
}

fn site(hierarchy: &Hierarchy, target: &Target) -> Option<Site> {
    let subnet = hierarchy.subnet(hierarchy.smallest(target.address.into()));
    let company = u64::from(subnet.company()?.get());
    Some(Site { subnet: subnet.id(), company, city: target.city })
}
