//! Generated round trips to one subnet, of its agent and of others.

use crate::Noise;

/// Settings of the generated round trips; the same noise as that of pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PathSettings {
    /// Lognormal sigma of one round trip.
    pub(super) noise: f64,
    /// The busiest hour takes this share longer than the mean, the quietest this share less.
    pub(super) day_rhythm: f64,
    /// Probability of an outlier of three to twelve times the usual.
    pub(super) outliers: f64,
}

/// Keys of independent streams of random numbers.
#[derive(Clone, Copy)]
enum Stream {
    Base = 321,
    Phase,
    Noise,
    Outlier,
}

/// Round trips that a probe takes; the smallest counts.
pub(super) const SAMPLES: u32 = 3;
/// Median round trip of the agent that has the subnet, in milliseconds.
const BASE_MS: f64 = 20.0;
const BASE_SIGMA: f64 = 0.8;
/// How many times as far the other agents are.
const OTHERS: [f64; 4] = [1.3, 1.6, 2.0, 3.0];

/// The paths of one subnet: number 0 is that of its agent.
pub(super) struct Paths {
    settings: PathSettings,
    noise: Noise,
    subnet: u64,
    drawn: u64,
}

impl Paths {
    pub(super) const COUNT: u64 = 1 + OTHERS.len() as u64;

    pub(super) fn new(settings: PathSettings, noise: Noise, subnet: u64) -> Self {
        Self { settings, noise, subnet, drawn: 0 }
    }

    /// The smallest of some round trips at a time, in microseconds, while the path takes `slowdown`
    /// times as long as usual.
    pub(super) fn round_trip(&mut self, path: u64, day: f64, slowdown: f64, samples: u32) -> u32 {
        let times = (0..samples).map(|_| self.one(path, day, slowdown));
        (times.fold(f64::INFINITY, f64::min) * 1_000.0) as u32
    }

    fn one(&mut self, path: u64, day: f64, slowdown: f64) -> f64 {
        let PathSettings { noise, day_rhythm, outliers } = self.settings;
        self.drawn += 1;
        let key = |stream: Stream| [stream as u64, self.subnet, path, self.drawn];
        let base = BASE_MS * self.noise.lognormal(BASE_SIGMA, &[Stream::Base as u64, self.subnet]);
        let far = path.checked_sub(1).map_or(1.0, |other| OTHERS[other as usize]);
        let phase = self.noise.uniform(&[Stream::Phase as u64, self.subnet, path]);
        let rhythm = 1.0 + day_rhythm * (std::f64::consts::TAU * (day + phase)).sin();
        let outlier = self.noise.uniform(&key(Stream::Outlier));
        let strange = if outlier < outliers { 3.0 + 9.0 * outlier / outliers } else { 1.0 };
        let varied = self.noise.lognormal(noise, &key(Stream::Noise));
        base * far * rhythm * strange * slowdown * varied
    }
}
