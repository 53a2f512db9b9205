//! How many URLs of each filter were queued, such as a shop's list by colour, size and price. Their
//! combinations are more than the pages of many sites, and show the same pages again.
//!
//! The counts are bounded and in memory only: after a restart, or after many other filters, a
//! filter is counted from zero again. The bound of pages of the host holds in any case.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
};

use model::{CrawlUrl, traps::filter_of};

/// URLs of one filter that are queued.
const MOST: u16 = 500;
/// Filters of one generation; two generations take about 1 MiB.
const GENERATION: usize = 1 << 14;

/// Counts of URLs by filter.
#[derive(Debug, Default)]
pub(in crate::frontier) struct Filters {
    hasher: RandomState,
    current: HashMap<u64, u16>,
    previous: HashMap<u64, u16>,
}

impl Filters {
    /// Counts a URL that was not queued before; returns whether it may be queued.
    pub(in crate::frontier) fn admit(&mut self, url: &CrawlUrl) -> bool {
        let Some(filter) = filter_of(url.path_and_query()) else { return true };
        let key = self.hasher.hash_one((url.host_key_str(), filter));
        let previous = &self.previous;
        let before = || previous.get(&key).copied().unwrap_or_default();
        let count = self.current.entry(key).or_insert_with(before);
        *count = count.saturating_add(1);
        let is_admitted = *count <= MOST;
        if self.current.len() >= GENERATION {
            self.previous = std::mem::take(&mut self.current);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(filters: &mut Filters, host: &str, range: std::ops::Range<u32>) -> usize {
        let url = |n: u32| CrawlUrl::parse(&format!("http://{host}/list?a={n}&b={n}&c={n}"));
        range.filter(|number| filters.admit(&url(*number).unwrap())).count()
    }

    #[test]
    fn a_filter_has_a_bounded_number_of_urls() {
        let mut filters = Filters::default();
        assert_eq!(admitted(&mut filters, "a.org", 0..2_000), usize::from(MOST));
        assert_eq!(admitted(&mut filters, "b.org", 0..10), 10, "of another host");
        let other = CrawlUrl::parse("http://a.org/list?a=1&b=2").unwrap();
        assert!((0..1_000).all(|_| filters.admit(&other)), "no filter");
    }

    #[test]
    fn memory_is_bounded() {
        let mut filters = Filters::default();
        for host in 0..GENERATION * 3 {
            admitted(&mut filters, &format!("h{host}.org"), 0..1);
        }
        assert!(filters.current.len() + filters.previous.len() <= 2 * GENERATION);
    }
}
