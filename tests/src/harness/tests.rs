use std::process::Command;
use std::time::Duration;

use super::{HarnessError, Process, RunDirectory, until};

const SOON: Duration = Duration::from_secs(10);

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

#[tokio::test]
async fn a_line_is_waited_for() {
    let run_directory = RunDirectory::open("harness").unwrap();
    let mut process = Process::start(
        "it",
        shell("echo one; echo n=2; sleep 60"),
        &run_directory.path().join("log"),
    )
    .unwrap();
    let number = process
        .line("a number", SOON, |line| line.strip_prefix("n=")?.parse::<u32>().ok())
        .await
        .unwrap();
    assert_eq!(number, 2);
    assert!(process.is_running());
    assert!(process.usage().peak_bytes > 0);
}

#[tokio::test]
async fn an_end_instead_of_the_line_comes_with_the_last_words() {
    let run_directory = RunDirectory::open("harness").unwrap();
    let script = shell("echo one; echo it hurts >&2; exit 3");
    let mut process = Process::start("it", script, &run_directory.path().join("log")).unwrap();
    let error = process.line("two", SOON, |line| (line == "two").then_some(())).await.unwrap_err();
    let HarnessError::Ended { status, said, .. } = error else { panic!("{error}") };
    assert!(status.contains('3') && said.contains("it hurts"), "{status} {said}");
}

#[tokio::test]
async fn a_dropped_process_is_gone() {
    let run_directory = RunDirectory::open("harness").unwrap();
    let process =
        Process::start("it", shell("sleep 60"), &run_directory.path().join("log")).unwrap();
    let id = process.id();
    drop(process);
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
}

#[tokio::test]
async fn a_stopped_process_says_how_it_ended() {
    let run_directory = RunDirectory::open("harness").unwrap();
    let script = shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done");
    let mut process = Process::start("it", script, &run_directory.path().join("log")).unwrap();
    process.line("ready", SOON, |line| (line == "ready").then_some(())).await.unwrap();
    assert_eq!(process.stop(SOON).await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn what_is_read_after_the_end_belongs_to_it() {
    let run_directory = RunDirectory::open("harness").unwrap();
    let script = shell("echo one; (sleep 0.3; echo two) & exit 3");
    let mut process = Process::start("it", script, &run_directory.path().join("log")).unwrap();
    let (status, output) = process.finish(SOON).await.unwrap();
    assert_eq!((status.code(), output), (Some(3), vec!["one".to_owned(), "two".to_owned()]));
}

#[tokio::test]
async fn a_late_level_tells_what_was_seen() {
    let mut looks = 0;
    let look = || {
        looks += 1;
        std::future::ready(Err::<(), _>(format!("look {}", looks.min(1))))
    };
    let error = until("a miracle", Duration::from_millis(60), look).await.unwrap_err();
    assert_eq!(error.to_string(), "no a miracle within 60ms; last seen: look 1");
}

#[test]
fn a_room_goes_with_its_owner() {
    let run_directory = RunDirectory::open("harness").unwrap();
    let path = run_directory.path().to_path_buf();
    std::fs::write(path.join("file"), "x").unwrap();
    drop(run_directory);
    assert!(!path.exists());
    let kept = RunDirectory::open("harness").unwrap().keep();
    assert!(kept.exists());
    std::fs::remove_dir_all(kept).unwrap();
}
