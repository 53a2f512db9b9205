use tempfile::TempDir;

use super::*;

fn entry(at: &str, target: &str) -> ActivityEntry {
    ActivityEntry {
        at: at.parse().unwrap(),
        kind: Activity::Page,
        target: target.into(),
        address: Some("192.0.2.1".parse().unwrap()),
        outcome: "200".into(),
        bytes: 5,
        ms: 6,
    }
}

fn targets(dir: &Path, since: Option<&str>) -> Vec<String> {
    entries(dir, since.map(|at| at.parse().unwrap())).unwrap().map(|entry| entry.target).collect()
}

/// Writes these entries, given by time and target.
fn write(dir: &TempDir, days: u32, lines: &[(&str, &str)]) {
    let mut writer = LogWriter::new(dir.path(), days);
    for (at, target) in lines {
        writer.add(&entry(at, target)).unwrap();
    }
    writer.write_batch().unwrap();
}

#[test]
fn entries_are_kept_by_day_and_read_in_order() {
    let dir = TempDir::new().unwrap();
    let lines = [
        ("2026-11-19T23:59:59Z", "a"),
        ("2026-11-20T00:00:00Z", "b"),
        ("2026-11-20T12:00:00Z", "c"),
    ];
    write(&dir, 90, &lines);
    assert!(dir.path().join("2026-11-20.jsonl").exists());
    assert_eq!(targets(dir.path(), None), ["a", "b", "c"]);
    assert_eq!(targets(dir.path(), Some("2026-11-20T06:00:00Z")), ["c"]);
}

#[test]
fn ended_days_are_compressed_and_can_be_read() {
    let dir = TempDir::new().unwrap();
    let entries: Vec<(String, String)> = (0..10_000)
        .map(|n| (format!("2026-11-19T12:{:02}:{:02}Z", n / 60 % 60, n % 60), format!("url-{n}")))
        .collect();
    let lines: Vec<(&str, &str)> =
        entries.iter().map(|(at, target)| (at.as_str(), target.as_str())).collect();
    write(&dir, 90, &lines);
    let plain = dir.path().join("2026-11-19.jsonl");
    let size = std::fs::metadata(&plain).unwrap().len();
    write(&dir, 90, &[("2026-11-20T00:00:01Z", "next")]);
    assert!(!plain.exists());
    let packed = dir.path().join("2026-11-19.jsonl.zst");
    assert!(std::fs::metadata(&packed).unwrap().len() < size / 5);
    let found = targets(dir.path(), None);
    assert_eq!(found.len(), 10_001);
    assert_eq!((found[0].as_str(), found[10_000].as_str()), ("url-0", "next"));
    assert_eq!(targets(dir.path(), Some("2026-11-20T00:00:00Z")), ["next"]);
}

#[test]
fn lines_of_a_day_that_is_being_packed_are_not_lost() {
    let dir = TempDir::new().unwrap();
    let mut writer = LogWriter::new(dir.path(), 90);
    writer.add(&entry("2026-11-19T23:00:00Z", "a")).unwrap();
    writer.write_batch().unwrap();
    writer.add(&entry("2026-11-19T23:59:59Z", "b")).unwrap();
    writer.delete_old("2026-11-20".parse().unwrap()).unwrap();
    writer.finish_packing();
    assert!(dir.path().join("2026-11-19.jsonl.zst").exists());
    // It was noted before midnight and arrives later.
    writer.add(&entry("2026-11-19T23:59:59Z", "c")).unwrap();
    writer.write_batch().unwrap();
    assert_eq!(targets(dir.path(), None), ["a", "b", "c"]);
}

#[test]
fn lines_do_not_wait_while_an_ended_day_is_packed() {
    let dir = TempDir::new().unwrap();
    // Whoever reads it waits until somebody writes to it.
    let plain = dir.path().join("2026-11-19.jsonl");
    nix::unistd::mkfifo(&plain, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut writer = LogWriter::new(dir.path(), 90);
    writer.add(&entry("2026-11-20T00:00:00Z", "next")).unwrap();
    writer.write_batch().unwrap();
    assert!(dir.path().join("2026-11-20.jsonl").metadata().unwrap().len() > 0);
    let line = serde_json::to_vec(&entry("2026-11-19T12:00:00Z", "before")).unwrap();
    OpenOptions::new().write(true).open(&plain).unwrap().write_all(&line).unwrap();
    writer.finish_packing();
    assert_eq!(targets(dir.path(), None), ["before", "next"]);
}

#[test]
fn a_packed_day_keeps_each_entry_once() {
    let dir = TempDir::new().unwrap();
    let plain = dir.path().join("2026-11-19.jsonl");
    write(&dir, 90, &[("2026-11-19T12:00:00Z", "a")]);
    let content = std::fs::read(&plain).unwrap();
    write(&dir, 90, &[("2026-11-20T12:00:00Z", "c")]);
    // As if the process had been killed before it deleted the file.
    std::fs::write(&plain, content).unwrap();
    write(&dir, 90, &[("2026-11-21T12:00:00Z", "d")]);
    assert_eq!(targets(dir.path(), None), ["a", "c", "d"]);
    // The clock is set back, and the day gets further entries.
    write(&dir, 90, &[("2026-11-19T13:00:00Z", "b")]);
    write(&dir, 90, &[("2026-11-22T12:00:00Z", "e")]);
    assert_eq!(targets(dir.path(), None), ["a", "b", "c", "d", "e"]);
}

#[test]
fn many_lines_are_written_in_batches_and_none_is_lost() {
    let dir = TempDir::new().unwrap();
    let log = ActivityLog::start(dir.path(), 90).unwrap();
    let timing = lasted(Duration::ZERO);
    let target = "x".repeat(100);
    for _ in 0..1_000 {
        log.note(Activity::Page, &target, None, "200", 0, timing);
    }
    log.flush(Duration::from_secs(30));
    assert_eq!(targets(dir.path(), None).len(), 1_000);
}

#[test]
fn what_ends_or_is_cut_off_is_noted_and_what_is_not_sent_is_not() {
    let dir = TempDir::new().unwrap();
    let log = ActivityLog::start(dir.path(), 90).unwrap();
    let address = IpAddr::from([192, 0, 2, 1]);
    log.begin(Activity::Page, "ended", address).end("200", 5, lasted(Duration::from_millis(6)));
    log.begin(Activity::Page, "withheld", address).withheld();
    drop(log.begin(Activity::Robots, "cut", address));
    log.flush(Duration::from_secs(30));
    let noted: Vec<ActivityEntry> = entries(dir.path(), None).unwrap().collect();
    assert_eq!(noted.len(), 2);
    assert_eq!((noted[0].target.as_str(), noted[0].outcome.as_str()), ("ended", "200"));
    assert_eq!((noted[0].bytes, noted[0].ms), (5, 6));
    assert_eq!((noted[1].target.as_str(), noted[1].outcome.as_str()), ("cut", "cut off"));
    assert_eq!((noted[1].kind, noted[1].address), (Activity::Robots, Some(address)));
}

#[test]
fn old_days_are_deleted_by_the_time_that_is_given_and_not_by_the_clock() {
    let dir = TempDir::new().unwrap();
    for day in 10..=14 {
        let at = format!("2020-11-{day}T12:00:00Z");
        write(&dir, 2, &[(at.as_str(), day.to_string().as_str())]);
    }
    // So that no file is at two places while it is read.
    pack::pack_before(dir.path(), "2020-11-15".parse().unwrap()).unwrap();
    let log = ActivityLog::start(dir.path(), 2).unwrap();
    log.note(Activity::Page, "now", None, "200", 0, lasted(Duration::ZERO));
    log.flush(Duration::from_secs(30));
    assert_eq!(targets(dir.path(), None), ["10", "11", "12", "13", "14", "now"]);
    let at = |text: &str| clock::unix_millis(text.parse().unwrap());
    log.delete_old(at("2020-11-14T00:00:00Z"));
    log.delete_old(at("2020-11-14T23:59:59Z"));
    log.flush(Duration::from_secs(30));
    assert_eq!(targets(dir.path(), None), ["12", "13", "14", "now"]);
    log.delete_old(at("2020-11-15T00:00:00Z"));
    log.flush(Duration::from_secs(30));
    assert_eq!(targets(dir.path(), None), ["13", "14", "now"]);
}

#[test]
fn a_write_that_failed_half_way_takes_no_other_entry_with_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("2026-11-20.jsonl");
    std::fs::write(&path, "{\"at\":\"2026-11-20T11").unwrap();
    let mut writer = LogWriter::new(dir.path(), 90);
    let day = "2026-11-20".parse().unwrap();
    // A file that is open for reading only stands for a disk that is full for a while.
    writer.open = Some((day, File::open(&path).unwrap()));
    writer.add(&entry("2026-11-20T12:00:00Z", "lost")).unwrap();
    writer.write_batch().unwrap_err();
    writer.add(&entry("2026-11-20T13:00:00Z", "next")).unwrap();
    writer.write_batch().unwrap();
    assert_eq!(targets(dir.path(), None), ["next"]);
}

#[test]
fn partial_lines_and_foreign_files_are_skipped() {
    let dir = TempDir::new().unwrap();
    write(&dir, 90, &[("2026-11-20T12:00:00Z", "a")]);
    let path = dir.path().join("2026-11-20.jsonl");
    std::fs::write(dir.path().join("2026-11-19.tmp"), "not all of a day").unwrap();
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"{\"at\":\"2026-11-20T12").unwrap();
    std::fs::write(dir.path().join("notes.txt"), "x").unwrap();
    write(&dir, 90, &[("2026-11-20T13:00:00Z", "b")]);
    assert_eq!(targets(dir.path(), None), ["a", "b"]);
    assert!(entries(&dir.path().join("none"), None).is_err());
}
