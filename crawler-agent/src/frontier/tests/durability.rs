//! What survives a power failure, and files that are damaged.

use std::fs;

use proptest::prelude::*;

use super::*;

/// A copy of the frontier's directory, as a power failure leaves it.
fn copy(world: &World) -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(world.path()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    copy
}

fn last_segment(dir: &Path) -> PathBuf {
    let number = log::segments(dir).unwrap().pop().unwrap();
    dir.join(format!("log-{number:010}"))
}

/// Routes to as many hosts, one change each.
fn route_all(world: &World, routes: std::ops::RangeInclusive<u64>) {
    for seq in routes {
        world.route(seq, &format!("http://h{seq}.org/"));
    }
}

/// Flips a bit of this byte, or cuts everything from it on.
fn damage(bytes: &mut Vec<u8>, at: usize, flip: bool) {
    if flip {
        bytes[at] ^= 0x10;
    } else {
        bytes.truncate(at);
    }
}

/// Bytes of a segment before its records.
const START: usize = 20;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_log_that_ends_anywhere_holds_the_first_changes(
        before in 0u64..4, after in 1u64..12, cut in 0.0..1.0f64, flip in any::<bool>(),
    ) {
        let world = World::new();
        route_all(&world, 1..=before);
        world.frontier().checkpoint().unwrap();
        route_all(&world, before + 1..=before + after);
        let copy = copy(&world);
        let segment = last_segment(copy.path());
        let mut bytes = fs::read(&segment).unwrap();
        let at = (cut * bytes.len() as f64) as usize;
        // Damage before the records is another test's.
        let at = if flip { at.clamp(START, bytes.len() - 1) } else { at };
        damage(&mut bytes, at, flip);
        fs::write(&segment, bytes).unwrap();
        let frontier = Frontier::open(copy.path(), 8).unwrap();
        let counts = frontier.counts().unwrap();
        prop_assert!((before..before + after).contains(&counts.routes_after));
        prop_assert_eq!((counts.queued, counts.hosts), (counts.routes_after, counts.routes_after));
        prop_assert_eq!(with_work(&frontier).unwrap().len() as u64, counts.queued);
        prop_assert_eq!(frontier.epoch(), 7);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_was_synced_is_there_or_the_log_is_refused(
        synced in 1u64..6, after in 0u64..6, at in 0.0..1.0f64, flip in any::<bool>(),
    ) {
        let world = World::new();
        route_all(&world, 1..=synced);
        world.frontier().sync().unwrap();
        route_all(&world, synced + 1..=synced + after);
        let copy = copy(&world);
        let segment = last_segment(copy.path());
        let mut bytes = fs::read(&segment).unwrap();
        // A segment that ends before its first record is like one that was never synced.
        let first = if flip { 0 } else { START };
        let at = first + (at * (bytes.len() - first) as f64) as usize;
        damage(&mut bytes, at, flip);
        fs::write(&segment, &bytes).unwrap();
        match Frontier::open(copy.path(), 8) {
            Ok(frontier) => {
                let kept = frontier.counts().unwrap().routes_after;
                prop_assert!((synced..=synced + after).contains(&kept), "{} routes", kept);
            }
            Err(error) => {
                let error = error.to_string();
                let name = segment.file_name().unwrap().to_str().unwrap();
                prop_assert!(error.contains(name) && error.contains("--rebuild"), "{}", error);
                prop_assert_eq!(fs::read(&segment).unwrap(), bytes, "the segment is untouched");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bytes that are read at start make the file refused with its name; others are not noticed.
    #[test]
    fn a_damaged_file_is_refused_with_its_name(at in 0.0..1.0f64, length in 1_usize..20_000) {
        let (_dir, opened) = open_damaged(at, length);
        if let Err(error) = opened {
            prop_assert!(error.to_string().contains("hosts.redb"), "{error}");
        }
    }
}

/// A frontier with some hosts, of whose file a part is overwritten.
fn open_damaged(at: f64, length: usize) -> (TempDir, Result<Frontier, FrontierError>) {
    let world = World::new();
    route_all(&world, 1..=200);
    world.frontier().checkpoint().unwrap();
    let copy = copy(&world);
    let path = copy.path().join("hosts.redb");
    let mut bytes = fs::read(&path).unwrap();
    let start = (at * bytes.len() as f64) as usize;
    let end = bytes.len().min(start + length);
    bytes[start..end].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let opened = Frontier::open(copy.path(), 8);
    (copy, opened)
}

#[test]
fn a_file_without_its_rows_is_refused() {
    let (_dir, opened) = open_damaged(0.001, usize::MAX / 2);
    let error = opened.err().unwrap();
    assert!(error.to_string().contains("hosts.redb"), "{error}");
}

#[test]
fn a_log_that_ends_with_zeros_is_read_up_to_them() {
    for zeros in [1, 8, 9, 4_096] {
        let world = World::new();
        route_all(&world, 1..=3);
        let copy = copy(&world);
        let segment = last_segment(copy.path());
        let mut bytes = fs::read(&segment).unwrap();
        bytes.extend(std::iter::repeat_n(0, zeros));
        fs::write(&segment, bytes).unwrap();
        let frontier = Frontier::open(copy.path(), 8).unwrap();
        assert_eq!(frontier.counts().unwrap().routes_after, 3);
    }
}

#[test]
fn changes_after_a_gap_in_the_log_are_not_applied() {
    let world = World::new();
    route_all(&world, 1..=3);
    let copy = copy(&world);
    let first = last_segment(copy.path());
    let bytes = fs::read(&first).unwrap();
    let number = log::segments(copy.path()).unwrap().pop().unwrap();
    fs::write(copy.path().join(format!("log-{:010}", number + 1)), &bytes).unwrap();
    fs::write(&first, &bytes[..bytes.len() - 1]).unwrap();
    let frontier = Frontier::open(copy.path(), 8).unwrap();
    assert_eq!(frontier.counts().unwrap().routes_after, 2);
    drop(frontier);
    let again = Frontier::open(copy.path(), 8).unwrap();
    assert_eq!(again.counts().unwrap().routes_after, 2, "the log was started anew");
}

/// A directory whose log has two segments, with one route each. The second one is synced, if at
/// all, after the first.
fn two_segments(is_synced: bool) -> (TempDir, [PathBuf; 2]) {
    let world = World::new();
    world.route(1, "http://h1.org/");
    let first = last_segment(&world.path());
    let before = copy(&world);
    world.frontier().checkpoint().unwrap();
    world.route(2, "http://h2.org/");
    if is_synced {
        world.frontier().sync().unwrap();
    }
    let second = last_segment(&world.path());
    // As if the power had failed before the checkpoint was complete.
    let name = |path: &Path| before.path().join(path.file_name().unwrap());
    fs::copy(&second, name(&second)).unwrap();
    let segments = [name(&first), name(&second)];
    (before, segments)
}

#[test]
fn a_segment_before_one_that_was_synced_is_whole_or_refused() {
    for is_synced in [false, true] {
        let (dir, [first, _]) = two_segments(is_synced);
        let frontier = Frontier::open(dir.path(), 8).unwrap();
        assert_eq!(frontier.counts().unwrap().routes_after, 2);
        drop(frontier);
        for length in [None, Some(0), Some(START / 2), Some(START + 9)] {
            let (dir, [first, _]) = two_segments(is_synced);
            if let Some(length) = length {
                fs::write(&first, &fs::read(&first).unwrap()[..length]).unwrap();
            } else {
                fs::remove_file(&first).unwrap();
            }
            let opened = Frontier::open(dir.path(), 8);
            let opened = opened.map(|frontier| frontier.counts().unwrap().routes_after);
            // The name of the first segment was synced before its records.
            if is_synced || length.is_none() {
                let error = opened.unwrap_err();
                let name = first.file_name().unwrap().to_str().unwrap();
                assert!(error.to_string().contains(name), "{length:?}: {error}");
                assert!(matches!(error, FrontierError::Damaged { .. }), "{length:?}: {error}");
            } else {
                assert_eq!(opened.unwrap(), 0, "{length:?}");
            }
        }
        assert!(!first.exists(), "the former segments are deleted");
    }
}

#[test]
fn a_crash_before_the_old_log_is_deleted_repeats_nothing() {
    let world = World::new();
    route_all(&world, 1..=3);
    let old = last_segment(&world.path());
    let bytes = fs::read(&old).unwrap();
    world.frontier().checkpoint().unwrap();
    let copy = copy(&world);
    fs::write(copy.path().join(old.file_name().unwrap()), bytes).unwrap();
    let frontier = Frontier::open(copy.path(), 8).unwrap();
    let counts = frontier.counts().unwrap();
    assert_eq!((counts.routes_after, counts.queued), (3, 3));
    assert_eq!(log::segments(copy.path()).unwrap().len(), 1);
}

#[test]
fn a_log_without_its_file_is_refused() {
    let world = World::new();
    route_all(&world, 1..=2);
    let copy = copy(&world);
    fs::remove_file(copy.path().join("hosts.redb")).unwrap();
    let error = Frontier::open(copy.path(), 8).err().unwrap();
    assert!(error.to_string().contains("hosts.redb is missing"), "{error}");
}

/// The error of a frontier whose last segment has these bytes instead.
fn error_with_segment(bytes: &[u8]) -> FrontierError {
    let world = World::new();
    let copy = copy(&world);
    let segment = last_segment(copy.path());
    fs::write(&segment, bytes).unwrap();
    let error = Frontier::open(copy.path(), 8).err().unwrap();
    let name = segment.file_name().unwrap().to_str().unwrap();
    assert!(error.to_string().contains(name), "{error}");
    assert_eq!(fs::read(&segment).unwrap(), bytes, "the segment is untouched");
    error
}

#[test]
fn a_log_that_does_not_begin_like_one_is_damaged() {
    for bytes in [&b"a letter to my mother"[..], b"nclog x\n", b"nclog 6\r of records", &[0, 7]] {
        let error = error_with_segment(bytes);
        assert!(matches!(error, FrontierError::Damaged { .. }), "{error}");
    }
}

#[test]
fn a_log_of_another_version_is_no_damage() {
    for (bytes, version) in [("nclog 2\nrecords", 2), ("nclog 10\n", 10)] {
        let error = error_with_segment(bytes.as_bytes());
        assert!(
            matches!(error, FrontierError::Format { found, .. } if found == version),
            "{error}"
        );
    }
}

#[test]
fn links_to_other_hosts_are_decided_before_the_log() {
    // The filter of reported URLs is empty after a restart; the log must not depend on it.
    let mut world = World::new();
    world.route(1, "http://a.org/1");
    world.route(2, "http://a.org/2");
    for _ in 0..2 {
        let item = world.next("http://a.org").unwrap();
        world.finish(&item, other(), &["http://b.org/"]);
    }
    let before = world.results();
    world.restart();
    assert_eq!(world.results(), before);
}

#[test]
fn a_large_queue_passes_through_disk_in_its_order() {
    let mut world = World::new();
    let urls: Vec<String> = (0..500).map(|n| format!("http://a.org/{n}")).collect();
    let many: Vec<(u64, &str)> = (1..).zip(urls.iter().map(String::as_str)).collect();
    world.apply(routes(&many, BOUNDS));
    let mut fetched = Vec::new();
    while let Some(item) = world.next("http://a.org") {
        fetched.push(item.url.to_string());
        world.finish(&item, other(), &["http://a.org/0", "http://a.org/deep"]);
        if fetched.len() % 70 == 0 {
            world.frontier().checkpoint().unwrap();
        }
        if fetched.len() % 90 == 0 {
            world.drop_from_memory();
        }
        if fetched.len() % 200 == 0 {
            world.restart();
        }
    }
    let expected: Vec<String> = urls.into_iter().chain(["http://a.org/deep".into()]).collect();
    assert_eq!(fetched, expected);
}
