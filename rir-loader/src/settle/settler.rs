//! Collects the claims of all sources, settles them and builds the hierarchy.

use std::net::IpAddr;

use hierarchy::special_purpose::{Class, classify_range};
use hierarchy::{
    Address, BuildReport, Builder, CompanyId, Generation, Hierarchy, Range, Record, Registry,
    SubnetKind,
};

use super::claim::{Claim, Statement};
use super::companies::{CompanyNumber, CompanyTable};
use super::family::{FamilyClaims, mark_umbrellas, settle_family};
use super::holder::{CompanyKey, holder};
use super::placeholder::is_placeholder;
use super::report::{SettleReport, Umbrella};
use super::split_leaves::{SplitPolicy, split_leaves};
use super::{MAX_RANGES, V4_BLOCKS, V6_BLOCKS};
use crate::delegated::{self, Extent};
use crate::routing::Route;
use crate::whois::{Net, Object, Organisation};

/// Collects what the sources say. `source` is always the number of the file.
#[derive(Debug, Default)]
pub(crate) struct Settler {
    v4: FamilyClaims<u32>,
    v6: FamilyClaims<u128>,
    companies: CompanyTable,
    /// First and last AS number of a holder.
    asns: Vec<(u32, u32, CompanyNumber)>,
    routes: Vec<(Range, u32, u16)>,
    /// Names of autonomous systems.
    as_names: Vec<(u32, Box<str>)>,
    report: SettleReport,
    /// Whether records of special-purpose space are kept.
    keeps_special_purpose: bool,
}

/// The hierarchy and how it came about.
#[derive(Debug)]
pub(crate) struct SettleOutcome {
    /// All ranges with their blocks.
    pub(crate) hierarchy: Hierarchy,
    /// Equal and crossing ranges found by the builder.
    pub(crate) build: BuildReport,
    /// Counts of each rule.
    pub(crate) report: SettleReport,
    /// File of each range; empty unless requested.
    pub(crate) origins: Origins,
}

/// File of each range, sorted by range.
#[derive(Debug, Default)]
pub(crate) struct Origins(Vec<(Range, u16)>);

impl Origins {
    /// Most ranges that are looked at for one that contains another.
    const MAX_STEPS: usize = 10_000;

    /// Number of the file of a range, or of the range it is part of.
    pub(crate) fn of(&self, range: &Range) -> Option<u16> {
        let after = self.0.partition_point(|(other, _)| other <= range);
        let before = self.0[..after].iter().rev().take(Self::MAX_STEPS);
        let mut containing = before.filter(|(other, _)| other.contains_range(range));
        containing.next().map(|(_, number)| *number)
    }
}

impl Settler {
    /// Collects records; those of special-purpose space only where they are to be kept.
    pub(crate) fn new(keeps_special_purpose: bool) -> Self {
        Self { keeps_special_purpose, ..Self::default() }
    }

    /// Adds a record of a delegated file.
    pub(crate) fn add_record(&mut self, record: &delegated::Record<'_>, source: u16) {
        let registry = record.registry;
        let is_held = record.is_held();
        let id = record.opaque_id.filter(|_| is_held);
        let company = id.map(|id| self.companies.number(registry, CompanyKey::Delegated, id));
        match record.extent {
            Extent::Asns(first, last) => {
                self.asns.extend(company.map(|company| (first, last, company)));
            }
            Extent::Addresses(range) => {
                if let Some(company) = company {
                    self.companies.count_delegated(company);
                }
                let basis =
                    if company.is_some() { CompanyKey::Delegated } else { CompanyKey::Nobody };
                let claim = is_held.then_some(Statement {
                    registry: Some(registry),
                    company,
                    basis,
                    country: record.country,
                    changed: 0,
                    source,
                });
                // Free and reserved ranges are maintained by the registry, too.
                self.add_range(&range, claim, Some(registry));
            }
        }
    }

    /// Adds an object of a WHOIS dump.
    pub(crate) fn add_object(&mut self, object: &Object<'_>, source: u16) {
        match object {
            Object::Net(net) => self.add_net(net, source),
            Object::Organisation(organisation) => self.add_organisation(organisation),
        }
    }

    fn add_net(&mut self, net: &Net<'_>, source: u16) {
        self.report.nets += 1;
        if is_placeholder(net) {
            self.report.placeholders += 1;
            return;
        }
        self.report.more_countries += u64::from(net.more_countries);
        let holder = holder(net);
        let statement = Statement {
            registry: Some(net.registry),
            company: holder.map(|(basis, text)| self.companies.number(net.registry, basis, text)),
            basis: holder.map_or(CompanyKey::Nobody, |(basis, _)| basis),
            country: net.country.filter(|country| country.as_str() != "ZZ"),
            changed: net.changed,
            source,
        };
        self.add_range(&net.range, Some(statement), None);
    }

    fn add_organisation(&mut self, organisation: &Organisation<'_>) {
        let Organisation { registry, handle, name, country } = *organisation;
        let number = self.companies.number(registry, CompanyKey::Organisation, handle);
        if let Some(name) = name {
            self.companies.set_name(number, name);
        }
        if let Some(country) = country.filter(|country| country.as_str() != "ZZ") {
            self.companies.set_country(number, country);
        }
    }

    /// Adds a route. The holder of its AS number may come in a later file.
    pub(crate) fn add_route(&mut self, route: &Route, source: u16) {
        self.routes.push((route.range, route.asn, source));
        if let Some(name) = &route.name {
            self.as_names.push((route.asn, name.as_str().into()));
        }
    }

    /// Ranges added so far.
    pub(crate) fn ranges(&self) -> u64 {
        (self.v4.claims.len() + self.v6.claims.len() + self.routes.len()) as u64
    }

    /// Adds a range to the claims, and to the space of a registry.
    fn add_range(&mut self, range: &Range, claim: Option<Statement>, space: Option<Registry>) {
        // The holder does not matter, because no address in there is on the public internet.
        if !self.keeps_special_purpose && classify_range(range) != Class::Public {
            self.report.special_purpose += 1;
            return;
        }
        match (range.first(), range.last()) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                self.v4.add(first.to_bits(), last.to_bits(), claim, space);
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                self.v6.add(first.to_bits(), last.to_bits(), claim, space);
            }
            // A range is of one family.
            _ => {}
        }
    }

    /// Settles all claims and builds the hierarchy. `origins`: whether to remember the file of each
    /// range.
    pub(crate) fn build(
        mut self,
        generation: Generation,
        policy: SplitPolicy,
        origins: bool,
    ) -> SettleOutcome {
        self.resolve_routes();
        self.find_umbrellas();
        let mut report = self.report;
        // A delegated file may list addresses of one family only, and then counts for both.
        let with_file = std::array::from_fn(|registry| {
            !self.v4.space[registry].is_empty() || !self.v6.space[registry].is_empty()
        });
        let v4 = settle_family(self.v4, with_file, &self.companies, &mut report);
        let v6 = settle_family(self.v6, with_file, &self.companies, &mut report);
        let split_v4 = policy.v4.map_or_else(Vec::new, |policy| split_leaves(&v4, policy));
        let split_v6 = policy.v6.map_or_else(Vec::new, |policy| split_leaves(&v6, policy));
        report.virtual_subnets = (split_v4.len() + split_v6.len()) as u64;
        let origins = if origins { origins_of(&v4, &v6) } else { Origins::default() };
        let mut used = vec![false; self.companies.entries().len()];
        mark_used(&v4, &mut used);
        mark_used(&v6, &mut used);
        let (companies, ids) = self.companies.into_used(&used);
        let mut builder = Builder::default();
        add_records(&mut builder, v4, SubnetKind::Delegated, &ids);
        add_records(&mut builder, v6, SubnetKind::Delegated, &ids);
        // Blocks are made of recorded ranges only: virtual subnets come after them.
        builder.group(&V4_BLOCKS, &V6_BLOCKS);
        add_records(&mut builder, split_v4, SubnetKind::Virtual, &ids);
        add_records(&mut builder, split_v6, SubnetKind::Virtual, &ids);
        let (hierarchy, build) = builder.build(generation, companies);
        SettleOutcome { hierarchy, build, report, origins }
    }

    /// Gives each route to the company that holds its AS number, and that company the name of the
    /// autonomous system.
    fn resolve_routes(&mut self) {
        self.asns.sort_unstable();
        for (asn, name) in std::mem::take(&mut self.as_names) {
            if let Some(company) = self.holder_of_asn(asn) {
                self.companies.set_name(company, &name);
            }
        }
        for (range, asn, source) in std::mem::take(&mut self.routes) {
            let company = self.holder_of_asn(asn);
            let basis = if company.is_some() { CompanyKey::Route } else { CompanyKey::Nobody };
            let statement =
                Statement { registry: None, company, basis, country: None, changed: 0, source };
            self.add_range(&range, Some(statement), None);
        }
    }

    fn holder_of_asn(&self, asn: u32) -> Option<CompanyNumber> {
        let after = self.asns.partition_point(|(first, _, _)| *first <= asn);
        let (_, last, company) = self.asns[..after].last()?;
        (asn <= *last).then_some(*company)
    }

    /// Reports opaque ids with too many ranges for one company, and lowers the precedence of their
    /// claims.
    fn find_umbrellas(&mut self) {
        for company in self.companies.entries().iter().filter(|one| one.delegated > MAX_RANGES) {
            self.report.umbrellas.push(Umbrella {
                registry: company.registry.as_str(),
                company: company.handle.to_string(),
                ranges: company.delegated,
            });
        }
        let companies = &self.companies;
        let is_umbrella = |number| companies.get(number).delegated > MAX_RANGES;
        mark_umbrellas(&mut self.v4.claims, is_umbrella);
        mark_umbrellas(&mut self.v6.claims, is_umbrella);
    }
}

fn mark_used<A>(claims: &[Claim<A>], used: &mut [bool]) {
    for company in claims.iter().filter_map(|claim| claim.says.company) {
        used[company.index()] = true;
    }
}

fn origins_of(v4: &[Claim<u32>], v6: &[Claim<u128>]) -> Origins {
    let v4 = v4.iter().filter_map(|claim| Some((claim.range()?, claim.says.source)));
    let v6 = v6.iter().filter_map(|claim| Some((claim.range()?, claim.says.source)));
    Origins(v4.chain(v6).collect())
}

fn add_records<A: Address>(
    builder: &mut Builder,
    claims: Vec<Claim<A>>,
    kind: SubnetKind,
    ids: &[Option<CompanyId>],
) {
    for claim in claims {
        let Some(range) = claim.range() else { continue };
        builder.add(Record {
            range,
            kind,
            registry: claim.says.registry,
            company: claim.says.company.and_then(|company| ids[company.index()]),
            country: claim.says.country,
        });
    }
}
