//! What each rule did.

use std::fmt;

use serde::Serialize;

use super::holder::Basis;
use crate::report::Thousands;

/// A count for each rule of settling.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SettleReport {
    /// Ranges of WHOIS objects that came in.
    pub nets: u64,
    /// Objects dropped because they stand for no holder.
    pub placeholders: u64,
    /// Objects dropped because their registry does not maintain the space.
    pub unmaintained: u64,
    /// Objects of whose range only a part is maintained by their registry; they were cut to it.
    pub partly_maintained: u64,
    /// Ranges left out because the same registry has them twice.
    pub duplicates: u64,
    /// Ranges left out because another registry has them now.
    pub transfers: u64,
    /// Ranges that both a delegated file (or a route) and a WHOIS object speak of.
    pub confirmed: u64,
    /// Holders by what they were taken from.
    pub holders: Holders,
    /// Objects that name more than one country; the first counts.
    pub more_countries: u64,
    /// Ranges whose country was taken from their company.
    pub country_of_company: u64,
    /// Virtual subnets cut out of large ranges in which nothing is recorded.
    pub virtual_subnets: u64,
    /// Opaque ids that stand for many strangers.
    pub umbrellas: Vec<Umbrella>,
}

/// How many ranges have their holder from where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Holders {
    /// The registry's handle of an organisation.
    pub organisation: u64,
    /// LACNIC's owner.
    pub owner: u64,
    /// The opaque id of a delegated file.
    pub delegated: u64,
    /// The first line of the description.
    pub description: u64,
    /// The name of the net.
    pub netname: u64,
    /// Who maintains the object.
    pub maintainer: u64,
    /// The autonomous system that announces the range.
    pub route: u64,
    /// The smallest range around.
    pub ancestor: u64,
    /// Nobody is named, here or around.
    pub nobody: u64,
}

/// An opaque id with very many ranges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Umbrella {
    /// Its registry.
    pub registry: &'static str,
    /// The opaque id.
    pub company: String,
    /// Delegated ranges.
    pub ranges: u32,
    /// What it says of a range that it is held by this one, from 0 to 1.
    pub weight: f64,
}

impl Holders {
    pub(super) fn count(&mut self, basis: Basis) {
        *match basis {
            Basis::Organisation => &mut self.organisation,
            Basis::Owner => &mut self.owner,
            Basis::Delegated | Basis::Umbrella => &mut self.delegated,
            Basis::Description => &mut self.description,
            Basis::Netname => &mut self.netname,
            Basis::Maintainer => &mut self.maintainer,
            Basis::Route => &mut self.route,
            Basis::Nobody => &mut self.nobody,
        } += 1;
    }
}

/// A line for each rule that did something.
impl fmt::Display for SettleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holders = &self.holders;
        for (count, what) in [
            (self.nets, "ranges of WHOIS objects"),
            (self.placeholders, "dropped: placeholders that stand for no holder"),
            (self.unmaintained, "dropped: space that another registry maintains"),
            (self.partly_maintained, "cut to the part that their registry maintains"),
            (self.duplicates, "dropped: the same range of the same registry again"),
            (self.transfers, "dropped: transferred to another registry"),
            (self.confirmed, "named by several sources; the most telling counts"),
            (holders.organisation, "held by an organisation of the registry"),
            (holders.owner, "held by the owner named in the object"),
            (holders.delegated, "held by an opaque id of a delegated file"),
            (holders.description, "held by the first line of the description"),
            (holders.netname, "held by the name of the net"),
            (holders.maintainer, "held by the maintainer of the object"),
            (holders.route, "held by the autonomous system that announces them"),
            (holders.ancestor, "held by whoever holds the range around"),
            (holders.nobody, "held by nobody that is named"),
            (self.more_countries, "with several countries; the first counts"),
            (self.country_of_company, "with the country of their company"),
            (self.virtual_subnets, "virtual subnets cut out of large ranges"),
        ] {
            if count > 0 {
                writeln!(f, "{:>11}  {what}", Thousands(count))?;
            }
        }
        self.umbrellas.iter().try_for_each(|umbrella| writeln!(f, "{umbrella}"))
    }
}

impl fmt::Display for Umbrella {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { registry, company, ranges, weight } = self;
        let ranges = Thousands(u64::from(*ranges));
        write!(
            f,
            "{ranges:>11}  ranges of {registry} {company}: a pool of strangers, weight {weight:.3}"
        )
    }
}
