//! One-way delay between every two sites of a virtual internet.

use std::time::Duration;

/// A place in the matrix of an internet's [`Paths`]; every address is at one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(pub u16);

/// One direction between two sites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Time that every packet takes at least.
    pub delay: Duration,
    /// Most that is added to it, drawn evenly for each packet; the order within a pair of addresses
    /// is kept.
    pub jitter: Duration,
    /// Share of packets that get lost, 0.0 to 1.0.
    pub loss: f64,
}

impl Path {
    /// Half of a measured round trip in milliseconds, steady and without loss. Negative and
    /// unheard-of values count as no distance.
    pub fn half_of_rtt_ms(rtt_ms: f64) -> Self {
        let seconds = if rtt_ms.is_finite() { rtt_ms.max(0.0) / 2_000.0 } else { 0.0 };
        Self { delay: Duration::from_secs_f64(seconds), jitter: Duration::ZERO, loss: 0.0 }
    }
}

#[derive(Debug, Clone)]
pub struct Paths {
    sites: u16,
    matrix: Vec<Path>,
}

impl Paths {
    /// Asks `between(from, to)` for every ordered pair of `sites` sites.
    pub fn new(sites: u16, mut between: impl FnMut(Site, Site) -> Path) -> Self {
        let ends = (0..sites).flat_map(|from| (0..sites).map(move |to| (Site(from), Site(to))));
        Self { sites, matrix: ends.map(|(from, to)| between(from, to)).collect() }
    }

    /// Number of sites.
    pub fn sites(&self) -> u16 {
        self.sites
    }

    /// The way from one site to another; none when either is outside the matrix.
    pub fn between(&self, from: Site, to: Site) -> Option<Path> {
        let inside = from.0 < self.sites && to.0 < self.sites;
        let place = usize::from(from.0) * usize::from(self.sites) + usize::from(to.0);
        inside.then(|| self.matrix.get(place).copied()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_directions_apart_and_knows_its_edge() {
        let paths = Paths::new(3, |from, to| Path::half_of_rtt_ms(f64::from(from.0 * 10 + to.0)));
        assert_eq!(paths.between(Site(2), Site(1)).unwrap().delay, Duration::from_micros(10_500));
        assert_eq!(paths.between(Site(1), Site(2)).unwrap().delay, Duration::from_millis(6));
        assert_eq!(paths.between(Site(0), Site(3)), None);
        assert_eq!(paths.between(Site(3), Site(0)), None);
    }

    #[test]
    fn nonsense_distances_are_no_distance() {
        for nonsense in [-4.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Path::half_of_rtt_ms(nonsense).delay, Duration::ZERO);
        }
    }
}
