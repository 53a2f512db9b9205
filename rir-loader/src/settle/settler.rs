//! Takes in what the sources say and settles it.

use hierarchy::{BuildReport, Builder, Generation, Hierarchy, Range, Record, SubnetKind};

use super::claim::{Bits, Claim, Ends, Word, ends};
use super::companies::{CompanyBook, CompanyNo, Renumbered};
use super::family::{FamilyClaims, mark, settle_family};
use super::holder::{Basis, holder};
use super::leaves::{CutLeaves, cut_leaves};
use super::placeholder::placeholder;
use super::report::{SettleReport, Umbrella};
use super::umbrella::{is_umbrella, weight};
use super::{V4_BLOCKS, V6_BLOCKS};
use crate::delegated::Row;
use crate::routing::Route;
use crate::whois::{Net, Object, Organisation};

/// What the settling of one run may be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// Leaves of IPv4 to cut.
    pub v4: Option<CutLeaves>,
    /// Leaves of IPv6 to cut.
    pub v6: Option<CutLeaves>,
    /// Whether to remember which file each range is from.
    pub origins: bool,
}

/// Collects what somebody says, then settles it.
#[derive(Debug, Default)]
pub struct Settler {
    v4: FamilyClaims<u32>,
    v6: FamilyClaims<u128>,
    companies: CompanyBook,
    /// AS numbers and who holds them.
    asns: Vec<(u32, u32, CompanyNo)>,
    routes: Vec<(Range, u32, u16)>,
    names: Vec<(u32, Box<str>)>,
    report: SettleReport,
}

/// What was settled.
#[derive(Debug)]
pub struct Settled {
    /// Everything nested.
    pub hierarchy: Hierarchy,
    /// What the builder had to settle.
    pub build: BuildReport,
    /// What each rule did.
    pub report: SettleReport,
    /// Where each range is from; empty unless asked for.
    pub origins: Origins,
}

/// Which file each range is from.
#[derive(Debug, Default)]
pub struct Origins(Vec<(Range, u16)>);

impl Origins {
    /// The number of the file that the range, or what it was cut out of, is from.
    pub fn of(&self, range: &Range) -> Option<u16> {
        let after = self.0.partition_point(|(there, _)| there <= range);
        self.0[..after]
            .iter()
            .rev()
            .take(10_000)
            .find(|(there, _)| there.contains_range(range))
            .map(|(_, n)| *n)
    }
}

impl Settler {
    /// Takes a record of a delegated file in.
    pub fn take(&mut self, row: &Row<'_>, source: u16) {
        if let Some(range) = row.range {
            match ends(&range) {
                Ends::V4(first, last) => self.v4.space[row.registry as usize].push((first, last)),
                Ends::V6(first, last) => self.v6.space[row.registry as usize].push((first, last)),
            }
        }
        if !row.is_held() {
            return;
        }
        let company =
            row.opaque_id.map(|id| self.companies.number(row.registry, Basis::Delegated, id));
        if let (Some((first, last)), Some(company)) = (row.asns, company) {
            self.asns.push((first, last, company));
        }
        let Some(range) = row.range else { return };
        if let Some(company) = company {
            self.companies.count_delegated(company);
        }
        let basis = if company.is_some() { Basis::Delegated } else { Basis::Nobody };
        let (registry, country) = (Some(row.registry), row.country);
        self.claim(&range, Word { registry, company, basis, country, changed: 0, source });
    }

    /// Takes an object of a WHOIS dump in.
    pub fn take_object(&mut self, object: &Object<'_>, source: u16) {
        match object {
            Object::Net(net) => self.take_net(net, source),
            Object::Organisation(organisation) => self.take_organisation(organisation),
        }
    }

    fn take_net(&mut self, net: &Net<'_>, source: u16) {
        self.report.nets += 1;
        if placeholder(net).is_some() {
            self.report.placeholders += 1;
            return;
        }
        self.report.more_countries += u64::from(net.more_countries);
        let (basis, company) = match holder(net) {
            Some((basis, text)) => (basis, Some(self.companies.number(net.registry, basis, text))),
            None => (Basis::Nobody, None),
        };
        let country = net.country.filter(|country| country.as_str() != "ZZ");
        let (registry, changed) = (Some(net.registry), net.changed);
        self.claim(&net.range, Word { registry, company, basis, country, changed, source });
    }

    fn take_organisation(&mut self, organisation: &Organisation<'_>) {
        let number =
            self.companies.number(organisation.registry, Basis::Organisation, organisation.handle);
        if let Some(name) = organisation.name {
            self.companies.name(number, name);
        }
        if let Some(country) = organisation.country.filter(|country| country.as_str() != "ZZ") {
            self.companies.place(number, country);
        }
    }

    /// Takes a route in. Who holds its AS number is known when everything is read.
    pub fn take_route(&mut self, route: &Route, source: u16) {
        self.routes.push((route.range, route.asn, source));
        if let Some(name) = &route.name {
            self.names.push((route.asn, name.as_str().into()));
        }
    }

    /// How many ranges were taken in.
    pub fn ranges(&self) -> u64 {
        (self.v4.claims.len() + self.v6.claims.len() + self.routes.len()) as u64
    }

    fn claim(&mut self, range: &Range, word: Word) {
        match ends(range) {
            Ends::V4(first, last) => self.v4.claims.push(word.of(first, last)),
            Ends::V6(first, last) => self.v6.claims.push(word.of(first, last)),
        }
    }

    /// Settles and nests what was taken in.
    pub fn nest(mut self, generation: Generation, policy: Policy) -> Settled {
        self.resolve_routes();
        self.find_umbrellas();
        let mut report = std::mem::take(&mut self.report);
        let (v4, v6) = (std::mem::take(&mut self.v4), std::mem::take(&mut self.v6));
        // A registry whose delegated file was read, even if it lists addresses of one family only.
        let read =
            std::array::from_fn(|place| !v4.space[place].is_empty() || !v6.space[place].is_empty());
        let v4 = settle_family(v4, read, &self.companies, &mut report);
        let v6 = settle_family(v6, read, &self.companies, &mut report);
        let cut_v4 = policy.v4.map_or_else(Vec::new, |policy| cut_leaves(&v4, policy));
        let cut_v6 = policy.v6.map_or_else(Vec::new, |policy| cut_leaves(&v6, policy));
        report.virtual_subnets = (cut_v4.len() + cut_v6.len()) as u64;
        let origins = if policy.origins { origins(&v4, &v6) } else { Origins::default() };
        let used = used(&v4, &v6, self.companies.len());
        let (companies, new) = self.companies.into_used(|number| used[number.index()]);
        let mut builder = Builder::default();
        add(&mut builder, v4, SubnetKind::Delegated, &new);
        add(&mut builder, v6, SubnetKind::Delegated, &new);
        builder.group(&V4_BLOCKS, &V6_BLOCKS);
        add(&mut builder, cut_v4, SubnetKind::Block, &new);
        add(&mut builder, cut_v6, SubnetKind::Block, &new);
        let (hierarchy, build) = builder.build(generation, companies);
        Settled { hierarchy, build, report, origins }
    }

    /// A route is held by the company that holds its AS number; that company has the name of the
    /// AS.
    fn resolve_routes(&mut self) {
        self.asns.sort_unstable();
        for (asn, name) in std::mem::take(&mut self.names) {
            if let Some(company) = self.holder_of(asn) {
                self.companies.name(company, &name);
            }
        }
        for (range, asn, source) in std::mem::take(&mut self.routes) {
            let company = self.holder_of(asn);
            let basis = if company.is_some() { Basis::Route } else { Basis::Nobody };
            self.claim(
                &range,
                Word { registry: None, company, basis, country: None, changed: 0, source },
            );
        }
    }

    fn holder_of(&self, asn: u32) -> Option<CompanyNo> {
        let after = self.asns.partition_point(|(first, _, _)| *first <= asn);
        let (_, last, company) = self.asns[..after].last()?;
        (asn <= *last).then_some(*company)
    }

    /// What an umbrella holds is marked, so that another name for it counts more.
    fn find_umbrellas(&mut self) {
        let companies = &self.companies;
        let pool = |company: &CompanyNo| is_umbrella(companies.delegated(*company));
        let umbrella = |number: CompanyNo| {
            let (company, ranges) = (companies.get(number), companies.delegated(number));
            let (registry, weight) = (company.registry.as_str(), weight(ranges));
            Umbrella { registry, company: company.handle.to_owned(), ranges, weight }
        };
        self.report.umbrellas = companies.numbers().filter(pool).map(umbrella).collect();
        mark(&mut self.v4.claims, pool);
        mark(&mut self.v6.claims, pool);
    }
}

/// Which companies hold something.
fn used(v4: &[Claim<u32>], v6: &[Claim<u128>], companies: usize) -> Vec<bool> {
    let mut used = vec![false; companies];
    let held = v4.iter().map(|claim| claim.company).chain(v6.iter().map(|claim| claim.company));
    held.flatten().for_each(|company| used[company.index()] = true);
    used
}

fn origins(v4: &[Claim<u32>], v6: &[Claim<u128>]) -> Origins {
    let v4 = v4.iter().filter_map(|claim| Some((claim.range()?, claim.source)));
    let v6 = v6.iter().filter_map(|claim| Some((claim.range()?, claim.source)));
    Origins(v4.chain(v6).collect())
}

fn add<A: Bits>(builder: &mut Builder, claims: Vec<Claim<A>>, kind: SubnetKind, new: &Renumbered) {
    for claim in claims {
        let Some(range) = claim.range() else { continue };
        let company = claim.company.and_then(|company| new.get(company));
        builder.add(Record {
            range,
            kind,
            registry: claim.registry,
            company,
            country: claim.country,
        });
    }
}
