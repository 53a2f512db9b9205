//! Trial of calibration in days: fetches and checks of whole subnets, from the first round trip to
//! the move. Incidents and their causes follow the rules and constants that the coordinator ships;
//! no search runs: all agents are measured, and the nearest gets the subnet.

use delegation::calibration::{
    Baseline, Comparison, ControlProbe, NewTimes, PathTimes, SubnetSlowdown, SubnetTimes,
    SubnetVerdict,
};
use model::policy::CalibrationPolicy;
use model::{AgentId, DAY_MS, IncidentCause, Slowdown, UnixMillis};
use serde::Serialize;

use super::fetch_times::{FetchTimeSettings, FetchTimes};
use super::paths::{PathSettings, Paths, SAMPLES};
use crate::Noise;

/// Size of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathTrialSettings {
    pub subnets: u64,
    /// Pages in each.
    pub pages: u64,
    /// Fetches of a subnet in a day.
    pub fetches_a_day: f64,
    /// Days without a change.
    pub steady_days: f64,
    /// Hours a day in which agents are awake.
    pub awake_hours: f64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// What changes after the steady days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// How many times as long the path of the subnet's agent takes.
    #[serde(rename = "path_slowdown")]
    pub path: f64,
    /// How many times as long the server takes to answer.
    #[serde(rename = "server_slowdown")]
    pub server: f64,
}

/// Figures of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PathTrial {
    /// Incidents in the steady days, per 1,000 subnets and 30 days.
    #[serde(rename = "false_incidents_per_1000_subnet_months")]
    pub false_incidents: f64,
    /// Share of the changes that opened an incident within 24 hours.
    pub found_in_24_hours: f64,
    /// Share of the changes that moved the subnet within 36 hours.
    pub moved_in_36_hours: f64,
    /// Share of the changes that opened an incident within 8 days.
    pub found_in_8_days: f64,
    /// Share of the subnets that moved at all after the change.
    pub moved: f64,
    /// Hours from the change to the incident, of those that were found.
    pub hours_to_find_mean: f64,
    /// Checks of a subnet in a day, without a change.
    pub checks_a_day: f64,
}

/// Days after the change in which it may be found.
const CHANGED_DAYS: f64 = 14.0;
/// From an incident to the move, in days: control probe, search and handover, one after the other,
/// each some heartbeats long.
const MOVE_DAYS: f64 = 1.0 / 24.0;
/// Fetches bring at most one round trip in this time, in days (as in the store).
const ROUND_TRIP_DAYS: f64 = 1.0 / 24.0;

/// Runs subnets in which nothing changes for some days, and then `change` happens.
pub fn path_trial(
    pages: FetchTimeSettings,
    sensitivity: Slowdown,
    settings: PathTrialSettings,
    change: Change,
) -> PathTrial {
    let mut tally = Tally::default();
    for subnet in 0..settings.subnets {
        let mut simulation = Simulation::new(pages, sensitivity, settings, subnet);
        simulation.run(change);
        tally.add(&simulation);
    }
    tally.result(settings)
}

struct Simulation {
    settings: PathTrialSettings,
    policy: CalibrationPolicy,
    noise: Noise,
    subnet: u64,
    pages: Vec<(FetchTimes, Baseline)>,
    paths: Paths,
    /// What the other agents measured when the subnet was delegated.
    before_us: Vec<u32>,
    times: SubnetTimes,
    fetched: u64,
    next_fetch: f64,
    next_check: f64,
    last_round_trip: f64,
    checks: u64,
    false_incidents: u64,
    found_after: Option<f64>,
    moved_after: Option<f64>,
}

/// Keys of independent streams of random numbers.
const FETCH: u64 = 331;
const AWAKE: u64 = 332;

impl Simulation {
    fn new(
        pages: FetchTimeSettings,
        sensitivity: Slowdown,
        settings: PathTrialSettings,
        subnet: u64,
    ) -> Self {
        let noise = Noise::new(settings.seed);
        let interval_hours = 24.0 * settings.pages as f64 / settings.fetches_a_day;
        let pages_settings = FetchTimeSettings { interval_hours, ..pages };
        let page =
            |number| FetchTimes::new(pages_settings, noise, subnet * settings.pages + number);
        let path_settings = PathSettings {
            noise: pages.noise,
            day_rhythm: pages.day_rhythm,
            outliers: pages.outliers,
        };
        let mut paths = Paths::new(path_settings, noise, subnet);
        Self {
            pages: (0..settings.pages).map(|number| (page(number), Baseline::default())).collect(),
            before_us: (0..Paths::COUNT)
                .map(|path| paths.round_trip(path, 0.0, 1.0, SAMPLES))
                .collect(),
            paths,
            settings,
            policy: CalibrationPolicy { slowdown: sensitivity, ..CalibrationPolicy::default() },
            noise,
            subnet,
            times: SubnetTimes::delegated(UnixMillis(0)),
            fetched: 0,
            next_fetch: 0.0,
            next_check: f64::INFINITY,
            last_round_trip: f64::NEG_INFINITY,
            checks: 0,
            false_incidents: 0,
            found_after: None,
            moved_after: None,
        }
    }

    fn run(&mut self, change: Change) {
        let end = self.settings.steady_days + CHANGED_DAYS;
        loop {
            let day = self.awake(self.next_fetch.min(self.next_check));
            if day >= end || self.moved_after.is_some() {
                return;
            }
            let is_changed = day >= self.settings.steady_days;
            let now = if is_changed { change } else { Change { path: 1.0, server: 1.0 } };
            let verdict = if self.next_check < self.next_fetch {
                self.check(day, now)
            } else {
                self.fetch(day, now)
            };
            if let Some(check_at) = verdict.check_at {
                self.next_check = (check_at.0 as f64 / DAY_MS as f64).max(day + ROUND_TRIP_DAYS);
            }
            if let Some(slowdown) = verdict.slowdown {
                self.open(slowdown, day, now, is_changed);
            }
        }
    }

    /// The time itself if the agent is awake then, else the beginning of its next span.
    fn awake(&self, day: f64) -> f64 {
        let begin = self.noise.uniform(&[AWAKE, self.subnet]);
        let into = (day - begin).rem_euclid(1.0);
        if into * 24.0 <= self.settings.awake_hours { day } else { day + 1.0 - into }
    }

    fn fetch(&mut self, day: f64, now: Change) -> SubnetVerdict {
        let mean = 1.0 / self.settings.fetches_a_day;
        self.next_fetch =
            day + mean * (0.5 + self.noise.uniform(&[FETCH, self.subnet, self.fetched]));
        let number = (self.fetched % self.settings.pages) as usize;
        self.fetched += 1;
        let (series, baseline) = &mut self.pages[number];
        let mut new = NewTimes::default();
        match baseline.observe(self.policy.slowdown, series.next(now.path * now.server)) {
            Comparison::Normal => new.usual = 1,
            Comparison::Slower { ratio } => {
                new.slower = 1;
                new.page_ratio = Some(ratio);
            }
            Comparison::Learning | Comparison::Slow => {}
        }
        if day - self.last_round_trip >= ROUND_TRIP_DAYS {
            new.round_trip = Some((self.paths.round_trip(0, day, now.path, 1), moment(day)));
            self.last_round_trip = day;
        }
        self.observe(&new, day)
    }

    fn check(&mut self, day: f64, now: Change) -> SubnetVerdict {
        self.checks += u64::from(day < self.settings.steady_days);
        self.last_round_trip = day;
        let rtt_us = self.paths.round_trip(0, day, now.path, SAMPLES);
        let round_trip = Some((rtt_us, moment(day)));
        self.observe(&NewTimes { round_trip, ..NewTimes::default() }, day)
    }

    fn observe(&mut self, new: &NewTimes, day: f64) -> SubnetVerdict {
        self.times.observe(&self.policy, new, moment(day))
    }

    /// An incident: finds the cause, and moves the subnet if another agent is nearer now.
    fn open(&mut self, slowdown: SubnetSlowdown, day: f64, now: Change, is_changed: bool) {
        if is_changed {
            self.found_after.get_or_insert(day - self.settings.steady_days);
        } else {
            self.false_incidents += 1;
        }
        let done = day + MOVE_DAYS;
        let is_path = self.cause(slowdown, done) == IncidentCause::Path;
        if is_path && is_changed && self.nearest(done, now) != 0 {
            self.moved_after = Some(done - self.settings.steady_days);
        }
        // It stays: what is slow now is usual from now on, of a measured path its pages alone.
        let is_usual = matches!(slowdown, SubnetSlowdown::Pages { path_ratio: Some(_), .. });
        let path = if is_usual { self.times.path } else { PathTimes::default() };
        self.times = SubnetTimes { path, ..SubnetTimes::delegated(moment(done)) };
        if !is_path {
            self.pages.iter_mut().for_each(|(_, baseline)| baseline.reset());
        }
    }

    /// The cause by the path itself, or by one or two control probes.
    fn cause(&mut self, slowdown: SubnetSlowdown, day: f64) -> IncidentCause {
        let (ratio, path_ratio) = match slowdown {
            SubnetSlowdown::Path { ratio } => (ratio, Some(ratio)),
            SubnetSlowdown::Pages { ratio, path_ratio } => (ratio, path_ratio),
        };
        if let Some(cause) = ControlProbe::cause_by_path(ratio, path_ratio) {
            return cause;
        }
        let agent = |path: u64| AgentId::new(i64::try_from(path).unwrap_or(i64::MAX));
        let mut cause = IncidentCause::Server;
        for controls in 1..=2 {
            let path = u64::from(controls);
            let now_us = self.paths.round_trip(path, day, 1.0, SAMPLES);
            let probe =
                ControlProbe { agent: agent(path), before_us: self.before_us[path as usize] };
            cause = probe.cause(agent(0), ratio, now_us);
            if !ControlProbe::needs_second(path_ratio, cause, controls) {
                break;
            }
        }
        cause
    }

    /// The number of the nearest agent, as all measure it.
    fn nearest(&mut self, day: f64, now: Change) -> u64 {
        let slowdown = |path| if path == 0 { now.path } else { 1.0 };
        let times: Vec<(u32, u64)> = (0..Paths::COUNT)
            .map(|path| (self.paths.round_trip(path, day, slowdown(path), SAMPLES), path))
            .collect();
        times.into_iter().min().map_or(0, |(_, path)| path)
    }
}

fn moment(day: f64) -> UnixMillis {
    UnixMillis((day * DAY_MS as f64) as i64)
}

#[derive(Default)]
struct Tally {
    subnets: u64,
    false_incidents: u64,
    checks: u64,
    found_after: Vec<f64>,
    moved_after: Vec<f64>,
}

impl Tally {
    fn add(&mut self, simulation: &Simulation) {
        self.subnets += 1;
        self.false_incidents += simulation.false_incidents;
        self.checks += simulation.checks;
        self.found_after.extend(simulation.found_after);
        let moved = simulation.moved_after.filter(|after| *after > 0.0);
        self.moved_after.extend(moved);
    }

    fn result(&self, settings: PathTrialSettings) -> PathTrial {
        let subnets = self.subnets.max(1) as f64;
        let within = |after: &[f64], days: f64| {
            after.iter().filter(|after| **after <= days).count() as f64 / subnets
        };
        let subnet_days = subnets * settings.steady_days;
        let found = self.found_after.len().max(1) as f64;
        PathTrial {
            false_incidents: self.false_incidents as f64 / subnet_days * 30.0 * 1_000.0,
            found_in_24_hours: within(&self.found_after, 1.0),
            moved_in_36_hours: within(&self.moved_after, 1.5),
            found_in_8_days: within(&self.found_after, 8.0),
            moved: within(&self.moved_after, f64::INFINITY),
            hours_to_find_mean: self.found_after.iter().sum::<f64>() * 24.0 / found,
            checks_a_day: self.checks as f64 / subnet_days,
        }
    }
}
