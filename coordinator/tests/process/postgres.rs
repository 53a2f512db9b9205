//! The coordinator's Postgres is killed under its feet.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::StatusCode;

use crate::program::{Program, command};

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

#[tokio::test]
async fn it_answers_503_while_postgres_is_away_and_goes_on_afterwards() {
    // Another test may have done it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let mut program =
        Program::start(command(&["--data-dir", data_dir.to_str().unwrap(), "--listen", "127.0.0.1:0"]));
    let base = program.line("listening on ", &mut Vec::new());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let ready = format!("{base}/readyz");
    until(&client, &ready, StatusCode::OK).await;
    let pid_file = std::fs::read_to_string(data_dir.join("postgres/postmaster.pid")).unwrap();
    let postmaster = Pid::from_raw(pid_file.lines().next().unwrap().parse().unwrap());

    // Stopped first, so that it is surely away when it is asked; then killed, so that it must be started anew.
    kill(postmaster, Signal::SIGQUIT).unwrap();
    let away = until(&client, &ready, StatusCode::SERVICE_UNAVAILABLE).await;
    assert!(away.headers().contains_key("retry-after"));
    until(&client, &ready, StatusCode::OK).await;
    let pid_file = std::fs::read_to_string(data_dir.join("postgres/postmaster.pid")).unwrap();
    let restarted = Pid::from_raw(pid_file.lines().next().unwrap().parse().unwrap());
    assert_ne!(postmaster, restarted);
    kill(restarted, Signal::SIGKILL).unwrap();
    until(&client, &ready, StatusCode::SERVICE_UNAVAILABLE).await;
    until(&client, &ready, StatusCode::OK).await;

    program.signal(Signal::SIGTERM);
    assert_eq!(program.wait().0.code(), Some(0));
}
