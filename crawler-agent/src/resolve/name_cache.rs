//! Answers of name servers, each kept for its time to live.

use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
    sync::Arc,
    time::Duration,
};

/// Names that are kept.
const CAPACITY: usize = 16_384;
/// Least time that an answer is kept, however short its own lifetime.
const MIN_TTL: Duration = Duration::from_secs(30);
/// Most time that an answer is kept.
const MAX_TTL: Duration = Duration::from_hours(1);
/// Time for which it is kept that no name server answered.
const NO_ANSWER_TTL: Duration = Duration::from_secs(6);
/// Time that addresses must still be valid when a visit begins, so that they do not expire during
/// the visit.
const SPARE: Duration = Duration::from_secs(5);

/// Time for which the address that answered is preferred to the first one.
const PREFERENCE: Duration = Duration::from_hours(1);

/// What the name servers know of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// The addresses at which its hosts may be reached.
    Addresses(Arc<[IpAddr]>),
    /// It does not exist, or has no address.
    Missing(Arc<str>),
    /// No name server answered usefully.
    Failed(Arc<str>),
}

impl Answer {
    /// How long the answer is kept; `ttl` is the time to live of the addresses.
    fn kept(&self, ttl: Duration) -> Duration {
        match self {
            Self::Addresses(_) => ttl.clamp(MIN_TTL, MAX_TTL),
            Self::Missing(_) => MIN_TTL,
            Self::Failed(_) => NO_ANSWER_TTL,
        }
    }
}

/// What is kept of a name.
#[derive(Debug)]
struct Entry {
    answer: Answer,
    /// End of the time for which the answer is kept.
    until: Duration,
    /// The address whose server answered, and the end of the time for which it is preferred.
    preferred: Option<(IpAddr, Duration)>,
}

/// Answers by name. Times are counted from the start of the agent.
#[derive(Debug, Default)]
pub(super) struct NameCache {
    answers: HashMap<Arc<str>, Entry>,
    by_expiry: BTreeSet<(Duration, Arc<str>)>,
}

impl NameCache {
    /// The answer for a name, if it is still valid.
    pub(super) fn get(&self, name: &str, now: Duration) -> Option<&Answer> {
        self.answers.get(name).filter(|entry| entry.until > now).map(|entry| &entry.answer)
    }

    /// The address of a name whose server answered within the last hour.
    pub(super) fn preferred(&self, name: &str, now: Duration) -> Option<IpAddr> {
        let (address, until) = self.answers.get(name)?.preferred?;
        (until > now).then_some(address)
    }

    /// Notes that the server at this address of a name has answered. Further answers do not make
    /// the hour longer, after which the first address is tried again.
    pub(super) fn prefer(&mut self, name: &str, address: IpAddr, now: Duration) {
        if self.preferred(name, now) != Some(address)
            && let Some(entry) = self.answers.get_mut(name)
        {
            entry.preferred = Some((address, now + PREFERENCE));
        }
    }

    /// Whether the answer for a name will be valid throughout a visit that begins now.
    pub(super) fn is_ready(&self, name: &str, now: Duration) -> bool {
        match self.get(name, now) {
            Some(Answer::Addresses(_)) => self.get(name, now + SPARE).is_some(),
            // The visit ends at once. With a reserve, a host that queues for longer than a short
            // answer lasts would be looked up again and again, and its failures would not count.
            Some(Answer::Missing(_) | Answer::Failed(_)) => true,
            None => false,
        }
    }

    /// Keeps an answer. In a full cache, those that expire first make room.
    pub(super) fn insert(&mut self, name: &str, answer: Answer, ttl: Duration, now: Duration) {
        let until = now + answer.kept(ttl);
        let name: Arc<str> = name.into();
        let old = self.answers.remove(&name);
        if let Some(old) = &old {
            self.by_expiry.remove(&(old.until, Arc::clone(&name)));
        }
        let preferred = old.and_then(|old| old.preferred);
        self.answers.insert(Arc::clone(&name), Entry { answer, until, preferred });
        self.by_expiry.insert((until, name));
        while self.answers.len() > CAPACITY
            && let Some((_, first)) = self.by_expiry.pop_first()
        {
            self.answers.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Answer {
        Answer::Addresses([IpAddr::from([192, 0, 2, 1])].into())
    }

    #[test]
    fn answers_are_kept_for_their_time_to_live_within_bounds() {
        let missing = || Answer::Missing("no such name".into());
        let failed = || Answer::Failed("timeout".into());
        for (answer, ttl, kept) in [
            (addresses(), 60, 60),
            (addresses(), 0, 30),
            (addresses(), 1_000_000, 3_600),
            (missing(), 3_600, 30),
            (failed(), 3_600, 6),
        ] {
            let mut cache = NameCache::default();
            let start = Duration::from_secs(100);
            cache.insert("a.org", answer.clone(), Duration::from_secs(ttl), start);
            let at = |seconds| start + Duration::from_secs(seconds);
            assert_eq!(cache.get("a.org", at(kept - 1)), Some(&answer));
            assert_eq!(cache.get("a.org", at(kept)), None, "{answer:?}");
            assert!(cache.is_ready("a.org", start));
            let lasts = !matches!(answer, Answer::Addresses(_));
            assert_eq!(cache.is_ready("a.org", at(kept - 5)), lasts, "{answer:?} in a visit");
        }
    }

    #[test]
    fn an_address_that_answered_is_preferred_for_an_hour() {
        let [first, second] = [1, 2].map(|n| IpAddr::from([192, 0, 2, n]));
        let at = |minutes| Duration::from_mins(minutes);
        let mut cache = NameCache::default();
        cache.insert("a.org", addresses(), at(1), at(0));
        assert_eq!(cache.preferred("a.org", at(0)), None);
        cache.prefer("a.org", second, at(0));
        cache.insert("a.org", addresses(), at(1), at(30));
        cache.prefer("a.org", second, at(30));
        assert_eq!(cache.preferred("a.org", at(59)), Some(second), "also in a newer answer");
        assert_eq!(cache.preferred("a.org", at(60)), None);
        cache.prefer("a.org", second, at(61));
        cache.prefer("a.org", first, at(62));
        assert_eq!(cache.preferred("a.org", at(62)), Some(first));
    }

    #[test]
    fn a_full_cache_drops_what_expires_first() {
        let mut cache = NameCache::default();
        let ttl = Duration::from_secs(60);
        for number in 0..=CAPACITY {
            let now = Duration::from_millis(number as u64);
            cache.insert(&number.to_string(), addresses(), ttl, now);
        }
        let now = Duration::from_secs(20);
        assert_eq!((cache.get("0", now), cache.get("1", now)), (None, Some(&addresses())));
        cache.insert("1", addresses(), ttl, now);
        assert_eq!((cache.answers.len(), cache.by_expiry.len()), (CAPACITY, CAPACITY));
    }
}
