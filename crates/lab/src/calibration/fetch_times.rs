//! Generated fetch times of one page.

use delegation::calibration::Timing;
use serde::Serialize;

use crate::Noise;

/// Settings of the generated times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, clap::Args)]
pub struct FetchTimeSettings {
    /// Lognormal sigma of one fetch
    #[arg(long, default_value_t = Self::default().noise, value_name = "SIGMA")]
    pub noise: f64,
    /// Share by which the busiest hour is slower than the mean, and the quietest faster
    #[arg(long, default_value_t = Self::default().day_rhythm, value_name = "SHARE")]
    pub day_rhythm: f64,
    /// Lognormal sigma of the size from fetch to fetch
    #[arg(long, default_value_t = Self::default().size_sigma, value_name = "SIGMA")]
    pub size_sigma: f64,
    /// Probability per fetch that a page becomes half or twice as large for good
    #[arg(long, default_value_t = Self::default().size_change, value_name = "PROBABILITY")]
    pub size_change: f64,
    /// Probability per fetch of an outlier of three to twelve times the usual
    #[arg(long, default_value_t = Self::default().outliers, value_name = "PROBABILITY")]
    pub outliers: f64,
    /// Between two fetches of a page
    #[arg(long, default_value_t = Self::default().interval_hours, value_name = "HOURS")]
    pub interval_hours: f64,
}

impl Default for FetchTimeSettings {
    fn default() -> Self {
        Self {
            noise: 0.15,
            day_rhythm: 0.2,
            size_sigma: 0.1,
            size_change: 0.002,
            outliers: 0.01,
            interval_hours: 5.0,
        }
    }
}

/// Keys of independent streams of random numbers.
#[derive(Clone, Copy)]
enum Stream {
    Latency = 301,
    Size,
    Resize,
    Noise,
    Outlier,
    Phase,
}

/// Median time without the body, in milliseconds; it differs from page to page.
const LATENCY_MS: f64 = 120.0;
const LATENCY_SIGMA: f64 = 0.8;
/// Median size in bytes.
const SIZE: f64 = 25_000.0;
const SIZE_SIGMA: f64 = 1.0;
/// Milliseconds a kibibyte.
const PACE: f64 = 0.8;

pub(super) struct FetchTimes {
    settings: FetchTimeSettings,
    noise: Noise,
    page: u64,
    fetch: u64,
    size: f64,
}

impl FetchTimes {
    pub(super) fn new(settings: FetchTimeSettings, noise: Noise, page: u64) -> Self {
        let size = SIZE * noise.lognormal(SIZE_SIGMA, &[Stream::Size as u64, page]);
        Self { settings, noise, page, fetch: 0, size }
    }

    /// The next fetch, over a path that takes `slowdown` times as long as usual.
    pub(super) fn next(&mut self, slowdown: f64) -> Timing {
        let FetchTimeSettings { noise, day_rhythm, size_sigma, size_change, outliers, .. } =
            self.settings;
        let drawn = self.noise.uniform(&self.key(Stream::Resize));
        if drawn < size_change {
            self.size *= if drawn < size_change / 2.0 { 0.5 } else { 2.0 };
        }
        let size = self.size * self.noise.lognormal(size_sigma, &self.key(Stream::Size));
        let latency_ms =
            LATENCY_MS * self.noise.lognormal(LATENCY_SIGMA, &[Stream::Latency as u64, self.page]);
        let rhythm = 1.0 + day_rhythm * (std::f64::consts::TAU * self.day()).sin();
        let expected_ms = (latency_ms * rhythm + PACE * size / 1024.0) * slowdown;
        let outlier = self.noise.uniform(&self.key(Stream::Outlier));
        let strange = if outlier < outliers { 3.0 + 9.0 * outlier / outliers } else { 1.0 };
        let ms = expected_ms * strange * self.noise.lognormal(noise, &self.key(Stream::Noise));
        self.fetch += 1;
        Timing { ms, bytes: size as u64 }
    }

    /// Days since the beginning; pages begin at different hours.
    pub(super) fn day(&self) -> f64 {
        let phase = self.noise.uniform(&[Stream::Phase as u64, self.page]);
        phase + self.fetch as f64 * self.settings.interval_hours / 24.0
    }

    fn key(&self, stream: Stream) -> [u64; 3] {
        [stream as u64, self.page, self.fetch]
    }
}
