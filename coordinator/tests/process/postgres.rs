//! The coordinator's Postgres is killed under its feet.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::StatusCode;

use crate::program::{Program, client, command};

/// Until the API answers with this status; gives the answer.
async fn until(client: &reqwest::Client, url: &str, wanted: StatusCode) -> reqwest::Response {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        let answer = client.get(url).send().await.expect("the coordinator itself always answers");
        if answer.status() == wanted {
            return answer;
        }
    }
    panic!("{url} never answered {wanted}");
}

/// The running postmaster; none while there is none that could serve.
fn postmaster_of(data: &Path) -> Option<Pid> {
    let file = std::fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let ready = file.lines().any(|line| line.trim() == "ready");
    ready.then(|| Pid::from_raw(file.lines().next().unwrap().parse().unwrap()))
}

/// Waits for the one that follows on `old`.
fn next_postmaster(data: &Path, old: Pid) -> Pid {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Some(next) = postmaster_of(data).filter(|next| *next != old) {
            return next;
        }
        std::thread::yield_now();
    }
    panic!("nothing followed on postmaster {old}");
}

#[tokio::test]
async fn it_answers_503_while_postgres_is_away_and_goes_on_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let mut program = Program::start(command(&[
        "--data-dir",
        data_dir.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ]));
    let base = program.line("listening on ", &mut Vec::new());
    let client = client();
    let ready = format!("{base}/readyz");
    until(&client, &ready, StatusCode::OK).await;
    let data = data_dir.join("postgres");
    let postmaster = postmaster_of(&data).unwrap();

    // It cannot start again with such a setting, so it is surely away when it is asked.
    let settings = std::fs::read_to_string(data.join("postgresql.conf")).unwrap();
    std::fs::write(data.join("postgresql.conf"), format!("{settings}\nno_such_setting = on\n"))
        .unwrap();
    kill(postmaster, Signal::SIGQUIT).unwrap();
    let away = until(&client, &ready, StatusCode::SERVICE_UNAVAILABLE).await;
    assert!(away.headers().contains_key("retry-after"));
    std::fs::write(data.join("postgresql.conf"), settings).unwrap();
    until(&client, &ready, StatusCode::OK).await;

    // This time it may be back before anybody noticed.
    let restarted = next_postmaster(&data, postmaster);
    kill(restarted, Signal::SIGKILL).unwrap();
    next_postmaster(&data, restarted);
    until(&client, &ready, StatusCode::OK).await;

    program.signal(Signal::SIGTERM);
    assert_eq!(program.wait().0.code(), Some(0));
}
