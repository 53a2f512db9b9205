//! The agent updates itself. The new program is a shell script that says another version and then
//! becomes the real program, so that nothing in the real one is made for tests.

use std::path::PathBuf;

use axum::body::Bytes;
use crawler_agent::{clock, update::TARGET};
use data_encoding::HEXLOWER;
use protocol::{
    key::ReleaseKey,
    release::{self, Program, Release},
};
use semver::Version;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{testbed::TestBed, web::html};

const NAME: &str = "nearcrawl-agent-new";
const DAY_MS: i64 = 24 * 3_600_000;

fn key() -> ReleaseKey {
    ReleaseKey::from_seed([5; 32])
}

/// A program of a version, and what it does before it becomes the real one.
struct Script<'a> {
    version: &'a str,
    on_version: &'a str,
    on_run: &'a str,
}

const GOOD: Script<'_> = Script { version: "9.1.0", on_version: "", on_run: "" };
/// Waits as long as the file `hold` is there, once it has said that it does.
const HOLD: &str = "touch held; while [ -e hold ]; do sleep 0.05; done";

impl TestBed {
    fn file(&self, name: &str) -> PathBuf {
        self.data_dir().parent().unwrap().join(name)
    }

    /// The script, which notes process and arguments of each run.
    fn script(&self, script: &Script<'_>) -> Vec<u8> {
        let Script { version, on_version, on_run } = script;
        let dir = self.file("");
        let real = env!("CARGO_BIN_EXE_nearcrawl-agent");
        let text = format!(
            "#!/bin/sh\ncd '{}'\ncase \"$*\" in\n\
             --version) {on_version}\necho nearcrawl-agent {version}; exit;;\n\
             *--check) ;;\n*) echo \"$$ $*\" >> runs\n{on_run}\n;;\nesac\n\
             exec '{real}' \"$@\"\n",
            dir.display()
        );
        // As long as a program that takes some reads.
        format!("{text}{}", "# padding\n".repeat(30_000)).into_bytes()
    }

    /// Offers a program in a release that `change` alters.
    fn offer(&mut self, program: Vec<u8>, change: impl FnOnce(&mut Release)) {
        self.configure("update", &format!("key = \"{}\"", key().public()));
        let now = clock::now();
        let mut release = Release {
            format: release::FORMAT,
            version: "9.1.0".parse().unwrap(),
            signed_at: now,
            expires_at: now.plus_ms(DAY_MS),
            share_percent: 100,
            programs: vec![Program {
                name: NAME.into(),
                target: TARGET.into(),
                bytes: program.len() as u64,
                sha256: HEXLOWER.encode(&Sha256::digest(&program)),
            }],
        };
        change(&mut release);
        let file = release.sign(&key()).unwrap();
        let files = &mut self.coordinator.state().downloads.files;
        files.insert(release::FILE.into(), file.into());
        files.insert(NAME.into(), program.into());
    }

    fn runs(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.file("runs")).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    fn known(&self) -> Value {
        let text = std::fs::read(self.data_dir().join("programs/current.json"));
        text.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Keyword of the last outcome in the status.
    fn outcome(&self) -> String {
        let status: Value = serde_json::from_str(&self.status()).unwrap_or_default();
        status["update"]["outcome"].as_str().unwrap_or_default().to_owned()
    }

    async fn until_outcome(&self, outcome: &str) {
        self.until(outcome, |bed| bed.outcome() == outcome).await;
    }

    /// Waits until a heartbeat has come after this.
    async fn until_heartbeat(&self) {
        let before = self.coordinator.state().heartbeats.len();
        self.until("a heartbeat", |bed| bed.coordinator.state().heartbeats.len() > before).await;
    }

    /// Crawls a page, which shows that the agent works.
    async fn crawl(&self, path: &str) {
        let url = self.web.page("a1.test", path, html("page"));
        self.coordinator.route(std::slice::from_ref(&url));
        self.until_reported(&[url]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_becomes_another_program_and_its_owner_can_go_back() {
    let mut bed = TestBed::new(1).await;
    let script = bed.script(&GOOD);
    let size = script.len() as u64;
    bed.offer(script, |_| {});
    bed.start_approved().await;
    let pid = bed.pid();
    bed.until("the new program runs", |bed| bed.runs().len() == 1).await;
    bed.until_outcome("trial").await;
    bed.crawl("/1").await;
    let run = &bed.runs()[0];
    let arguments = run.strip_prefix(&format!("{pid} run --join-token-file ")).unwrap();
    assert!(arguments.contains("--config"), "{run}");
    let known = bed.known();
    assert_eq!(known["in_use"]["version"], "9.1.0");
    assert_eq!(
        (&known["in_use"]["state"], &known["in_use"]["starts"]),
        (&"trial".into(), &1.into())
    );
    let status: Value = serde_json::from_str(&bed.status()).unwrap();
    assert!(status["bytes_today"].as_u64().unwrap() > size, "the budget counts: {status}");
    let said = bed.run(&["status"]).await;
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(said.status.success() && text.contains("updates: version 9.1.0 is on trial"), "{text}");
    assert!(bed.stop().await.0.success());
    assert_eq!(bed.known()["in_use"]["starts"], 0, "the owner's stop says nothing against it");

    // It stays in use although its release has expired and is not offered any more.
    bed.coordinator.state().downloads.files.clear();
    bed.start_with(&["run"]).await;
    bed.until("it runs again", |bed| bed.runs().len() == 2).await;
    bed.crawl("/2").await;
    assert!(bed.stop().await.0.success());
    bed.configure("update", "mode = \"off\"");
    bed.start_with(&["run"]).await;
    bed.crawl("/3").await;
    assert_eq!(bed.runs().len(), 2, "the installed program runs");
    assert!(bed.stop().await.0.success());
    bed.configure("update", "mode = \"notify\"");
    std::fs::remove_dir_all(bed.data_dir().join("programs")).unwrap();
    let script = bed.script(&GOOD);
    bed.offer(script, |_| {});
    bed.start_with(&["run"]).await;
    bed.until_outcome("offered").await;
    assert!(bed.stop().await.0.success());
    assert_eq!(bed.runs().len(), 2);
}

/// Kills the agent when it has got to a step, and starts it again.
async fn kill_at(script: &Script<'_>, holds_download: bool, step: impl Fn(&TestBed) -> bool) {
    let mut bed = TestBed::new(1).await;
    std::fs::write(bed.file("hold"), "").unwrap();
    bed.coordinator.state().downloads.holds = holds_download;
    let program = bed.script(script);
    bed.offer(program, |_| {});
    bed.start_approved().await;
    bed.until("the step", step).await;
    bed.kill().await;
    std::fs::remove_file(bed.file("hold")).unwrap();
    bed.coordinator.change(|state| state.downloads.holds = false);
    let runs = bed.runs().len();
    bed.start_with(&["run"]).await;
    bed.until("the new program runs", |bed| bed.runs().len() > runs).await;
    bed.until_outcome("trial").await;
    bed.crawl("/").await;
    assert!(bed.stop().await.0.success());
    let files = std::fs::read_dir(bed.data_dir().join("programs")).unwrap().count();
    assert_eq!(files, 2, "nothing is left over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_mid_download_leaves_a_program_that_runs() {
    let has_half = |bed: &TestBed| bed.data_dir().join("programs/download").exists();
    kill_at(&GOOD, true, has_half).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_before_the_program_is_in_use_leaves_one_that_runs() {
    let script = Script { on_version: HOLD, ..GOOD };
    kill_at(&script, false, |bed| bed.file("held").exists()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_of_the_new_program_leaves_one_that_runs() {
    let script = Script { on_run: HOLD, ..GOOD };
    kill_at(&script, false, |bed| bed.file("held").exists()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_ends_at_three_starts_is_rejected_for_good() {
    let mut bed = TestBed::new(1).await;
    let program = bed.script(&Script { on_run: "kill -9 $$", ..GOOD });
    bed.offer(program, |_| {});
    bed.start_approved().await;
    for runs in 1..=3 {
        // As the service manager does.
        bed.ended().await;
        assert_eq!(bed.runs().len(), runs);
        bed.start_with(&["run"]).await;
    }
    bed.until_outcome("rejected").await;
    bed.crawl("/").await;
    assert_eq!(bed.known()["rejected"][0], "9.1.0");
    assert!(bed.stop().await.0.success());
    let program = bed.script(&Script { version: "9.2.0", ..GOOD });
    bed.offer(program, |release| release.version = Version::new(9, 2, 0));
    bed.start_with(&["run"]).await;
    bed.until("a newer one is tried", |bed| bed.runs().len() == 4).await;
    bed.crawl("/2").await;
}

/// Its exit code would keep the service stopped.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_on_trial_that_fails_starts_anew_as_the_same_process() {
    let mut bed = TestBed::new(1).await;
    let program = bed.script(&Script { on_run: HOLD, ..GOOD });
    std::fs::write(bed.file("hold"), "").unwrap();
    bed.offer(program, |_| {});
    bed.start_approved().await;
    bed.until("the new program starts", |bed| bed.file("held").exists()).await;
    bed.coordinator.state().refuse_all = Some((403, "this agent was revoked"));
    std::fs::remove_file(bed.file("hold")).unwrap();
    assert_eq!(bed.ended().await.code(), Some(77), "in the end the installed program says it");
    assert_eq!(bed.runs().len(), 3);
    bed.coordinator.state().refuse_all = None;
    bed.start_with(&["run"]).await;
    bed.until_outcome("rejected").await;
    bed.crawl("/").await;
    assert_eq!(bed.runs().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_release_is_named_and_the_agent_goes_on() {
    type Change = fn(&mut Release);
    let cases: [(&str, Change); 7] = [
        ("target", |release| release.programs[0].target = "pdp11".into()),
        ("share", |release| release.share_percent = 0),
        ("not_newer", |release| release.version = Version::new(0, 0, 1)),
        ("expired", |release| release.expires_at = clock::now()),
        ("older", |release| release.signed_at = clock::now().plus_ms(-DAY_MS)),
        ("content", |release| release.programs[0].sha256 = "0".repeat(64)),
        ("content", |release| release.programs[0].bytes -= 1),
    ];
    let mut bed = TestBed::new(1).await;
    let script = bed.script(&GOOD);
    bed.offer(script.clone(), |_| {});
    bed.coordinator.state().downloads.files.remove(release::FILE);
    bed.start_approved().await;
    bed.until_outcome("no_release").await;
    let check = async |bed: &mut TestBed, outcome: &str| {
        assert!(bed.stop().await.0.success());
        std::fs::remove_file(bed.data_dir().join("status.json")).unwrap();
        bed.start_with(&["run"]).await;
        bed.until_outcome(outcome).await;
    };
    for (outcome, change) in cases {
        bed.offer(script.clone(), change);
        check(&mut bed, outcome).await;
    }
    let truncated = Bytes::copy_from_slice(&script[..script.len() / 3]);
    bed.offer(script.clone(), |_| {});
    bed.coordinator.state().downloads.files.insert(NAME.into(), truncated);
    check(&mut bed, "content").await;
    let other = bed.script(&Script { version: "9.0.0", ..GOOD });
    bed.offer(other, |_| {});
    check(&mut bed, "examination").await;
    bed.offer(b"no program".to_vec(), |_| {});
    check(&mut bed, "examination").await;
    bed.coordinator.state().downloads.files.insert(release::FILE.into(), "{}".into());
    check(&mut bed, "unreadable").await;
    assert_eq!(bed.known()["in_use"], Value::Null);
    // A directory that cannot be written, also for root.
    let programs = bed.data_dir().join("programs");
    std::fs::remove_dir_all(&programs).unwrap();
    std::fs::write(programs, "").unwrap();
    bed.offer(script.clone(), |_| {});
    check(&mut bed, "file").await;
    bed.crawl("/").await;
    assert!(bed.runs().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_was_changed_on_the_disk_is_not_run() {
    let mut bed = TestBed::new(1).await;
    let script = bed.script(&GOOD);
    bed.offer(script, |_| {});
    bed.start_approved().await;
    bed.until("the new program runs", |bed| bed.runs().len() == 1).await;
    bed.until_heartbeat().await;
    assert!(bed.stop().await.0.success());
    bed.coordinator.state().downloads.files.clear();
    let path = bed.data_dir().join("programs/nearcrawl-agent-9.1.0");
    std::fs::write(&path, "#!/bin/sh\ntouch evil\n").unwrap();
    bed.start_with(&["run"]).await;
    bed.crawl("/").await;
    assert_eq!((bed.runs().len(), bed.known()["in_use"].clone()), (1, Value::Null));
    assert_eq!(bed.known()["rejected"][0], "9.1.0");
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_downloaded_while_the_owner_pauses_the_agent() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    assert!(bed.run(&["pause"]).await.status.success());
    assert!(bed.stop().await.0.success());
    let script = bed.script(&GOOD);
    bed.offer(script, |_| {});
    bed.coordinator.state().downloads.holds = true;
    bed.start_with(&["run"]).await;
    bed.until_heartbeat().await;
    assert_eq!(bed.coordinator.state().downloads.releases_asked, 0);
    assert!(bed.run(&["resume"]).await.status.success());
    bed.until("the download begins", |bed| bed.data_dir().join("programs/download").exists()).await;
    assert!(bed.run(&["pause"]).await.status.success());
    bed.until_outcome("cut_off").await;
    assert!(!bed.data_dir().join("programs/download").exists());
    assert_eq!(bed.coordinator.state().downloads.programs_begun, 1);
}
