//! Candidates in several orders, with those already taken.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hierarchy::{CompanyId, Country, Range};
use lab::CityId;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;

use super::candidate::{Candidate, ending_like_a_host};

/// Candidates by company, country and city.
#[derive(Debug)]
pub(super) struct Shortlist {
    by_company: BTreeMap<CompanyId, Vec<Candidate>>,
    by_country: BTreeMap<Country, Vec<Candidate>>,
    by_city: BTreeMap<CityId, Vec<Candidate>>,
    taken: BTreeSet<Ipv4Addr>,
    chance: ChaCha8Rng,
}

impl Shortlist {
    pub(super) fn new(candidates: &[Candidate], chance: ChaCha8Rng) -> Self {
        let mut list = Self {
            by_company: BTreeMap::new(),
            by_country: BTreeMap::new(),
            by_city: BTreeMap::new(),
            taken: BTreeSet::new(),
            chance,
        };
        for candidate in candidates {
            list.by_company.entry(candidate.company).or_default().push(*candidate);
            list.by_country.entry(candidate.country).or_default().push(*candidate);
            list.by_city.entry(candidate.city).or_default().push(*candidate);
        }
        list
    }

    /// Forgets all candidates but these.
    pub(super) fn keep(&mut self, wanted: impl Fn(&Candidate) -> bool) {
        self.by_company.values_mut().for_each(|list| list.retain(&wanted));
        self.by_country.values_mut().for_each(|list| list.retain(&wanted));
        self.by_city.values_mut().for_each(|list| list.retain(&wanted));
    }

    /// Reserves an address; false when it is taken already.
    pub(super) fn take(&mut self, candidate: &Candidate) -> bool {
        self.taken.insert(candidate.address)
    }

    /// An address in a city for an agent, of those that `may_be_home` accepts: of a company that
    /// holds several subnets, if there is one, and that none of `others` is of.
    pub(super) fn home(
        &mut self,
        city: CityId,
        may_be_home: impl Fn(&Candidate) -> bool,
        others: &[Candidate],
    ) -> Option<Candidate> {
        let strange =
            |candidate: &&Candidate| others.iter().all(|other| other.company != candidate.company);
        let mut free: Vec<_> = self.by_city.get(&city)?.iter().filter(strange).copied().collect();
        free.retain(|one| may_be_home(one) && !self.taken.contains(&one.address));
        free.shuffle(&mut self.chance);
        let subnets =
            |candidate: &Candidate| self.ranges(candidate.company).len().min(ENOUGH_SUBNETS);
        free.into_iter().max_by_key(subnets)
    }

    /// One candidate in each of up to `most` subnets of a company other than `except`.
    pub(super) fn of_company(
        &mut self,
        company: CompanyId,
        except: Option<Range>,
        most: usize,
    ) -> Vec<Candidate> {
        let mut all = self.by_company.get(&company).cloned().unwrap_or_default();
        all.shuffle(&mut self.chance);
        let mut seen: BTreeSet<Range> = except.into_iter().collect();
        all.retain(|candidate| {
            !self.taken.contains(&candidate.address) && seen.insert(candidate.range)
        });
        all.truncate(most);
        all
    }

    /// One candidate of each country, the countries in an order of chance.
    pub(super) fn of_each_country(&mut self) -> Vec<Candidate> {
        let free = |list: &[Candidate], chance: &mut ChaCha8Rng| list.choose(chance).copied();
        let mut found: Vec<_> =
            self.by_country.values().filter_map(|c| free(c, &mut self.chance)).collect();
        found.shuffle(&mut self.chance);
        found
    }

    /// Companies that hold at least two subnets, in an order of chance.
    pub(super) fn families(&mut self) -> Vec<CompanyId> {
        let companies = self.by_company.keys().copied();
        let mut families: Vec<_> =
            companies.filter(|company| self.ranges(*company).len() > 1).collect();
        families.shuffle(&mut self.chance);
        families
    }

    /// A free address next to another: of the same /24 and subnet, hence in the same city.
    pub(super) fn neighbour(&self, of: &Candidate) -> Option<Candidate> {
        let [a, b, c, _] = of.address.octets();
        let addresses = (1..255).map(|last| ending_like_a_host(Ipv4Addr::new(a, b, c, last)));
        let mut free = addresses.filter(|address| of.range.contains((*address).into()));
        let address = free.find(|address| !self.taken.contains(address))?;
        Some(Candidate { address, ..*of })
    }

    fn ranges(&self, company: CompanyId) -> BTreeSet<Range> {
        let all = self.by_company.get(&company).into_iter().flatten();
        all.map(|candidate| candidate.range).take(MANY).collect()
    }
}

/// A company with this many subnets is as good as one with more.
const ENOUGH_SUBNETS: usize = 4;
/// Candidates looked at to count a company's subnets.
const MANY: usize = 64;
