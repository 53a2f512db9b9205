//! Zones of host names whose DNS servers are silent: pure bookkeeping that decides which lookup may
//! start.
//!
//! A page can link to any number of names below a server that never answers. Each lookup of them
//! takes seconds, so a zone has few lookups at the same time, and after some without an answer in a
//! row only one from time to time, until the zone answers. Names of a zone that is busy and slow go
//! to the end of the line, so that they do not hold up names of other zones.

use std::collections::HashMap;
use std::time::Duration;

use model::UnixMillis;

/// Lookups in one zone at the same time.
const AT_ONCE: u32 = 8;
/// A zone is slow if its last lookup took so long.
const SLOW_MS: i64 = 200;
/// Lookups in a row without an answer after which a zone counts as silent.
const SILENT_AFTER: u32 = 3;
/// First pause of a silent zone; doubled with each further lookup without an answer.
const FIRST_PAUSE_MS: i64 = 2_000;
/// The longest pause of a silent zone.
const LONGEST_PAUSE_MS: i64 = 60_000;
/// Longest time for which silence in all zones counts as a possible outage of the coordinator's own
/// name server or line.
const LONGEST_OUTAGE_MS: i64 = 24 * 3_600_000;
/// Pause between two lookups without an answer after which the second begins another silence.
/// Repeated lookups are at most ten minutes apart.
const GAP_MS: i64 = 3_600_000;
/// Zones kept; when there are more, those without a lookup in progress are forgotten.
const ZONES_MAX: usize = 100_000;

/// Whether a lookup may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// The lookup counts as started.
    Start,
    /// Other lookups in the zone have to end first.
    Wait,
    /// The zone is silent, or slow and busy; not before this time.
    Defer(UnixMillis),
}

#[derive(Debug)]
struct Zone {
    in_progress: u32,
    unanswered: u32,
    silent_until: UnixMillis,
    /// How long the last lookup took; 0 before its end.
    took_ms: i64,
    /// When the last one of the names is to be looked up that were deferred because it was busy.
    deferred_until: UnixMillis,
}

impl Zone {
    /// The first lookup in it has begun.
    fn begin(now: UnixMillis) -> Self {
        Self { in_progress: 1, unanswered: 0, silent_until: now, took_ms: 0, deferred_until: now }
    }

    /// What becomes of one more name while there are enough lookups. The next names of its source
    /// may all be of this zone. Where it is slow, they are deferred, each by the time after which a
    /// lookup ends.
    fn when_busy(&mut self, now: UnixMillis) -> Permission {
        if !self.is_slow() {
            return Permission::Wait;
        }
        let pause_ms = self.took_ms / i64::from(AT_ONCE);
        self.deferred_until = self.deferred_until.max(now).plus_ms(pause_ms);
        Permission::Defer(self.deferred_until)
    }

    fn is_slow(&self) -> bool {
        self.took_ms >= SLOW_MS
    }

    fn end(&mut self, took: Duration) {
        self.in_progress = self.in_progress.saturating_sub(1);
        self.took_ms = i64::try_from(took.as_millis()).unwrap_or(i64::MAX);
    }
}

/// Lookups without an answer in any zone since the last answer.
#[derive(Debug, Clone, Copy)]
struct Silence {
    began_at: UnixMillis,
    last_at: UnixMillis,
}

/// Zones with a lookup in progress, or that were slow or without an answer lately.
#[derive(Debug, Default)]
pub struct Zones {
    by_name: HashMap<String, Zone>,
    /// When any zone last answered.
    answered_at: Option<UnixMillis>,
    silence: Option<Silence>,
}

impl Zones {
    /// Asks to look up a name in `zone`.
    pub fn ask(&mut self, zone: &str, now: UnixMillis) -> Permission {
        if self.by_name.len() >= ZONES_MAX {
            self.by_name.retain(|_, zone| zone.in_progress > 0);
        }
        let Some(known) = self.by_name.get_mut(zone) else {
            self.by_name.insert(zone.to_owned(), Zone::begin(now));
            return Permission::Start;
        };
        if known.unanswered >= SILENT_AFTER {
            if now < known.silent_until {
                return Permission::Defer(known.silent_until);
            }
            if known.in_progress > 0 {
                return Permission::Defer(now.plus_ms(pause_ms(known.unanswered)));
            }
        } else if known.in_progress >= AT_ONCE {
            return known.when_busy(now);
        }
        known.in_progress += 1;
        Permission::Start
    }

    /// No lookup is in progress: a failed run of the task dropped those that were.
    pub fn drop_lookups(&mut self) {
        self.by_name.retain(|_, zone| {
            zone.in_progress = 0;
            zone.unanswered > 0 || zone.is_slow()
        });
    }

    /// Whether the coordinator's own name server or line may be down: no zone has answered since
    /// `since`. After a day it is taken that names without an answer are dead: a quiet crawl may
    /// have no others to look up.
    pub fn may_be_outage(&self, since: UnixMillis, now: UnixMillis) -> bool {
        let is_answered = self.answered_at.is_some_and(|at| at >= since);
        let is_over = |silence: Silence| now.0 - silence.began_at.0 >= LONGEST_OUTAGE_MS;
        !is_answered && !self.silence.is_some_and(is_over)
    }

    /// A lookup in `zone` ended after this time, with any answer.
    pub fn answered(&mut self, zone: &str, took: Duration, now: UnixMillis) {
        self.answered_at = Some(now);
        self.silence = None;
        let Some(known) = self.by_name.get_mut(zone) else { return };
        known.end(took);
        known.unanswered = 0;
        // Lookups that began together end together; the next ones must find that they were slow.
        if known.in_progress == 0 && !known.is_slow() {
            self.by_name.remove(zone);
        }
    }

    /// A lookup in `zone` ended after this time, without an answer.
    pub fn unanswered(&mut self, zone: &str, took: Duration, now: UnixMillis) {
        let goes_on = self.silence.filter(|silence| now.0 - silence.last_at.0 < GAP_MS);
        let began_at = goes_on.map_or(now, |silence| silence.began_at);
        self.silence = Some(Silence { began_at, last_at: now });
        let Some(known) = self.by_name.get_mut(zone) else { return };
        known.end(took);
        known.unanswered = known.unanswered.saturating_add(1);
        known.silent_until = now.plus_ms(pause_ms(known.unanswered));
    }
}

fn pause_ms(unanswered: u32) -> i64 {
    let doublings = unanswered.saturating_sub(SILENT_AFTER).min(10);
    (FIRST_PAUSE_MS << doublings).min(LONGEST_PAUSE_MS)
}

/// The zone that a host name is probably in: its last two labels, or three below a short name under
/// a country code, such as `co.uk`. A wrong guess only makes a zone larger or smaller.
pub fn zone_of(name: &str) -> &str {
    let name = name.trim_end_matches('.');
    let labels: Vec<&str> = name.rsplitn(4, '.').collect();
    let is_below_country = labels.len() > 2 && labels[0].len() == 2 && labels[1].len() <= 3;
    let kept = if is_below_country { 3 } else { 2 };
    let length = labels.iter().take(kept).map(|label| label.len() + 1).sum::<usize>();
    &name[name.len().saturating_sub(length.saturating_sub(1))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_000_000);
    const TOOK: Duration = Duration::from_millis(20);

    #[test]
    fn the_zone_is_the_registered_part_of_a_name() {
        for (name, zone) in [
            ("www.a.example", "a.example"),
            ("a.example", "a.example"),
            ("x.y.a.co.uk", "a.co.uk"),
            ("a.co.uk", "a.co.uk"),
            ("www.nic.cy", "www.nic.cy"),
            ("www.university.cy", "university.cy"),
            ("localhost", "localhost"),
            ("", ""),
        ] {
            assert_eq!(zone_of(name), zone, "{name}");
        }
    }

    #[test]
    fn a_zone_has_few_lookups_at_once() {
        let mut zones = Zones::default();
        for _ in 0..AT_ONCE {
            assert_eq!(zones.ask("a.example", NOW), Permission::Start);
        }
        assert_eq!(zones.ask("a.example", NOW), Permission::Wait);
        assert_eq!(zones.ask("b.example", NOW), Permission::Start);
        zones.answered("a.example", TOOK, NOW);
        assert_eq!(zones.ask("a.example", NOW), Permission::Start);
    }

    #[test]
    fn names_of_a_busy_zone_that_is_slow_leave_the_line_to_others() {
        let mut zones = Zones::default();
        let took = Duration::from_millis(1_600);
        (0..AT_ONCE).for_each(|_| assert_eq!(zones.ask("a.example", NOW), Permission::Start));
        assert_eq!(zones.ask("a.example", NOW), Permission::Wait, "its speed is not known");
        zones.answered("a.example", took, NOW);
        assert_eq!(zones.ask("a.example", NOW), Permission::Start);
        for after_ms in [200, 400, 600] {
            let later = Permission::Defer(NOW.plus_ms(after_ms));
            assert_eq!(zones.ask("a.example", NOW), later, "eight are done in 1.6 seconds");
        }
        let later = NOW.plus_ms(60_000);
        assert_eq!(zones.ask("a.example", later), Permission::Defer(later.plus_ms(200)));
        zones.answered("a.example", TOOK, later);
        assert_eq!(zones.ask("a.example", later), Permission::Start);
        assert_eq!(zones.ask("a.example", later), Permission::Wait, "it is fast again");
        (0..AT_ONCE).for_each(|_| zones.answered("a.example", took, later));
        (0..AT_ONCE).for_each(|_| assert_eq!(zones.ask("a.example", later), Permission::Start));
        assert!(matches!(zones.ask("a.example", later), Permission::Defer(_)), "slow once more");
    }

    /// Lookups without an answer, ten minutes apart, over this many hours.
    fn stay_silent(zones: &mut Zones, from: UnixMillis, hours: i64) -> UnixMillis {
        (0..=hours * 6)
            .for_each(|nth| zones.unanswered("a.example", TOOK, from.plus_ms(nth * 600_000)));
        from.plus_ms(hours * 3_600_000)
    }

    #[test]
    fn silence_may_be_an_outage_until_anything_answers_or_for_a_day() {
        let mut zones = Zones::default();
        let now = stay_silent(&mut zones, NOW, 23);
        assert!(zones.may_be_outage(now, now));
        zones.answered("b.example", TOOK, now);
        assert!(!zones.may_be_outage(now, now) && zones.may_be_outage(now.plus_ms(1), now));
        let later = stay_silent(&mut zones, now.plus_ms(1), 23);
        assert!(zones.may_be_outage(later, later), "the answer ended the first silence");
        let day = stay_silent(&mut zones, later, 1);
        assert!(!zones.may_be_outage(day, day), "the names are dead");
        let next = day.plus_ms(GAP_MS);
        zones.unanswered("b.example", TOOK, next);
        assert!(zones.may_be_outage(next, next), "nobody was asked for an hour");
    }

    #[test]
    fn lookups_that_were_dropped_do_not_block_their_zone() {
        let mut zones = Zones::default();
        for zone in ["a.example", "silent.example"] {
            (0..AT_ONCE).for_each(|_| assert_eq!(zones.ask(zone, NOW), Permission::Start));
        }
        (0..SILENT_AFTER).for_each(|_| zones.unanswered("silent.example", TOOK, NOW));
        zones.drop_lookups();
        assert_eq!(zones.ask("a.example", NOW), Permission::Start);
        let until = NOW.plus_ms(FIRST_PAUSE_MS);
        assert_eq!(zones.ask("silent.example", NOW), Permission::Defer(until));
        assert_eq!(zones.ask("silent.example", until), Permission::Start);
    }

    #[test]
    fn a_silent_zone_is_asked_by_one_lookup_at_growing_intervals() {
        let mut zones = Zones::default();
        for _ in 0..SILENT_AFTER {
            assert_eq!(zones.ask("a.example", NOW), Permission::Start);
        }
        (0..SILENT_AFTER).for_each(|_| zones.unanswered("a.example", TOOK, NOW));
        let until = NOW.plus_ms(FIRST_PAUSE_MS);
        assert_eq!(zones.ask("a.example", NOW), Permission::Defer(until));
        assert_eq!(zones.ask("a.example", until), Permission::Start);
        assert!(matches!(zones.ask("a.example", until), Permission::Defer(_)), "one at a time");
        zones.unanswered("a.example", TOOK, until);
        let until = until.plus_ms(2 * FIRST_PAUSE_MS);
        assert_eq!(zones.ask("a.example", NOW), Permission::Defer(until));
        assert_eq!(zones.ask("a.example", until), Permission::Start);
        zones.answered("a.example", TOOK, until);
        assert!(zones.by_name.is_empty(), "a zone that answers is forgotten");
    }

    #[test]
    fn a_flood_of_zones_stays_bounded() {
        let mut zones = Zones::default();
        for number in 0..(2 * ZONES_MAX) {
            let zone = format!("{number}.example");
            zones.ask(&zone, NOW);
            zones.unanswered(&zone, TOOK, NOW);
        }
        assert!(zones.by_name.len() <= ZONES_MAX);
    }
}
