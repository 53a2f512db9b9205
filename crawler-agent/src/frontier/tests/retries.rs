//! URLs that fail, and hosts that are given up.

use super::*;
use crate::clock;

const HOUR_MS: i64 = 3_600_000;

#[test]
fn a_failed_url_stays_first_and_counts_its_attempts() {
    let world = World::new();
    world.route(1, "http://a.org/1");
    world.route(2, "http://a.org/2");
    let item = world.next("http://a.org").unwrap();
    let key = item.queue_key();
    let due = UnixMillis(5);
    let effect = world.apply(Change::Retry { host: item.host, key, due, failures: 1 });
    assert!(effect.has_queued);
    let retried = world.next("http://a.org").unwrap();
    assert_eq!((retried.url, retried.attempts), (item.url, 1));
    let snapshot = world.frontier().snapshot(world.host("http://a.org")).unwrap().unwrap();
    assert_eq!((snapshot.record.due, snapshot.record.failures), (UnixMillis(5), 1));
}

#[test]
fn a_host_that_is_given_up_ends_all_its_urls() {
    let world = World::new();
    let urls: Vec<String> = (0..1_200).map(|n| format!("http://a.org/{n}")).collect();
    let many: Vec<(u64, &str)> = (1..).zip(urls.iter().map(String::as_str)).collect();
    world.apply(routes(&many, Bounds { pages_a_host: 10_000, depth: 1 }));
    let host = world.host("http://a.org");
    let give_up = Change::GiveUp { host, failure: gone(), failures: 10, at: NOW };
    assert_eq!(world.apply(give_up.clone()).progress, Progress::Partial);
    assert_eq!(world.apply(give_up.clone()).progress, Progress::Partial);
    let last = world.apply(give_up.clone());
    assert_eq!(last.progress, Progress::Complete);
    assert_eq!(last.revisit_base, Some(NOW), "they are visited again, like pages");
    assert!(!world.apply(give_up).results);
    let snapshot = world.frontier().snapshot(host).unwrap().unwrap();
    assert_eq!(snapshot.record.due, NOW.plus_ms(6 * HOUR_MS));
    let first = snapshot.next_page.unwrap();
    assert_eq!((first.url.as_str(), first.known.unwrap().record.sha256), (urls[0].as_str(), None));
    let counts = world.frontier().counts().unwrap();
    assert_eq!((counts.queued, counts.results, counts.fetched), (0, 1_200, 1_200));
}

#[test]
fn a_new_url_shortens_a_rest_of_days_to_six_hours_from_the_last_request() {
    for (hours, due) in [(0, 6), (5, 6), (7, 7), (89, 89), (91, 96)] {
        let world = World::new();
        world.route(1, "http://a.org/");
        let host = world.host("http://a.org");
        let failures = 240;
        world.apply(Change::GiveUp { host, failure: gone(), failures, at: NOW });
        let at = NOW.plus_ms(hours * HOUR_MS);
        let due = NOW.plus_ms(due * HOUR_MS);
        for seq in 2..4 {
            let url = format!("http://a.org/{seq}");
            let routes = vec![Route { seq, url, redirects: 0 }];
            let effect = world.apply(Change::Routes { routes, at, bounds: BOUNDS });
            assert_eq!(effect.ready, [(host, due)], "after {hours} hours");
        }
        let record = world.frontier().snapshot(host).unwrap().unwrap().record;
        assert_eq!((record.due, record.failures), (due, failures));
    }
}

#[test]
fn a_known_url_does_not_shorten_a_rest() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let host = world.host("http://a.org");
    world.apply(Change::GiveUp { host, failure: gone(), failures: 240, at: NOW });
    world.route(2, "http://a.org/");
    let record = world.frontier().snapshot(host).unwrap().unwrap().record;
    assert_eq!(record.due, NOW.plus_ms(96 * HOUR_MS));
}

#[test]
fn a_host_that_stays_away_rests_longer_and_longer_up_to_four_days() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let host = world.host("http://a.org");
    for (failures, hours) in [(10, 6), (59, 6), (60, 12), (120, 24), (240, 96), (u32::MAX, 96)] {
        world.apply(Change::GiveUp { host, failure: gone(), failures, at: NOW });
        let record = world.frontier().snapshot(host).unwrap().unwrap().record;
        assert_eq!(record.due, NOW.plus_ms(hours * HOUR_MS), "{failures} failures");
        assert_eq!(record.failures, failures, "the next address is asked");
        assert!(!clock::is_wrong(record.due, NOW), "a restart keeps it");
    }
}
