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

fn writer(dir: &TempDir, days: u32) -> LogWriter {
    LogWriter { dir: dir.path().to_owned(), days, open: None }
}

#[test]
fn entries_are_kept_by_day_and_read_in_order() {
    let dir = TempDir::new().unwrap();
    let mut writer = writer(&dir, 90);
    for (at, target) in [
        ("2026-11-19T23:59:59Z", "a"),
        ("2026-11-20T00:00:00Z", "b"),
        ("2026-11-20T12:00:00Z", "c"),
    ] {
        writer.write(&entry(at, target)).unwrap();
    }
    assert!(
        dir.path().join("2026-11-19.jsonl").exists()
            && dir.path().join("2026-11-20.jsonl").exists()
    );
    assert_eq!(targets(dir.path(), None), ["a", "b", "c"]);
    assert_eq!(targets(dir.path(), Some("2026-11-20T06:00:00Z")), ["c"]);
}

#[test]
fn old_days_are_deleted_when_a_new_one_starts() {
    let dir = TempDir::new().unwrap();
    let mut writer = writer(&dir, 2);
    for day in 10..=14 {
        writer.write(&entry(&format!("2026-11-{day}T12:00:00Z"), &day.to_string())).unwrap();
    }
    assert_eq!(targets(dir.path(), None), ["12", "13", "14"]);
}

#[test]
fn partial_lines_and_foreign_files_are_skipped() {
    let dir = TempDir::new().unwrap();
    writer(&dir, 90).write(&entry("2026-11-20T12:00:00Z", "a")).unwrap();
    let path = dir.path().join("2026-11-20.jsonl");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"{\"at\":\"2026-11-20T12").unwrap();
    std::fs::write(dir.path().join("notes.txt"), "x").unwrap();
    writer(&dir, 90).write(&entry("2026-11-20T13:00:00Z", "b")).unwrap();
    assert_eq!(targets(dir.path(), None), ["a", "b"]);
    assert!(entries(&dir.path().join("none"), None).is_err());
}
