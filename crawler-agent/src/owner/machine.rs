//! Idle detection: whether the machine's other users need it.
//!
//! The agent rests once a limit was passed for a while, and goes on only after a longer time below
//! all limits: otherwise its own absence would call it back.

use std::{fmt, time::Duration};

use super::readings::MachineState;
use crate::config::IdleRules;

/// Reason for which the machine is left to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// Other programs use more processor time than the owner allows beside the agent.
    Load,
    /// Other programs wait for a processor more often than the owner allows.
    Pressure,
    /// The machine runs on its battery.
    Battery,
}

/// Decides from readings whether the agent rests.
#[derive(Debug)]
pub struct IdleWatch {
    rules: IdleRules,
    busy: Option<Busy>,
    /// Since when every reading was above a limit.
    above_since: Option<Duration>,
    /// Since when every reading was below all limits.
    quiet_since: Option<Duration>,
}

impl IdleWatch {
    /// A watch that has seen no reading; until it has, the agent may work.
    pub fn new(rules: IdleRules) -> Self {
        Self { rules, busy: None, above_since: None, quiet_since: None }
    }

    /// Takes the readings of the time `now`, read from a clock that does not go back; returns why
    /// the agent rests.
    pub fn update(&mut self, readings: &MachineState, now: Duration) -> Option<Busy> {
        if let Some(busy) = self.above(readings) {
            self.quiet_since = None;
            let since = *self.above_since.get_or_insert(now);
            let lasts = now.saturating_sub(since) >= self.rules.stop_after;
            // A battery does not become fuller by waiting.
            if lasts || busy == Busy::Battery || self.busy.is_some() {
                self.busy = Some(busy);
            }
        } else {
            self.above_since = None;
            let since = *self.quiet_since.get_or_insert(now);
            if now.saturating_sub(since) >= self.rules.resume_after {
                self.busy = None;
            }
        }
        self.busy
    }

    /// The limit that the readings pass.
    fn above(&self, readings: &MachineState) -> Option<Busy> {
        let passes = |reading: Option<f64>, most: Option<f64>| {
            reading.zip(most).is_some_and(|(reading, most)| reading > most)
        };
        if self.rules.not_on_battery && readings.on_battery {
            return Some(Busy::Battery);
        }
        if passes(readings.load_per_cpu, self.rules.max_load_per_cpu) {
            return Some(Busy::Load);
        }
        passes(readings.cpu_pressure, self.rules.max_cpu_pressure).then_some(Busy::Pressure)
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "other programs use the machine's processors",
            Self::Pressure => "other programs wait for the machine's processors",
            Self::Battery => "the machine runs on its battery",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> IdleWatch {
        IdleWatch::new(IdleRules {
            max_load_per_cpu: Some(0.5),
            max_cpu_pressure: Some(0.2),
            not_on_battery: true,
            ..IdleRules::default()
        })
    }

    fn load(load: f64) -> MachineState {
        MachineState { load_per_cpu: Some(load), ..MachineState::default() }
    }

    /// The answers to one reading every five seconds.
    fn answers(watch: &mut IdleWatch, readings: &[MachineState], from: u64) -> Vec<Option<Busy>> {
        let times = (0..).map(|n| Duration::from_secs(from + n * 5));
        readings.iter().zip(times).map(|(readings, now)| watch.update(readings, now)).collect()
    }

    #[test]
    fn a_short_peak_does_not_stop_and_a_short_lull_does_not_resume() {
        let mut watch = watch();
        let peak = answers(&mut watch, &[load(0.6), load(0.4), load(0.6)], 0);
        assert_eq!(peak, [None; 3]);
        assert_eq!(answers(&mut watch, &[load(0.6)], 15), [Some(Busy::Load)]);
        let lull = answers(&mut watch, &vec![load(0.1); 12], 20);
        assert_eq!(lull, [Some(Busy::Load); 12]);
        let again = answers(&mut watch, &[load(0.6), load(0.1)], 80);
        assert_eq!(again, [Some(Busy::Load); 2]);
        let quiet = answers(&mut watch, &vec![load(0.5); 12], 90);
        assert_eq!(quiet.iter().position(Option::is_none), Some(11), "a minute after 85 s");
    }

    #[test]
    fn a_battery_stops_at_once() {
        let mut watch = watch();
        let battery = MachineState { on_battery: true, ..load(0.9) };
        assert_eq!(watch.update(&battery, Duration::ZERO), Some(Busy::Battery));
        let plugged = answers(&mut watch, &vec![load(0.0); 13], 5);
        assert_eq!(plugged.iter().position(Option::is_none), Some(12));
    }

    #[test]
    fn what_is_not_limited_or_not_known_does_not_matter() {
        let mut off = IdleWatch::new(IdleRules::default());
        let all =
            MachineState { load_per_cpu: Some(9.0), cpu_pressure: Some(9.0), on_battery: true };
        assert_eq!(answers(&mut off, &[all, all, all], 0), [None; 3]);
        assert_eq!(answers(&mut watch(), &[MachineState::default(); 3], 0), [None; 3]);
        let pressure = MachineState { cpu_pressure: Some(0.3), ..MachineState::default() };
        assert_eq!(answers(&mut watch(), &[pressure; 2], 0)[1], Some(Busy::Pressure));
    }
}
