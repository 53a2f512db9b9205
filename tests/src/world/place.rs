//! The cities of a world and the distances between them.

use std::collections::HashMap;
use std::time::Duration;

use lab::{CityId, World};

use crate::net::{Path, Paths, Site};

/// Most that jitter adds to a round trip: a share of it, and this beside. Measured spreads are
/// sometimes larger than the round trips themselves (load at one end), and would drown what the
/// world is for.
const JITTER_SHARE: f64 = 0.02;
const JITTER_MS: f64 = 0.3;

/// Cities by site.
#[derive(Debug, Clone)]
pub(super) struct Places {
    cities: Vec<String>,
    rtt_ms: Vec<f64>,
    jitter_ms: Vec<f64>,
}

impl Places {
    /// The cities named, each once, in the order of their first naming, and the site of each.
    pub(super) fn of(
        world: &World,
        named: impl Iterator<Item = CityId>,
    ) -> (Self, HashMap<CityId, Site>) {
        let mut sites = HashMap::new();
        let mut ids = Vec::new();
        for city in named {
            sites.entry(city).or_insert_with(|| {
                ids.push(city);
                Site(ids.len() as u16 - 1)
            });
        }
        let pairs = || ids.iter().flat_map(|a| ids.iter().map(move |b| (*a, *b)));
        let name = |id: &CityId| {
            world.cities().get(id.get()).map_or("", |city| city.name.as_str()).to_owned()
        };
        let places = Self {
            cities: ids.iter().map(name).collect(),
            rtt_ms: pairs().map(|(a, b)| world.rtt_ms(a, b)).collect(),
            jitter_ms: pairs().map(|(a, b)| world.jitter_ms(a, b)).collect(),
        };
        (places, sites)
    }

    /// A city's name.
    pub(super) fn city(&self, site: Site) -> &str {
        self.cities.get(usize::from(site.0)).map_or("", String::as_str)
    }

    /// Round trip in milliseconds; infinite where there is no way.
    pub(super) fn rtt_ms(&self, a: Site, b: Site) -> f64 {
        self.cell(a, b).and_then(|cell| self.rtt_ms.get(cell).copied()).unwrap_or(f64::INFINITY)
    }

    /// The matrix of the virtual internet; `loss` of the packets get lost everywhere.
    pub(super) fn paths(&self, loss: f64) -> Paths {
        Paths::new(self.cities.len() as u16, |from, to| {
            let rtt_ms = self.rtt_ms(from, to);
            if !rtt_ms.is_finite() {
                return Path { loss: 1.0, ..Path::half_of_rtt_ms(0.0) };
            }
            let measured = self
                .cell(from, to)
                .and_then(|cell| self.jitter_ms.get(cell).copied())
                .unwrap_or(0.0);
            let jitter_ms = measured.clamp(0.0, rtt_ms * JITTER_SHARE + JITTER_MS);
            Path {
                jitter: Duration::from_secs_f64(jitter_ms / 2_000.0),
                loss,
                ..Path::half_of_rtt_ms(rtt_ms)
            }
        })
    }

    fn cell(&self, a: Site, b: Site) -> Option<usize> {
        let a = usize::from(a.0);
        let b = usize::from(b.0);
        let side = self.cities.len();
        (a < side && b < side).then_some(a * side + b)
    }
}
