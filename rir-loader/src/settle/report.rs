//! Counts of what each rule did.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::holder::CompanyKey;
use crate::thousands::Thousands;

/// A count for each rule of settling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SettleReport {
    /// Ranges of WHOIS objects before settling.
    pub nets: u64,
    /// Objects dropped because they are placeholders without a holder.
    pub placeholders: u64,
    /// Records and objects dropped because their space has a special purpose.
    pub special_purpose: u64,
    /// Objects dropped because their registry does not maintain the space.
    pub unmaintained: u64,
    /// Objects restricted to the part that their registry maintains.
    pub partly_maintained: u64,
    /// Ranges left out because the same registry has them twice.
    pub duplicates: u64,
    /// Ranges left out because another registry has them now.
    pub transfers: u64,
    /// Ranges of a WHOIS object that a delegated file or a route names, too.
    pub confirmed: u64,
    /// Ranges by the attribute that identifies their holder.
    pub holders: BTreeMap<CompanyKey, u64>,
    /// Objects that name more than one country; the first counts.
    pub more_countries: u64,
    /// Ranges whose country was taken from their company.
    pub country_of_company: u64,
    /// Virtual subnets made of large ranges in which nothing is recorded.
    pub virtual_subnets: u64,
    /// Opaque ids shared by unrelated holders.
    pub umbrellas: Vec<Umbrella>,
}

/// An opaque id with very many ranges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Umbrella {
    /// Registry of the id.
    pub registry: &'static str,
    /// The opaque id.
    pub company: String,
    /// Delegated ranges of the id.
    pub ranges: u32,
}

/// A line for each rule that did something.
impl fmt::Display for SettleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holders = |basis| self.holders.get(&basis).copied().unwrap_or(0);
        let ids = holders(CompanyKey::Delegated) + holders(CompanyKey::Umbrella);
        for (count, what) in [
            (self.nets, "ranges of WHOIS objects"),
            (self.placeholders, "dropped: placeholders that stand for no holder"),
            (self.special_purpose, "dropped: special-purpose space, such as private networks"),
            (self.unmaintained, "dropped: space that another registry maintains"),
            (self.partly_maintained, "restricted to the part that their registry maintains"),
            (self.duplicates, "dropped: the same range of the same registry again"),
            (self.transfers, "dropped: transferred to another registry"),
            (self.confirmed, "named by several sources; the most reliable counts"),
            (holders(CompanyKey::Organisation), "held by an organisation of the registry"),
            (holders(CompanyKey::Owner), "held by the owner named in the object"),
            (ids, "held by an opaque id of a delegated file"),
            (holders(CompanyKey::Description), "held by the first line of the description"),
            (holders(CompanyKey::Netname), "held by the name of the net"),
            (holders(CompanyKey::Maintainer), "held by the maintainer of the object"),
            (holders(CompanyKey::Route), "held by the autonomous system that announces them"),
            (holders(CompanyKey::Ancestor), "held by the holder of the range around"),
            (holders(CompanyKey::Nobody), "without a holder"),
            (self.more_countries, "with several countries; the first counts"),
            (self.country_of_company, "with the country of their company"),
            (self.virtual_subnets, "virtual subnets of large ranges"),
        ] {
            if count > 0 {
                writeln!(f, "{:>11}  {what}", Thousands(count))?;
            }
        }
        for Umbrella { registry, company, ranges } in &self.umbrellas {
            let ranges = Thousands(u64::from(*ranges));
            writeln!(
                f,
                "{ranges:>11}  ranges of {registry} {company}: an id of unrelated holders"
            )?;
        }
        Ok(())
    }
}
