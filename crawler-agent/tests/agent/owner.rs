//! The owner's commands, hours and limits.

use std::{os::unix::fs::PermissionsExt as _, time::Duration};

use jiff::{ToSpan as _, Zoned};
use model::AgentState;
use protocol::{BundleOffer, page::Outcome};

use crate::{
    coordinator::TOKEN,
    testbed::TestBed,
    web::{Answer, html},
};

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The last line on stderr, which is the error message; log lines stand before it.
fn error_message(output: &std::process::Output) -> String {
    stderr(output).lines().last().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_one_line_and_an_exit_code() {
    let bed = TestBed::new(1).await;
    let unreadable = bed.run(&["run", "--join-token-file", &bed.token_file("wrong")]).await;
    assert_eq!(unreadable.status.code(), Some(64), "{}", stderr(&unreadable));
    let unknown = TOKEN.replacen("nc-b", "nc-c", 1);
    assert_ne!(unknown, *TOKEN);
    let wrong = bed.run(&["run", "--join-token-file", &bed.token_file(&unknown)]).await;
    assert_eq!(wrong.status.code(), Some(77), "{}", stderr(&wrong));
    assert!(error_message(&wrong).contains("join token is not known"), "{}", stderr(&wrong));
    for (status, detail) in [
        (409, "the agent's clock is 25 minutes ahead; set it, for example with NTP"),
        (426, "the agent speaks protocol 11, this coordinator up to 1: update the coordinator"),
    ] {
        bed.coordinator.state().refuse_all = Some((status, detail));
        let refused = bed.run(&["join", "--join-token-file", &bed.token_file(&TOKEN)]).await;
        assert_eq!(refused.status.code(), Some(77));
        assert!(error_message(&refused).ends_with(detail), "{}", stderr(&refused));
    }
    bed.coordinator.state().refuse_all = None;
    let without = bed.run(&["run"]).await;
    assert!(error_message(&without).contains("--join-token-file"), "{}", stderr(&without));
    for command in ["status", "finish"] {
        let never = bed.run(&[command]).await;
        assert_eq!(never.status.code(), Some(3), "{command}: {}", stderr(&never));
        assert!(error_message(&never).contains("has not enrolled yet"), "{}", stderr(&never));
    }
    std::fs::remove_dir_all(bed.data_dir()).unwrap();
    let nothing = bed.run(&["log"]).await;
    let said = error_message(&nothing);
    assert!(said.contains("no agent has run") && said.contains("--data-dir"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_in_the_configuration_name_their_location() {
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "host_delay = 5");
    let wrong = bed.run(&["run"]).await;
    assert_eq!(wrong.status.code(), Some(64));
    let said = error_message(&wrong);
    assert!(said.contains("agent.toml, line") && said.contains("host_delay"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_agents_cannot_share_a_directory() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    let second = bed.run(&["run"]).await;
    assert_eq!(second.status.code(), Some(73), "{}", stderr(&second));
    assert!(error_message(&second).contains("another agent"), "{}", stderr(&second));
}

#[tokio::test(flavor = "multi_thread")]
async fn log_and_status_show_what_was_done() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/page", html("x"));
    let joined = bed.run(&["join", "--join-token-file", &bed.token_file(&TOKEN)]).await;
    let printed = String::from_utf8_lossy(&joined.stdout);
    assert!(printed.starts_with("enrolled as agt_1 (pending)\nkey fingerprint "), "{printed}");
    bed.coordinator.approve();
    bed.start_with(&["run"]).await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until_reported(std::slice::from_ref(&url)).await;
    // The activity log is written by a thread of its own.
    let log = loop {
        let log = bed.run(&["log", "--since", "1h", "--format", "csv"]).await;
        let log = String::from_utf8(log.stdout).unwrap();
        if log.lines().count() >= 3 {
            break log;
        }
    };
    assert!(log.contains(&format!("page,\"{url}\",127.1.0.1,\"200\"")), "{log}");
    assert!(log.contains("robots,") && log.contains("\"404\""), "{log}");
    let none = bed.run(&["log", "--contains", "elsewhere"]).await;
    assert_eq!(String::from_utf8_lossy(&none.stdout), "");
    let status = loop {
        let status = bed.run(&["status", "--json"]).await;
        let json: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        // The page, and the missing sitemap.
        if json["fetched"] == 2 && json["idle"] == "nothing_to_do" {
            break status;
        }
    };
    assert!(status.status.success());
    let (ended, _) = bed.stop().await;
    assert!(ended.success());
    let gone = bed.run(&["status"]).await;
    assert_eq!(gone.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&gone.stdout).contains("not running"));
}

/// Hours that began six hours ago, and ended three hours ago.
fn over() -> String {
    let now = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
    let start = &now - 6.hours();
    let end = &now - 3.hours();
    let span = format!("daily {}-{}", start.strftime("%H:%M"), end.strftime("%H:%M"));
    format!("spans = [{span:?}]")
}

#[tokio::test(flavor = "multi_thread")]
async fn packages_wait_for_the_owners_hours_or_command() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/", html("x"));
    bed.coordinator.change(|state| state.refuse_packages = Some(503));
    bed.start_approved().await;
    bed.coordinator.route(&[url]);
    bed.until("the page is fetched", |bed| bed.web.count("a1.test", "/") == 1).await;
    assert!(bed.stop().await.0.success());
    bed.coordinator.change(|state| state.refuse_packages = None);
    bed.configure("", &over());
    bed.start().await;
    bed.until("the agent says that it sleeps", |bed| bed.coordinator.state().asleep()).await;
    assert!(bed.stop().await.0.success());
    assert!(bed.coordinator.state().packages.is_empty());
    bed.start().await;
    until_running(&bed).await;
    let finish = bed.run(&["finish"]).await;
    assert_eq!(String::from_utf8_lossy(&finish.stdout), "finishing\n", "{}", stderr(&finish));
    assert_eq!(bed.ended().await.code(), Some(0));
    assert!(!bed.coordinator.state().packages.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched_outside_the_owners_hours() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/", html("x"));
    bed.start_approved().await;
    bed.run(&["pause"]).await;
    until_status(&bed, "paused_by_owner").await;
    bed.coordinator.route(&[url]);
    let has_route = |bed: &TestBed| {
        bed.coordinator.state().heartbeats.last().is_some_and(|sent| sent.routes_after == 1)
    };
    bed.until("the agent has a URL to fetch", has_route).await;
    assert!(bed.stop().await.0.success());
    bed.run(&["resume"]).await;
    bed.configure("", &over());
    bed.coordinator.state().heartbeats.clear();
    bed.start().await;
    bed.until("the agent says that it sleeps", |bed| bed.coordinator.state().asleep()).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(
        bed.coordinator.state().heartbeats.len(),
        1,
        "no heartbeats are sent until the span starts"
    );
    assert!(bed.web.log().hosts.is_empty());
    let status = bed.run(&["status"]).await;
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(
        said.contains("not crawling: outside the hours in which it may work, until 20"),
        "{said}"
    );
    let (ended, took) = bed.stop().await;
    assert!(ended.success() && took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_hours_is_announced_again_where_the_coordinator_was_away() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    assert!(bed.stop().await.0.success());
    bed.configure("", &over());
    bed.coordinator.change(|state| {
        state.refuse_all = Some((503, "restarting"));
        state.calls_refused = 0;
    });
    bed.start().await;
    bed.until("a call was refused", |bed| bed.coordinator.state().calls_refused > 0).await;
    until_status(&bed, "asleep").await;
    assert!(bed.status().contains("\"unreachable\": null"), "{}", bed.status());
    bed.coordinator.change(|state| state.refuse_all = None);
    bed.until("the agent says that it sleeps", |bed| bed.coordinator.state().asleep()).await;
    assert!(bed.stop().await.0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_owners_hours_cuts_requests_off() {
    let mut bed = TestBed::new(1).await;
    // The agent needs some seconds for its start.
    let now = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
    let end = (&now + 1.minute() + 10.seconds()).round(jiff::Unit::Minute).unwrap();
    let start = &now - 6.hours();
    let span = format!("daily {}-{}", start.strftime("%H:%M"), end.strftime("%H:%M"));
    bed.configure("", &format!("spans = [{span:?}]"));
    let slow = Answer { takes: Duration::from_secs(25), ..html("slow") };
    let url = bed.web.page("a1.test", "/slow", slow);
    bed.start_approved().await;
    let left = Duration::try_from(end.duration_since(&Zoned::now())).unwrap();
    tokio::time::sleep(left.saturating_sub(Duration::from_secs(10))).await;
    bed.coordinator.route(&[url]);
    bed.until("the request is under way", |bed| bed.web.count("a1.test", "/slow") == 1).await;
    let host = "http://elsewhere.test".to_owned();
    let offer = BundleOffer { number: 5, host, keeps_times: true, is_late: false };
    bed.coordinator.change(|state| {
        state.holds_bundles = true;
        state.offers.push(offer);
    });
    let is_reading = |bed: &TestBed| bed.coordinator.state().bundles_being_read == 1;
    bed.until("it reads a bundle", is_reading).await;
    bed.until("the agent says that it sleeps", |bed| bed.coordinator.state().asleep()).await;
    let sent = bed.coordinator.state().heartbeats.len();
    bed.until("the request is cut off", |bed| bed.web.seen("a1.test").in_flight == 0).await;
    let late = end.duration_until(&Zoned::now());
    assert!(late < jiff::SignedDuration::from_secs(10), "cut off {late:?} after the end");
    let cut_off = |bed: &TestBed| bed.coordinator.state().bundles_being_read == 0;
    bed.until("the bundle is cut off", cut_off).await;
    assert_eq!(bed.coordinator.state().heartbeats.len(), sent, "it sends nothing more");
    assert_eq!(bed.web.count("a1.test", "/slow"), 1);
    assert!(bed.stop().await.0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_pauses_and_resumes() {
    let mut bed = TestBed::new(1).await;
    let early = bed.run(&["pause"]).await;
    assert!(error_message(&early).contains("no agent has run"), "{}", stderr(&early));
    let urls: Vec<String> =
        (0..2).map(|n| bed.web.page("a1.test", &format!("/{n}"), html("x"))).collect();
    bed.web.name_sitemap("a1.test", "/0");
    bed.start_approved().await;
    bed.coordinator.route(&urls[..1]);
    bed.until_reported(&urls[..1]).await;
    let paused = bed.run(&["pause"]).await;
    assert_eq!(String::from_utf8_lossy(&paused.stdout), "paused\n", "{}", stderr(&paused));
    until_status(&bed, "paused_by_owner").await;
    // The pause outlives the process.
    bed.stop().await;
    bed.start().await;
    bed.coordinator.route(&urls[1..]);
    until_status(&bed, "paused_by_owner").await;
    assert_eq!(bed.web.seen("a1.test").fetches.len(), 2, "robots.txt and one page");
    let resumed = bed.run(&["resume"]).await;
    assert_eq!(String::from_utf8_lossy(&resumed.stdout), "resumed\n");
    bed.until_reported(&urls).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_used_up_lasts_until_the_next_day() {
    let mut bed = TestBed::new(1).await;
    let urls: Vec<String> =
        (0..9).map(|n| bed.web.page("a1.test", &format!("/{n}"), html("x"))).collect();
    // Half of the world has noon, the other half midnight: no test runs into the next day of both.
    let hour = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).hour();
    let zone = if (6..18).contains(&hour) { "Etc/UTC" } else { "Etc/GMT+12" };
    bed.configure("", &format!("zone = {zone:?}"));
    bed.configure("budget", "pages_per_day = 4");
    bed.start_approved().await;
    bed.coordinator.route(&urls);
    until_status(&bed, "used_up").await;
    let requests = |bed: &TestBed| bed.web.seen("a1.test").fetches.values().sum::<u32>();
    assert_eq!(requests(&bed), 4, "robots.txt and three pages");
    bed.until_reported(&urls[..3]).await;
    let status = bed.run(&["status"]).await;
    let said = String::from_utf8(status.stdout).unwrap();
    assert!(said.contains("the requests of this day are used up, until 20"), "{said}");
    assert!(said.contains("today 4 requests"), "{said}");
    let reason = |bed: &TestBed| {
        let state = bed.coordinator.state();
        state.heartbeats.last().and_then(|heartbeat| heartbeat.status.idle_reason.clone())
    };
    bed.kill().await;
    bed.start().await;
    bed.until("admins see the reason", |bed| {
        reason(bed).is_some_and(|reason| reason.contains("requests of this day are used up"))
    })
    .await;
    until_status(&bed, "used_up").await;
    assert_eq!(requests(&bed), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_finishes_ends_and_ships_what_is_under_way() {
    let mut bed = TestBed::new(2).await;
    let slow = Answer { takes: Duration::from_secs(6), ..html("slow") };
    let under_way = bed.web.page("a1.test", "/slow", slow);
    let next = bed.web.page("a1.test", "/next", html("next"));
    let none = bed.run(&["finish"]).await;
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
    bed.start_approved().await;
    bed.coordinator.route(&[under_way.clone(), next]);
    bed.until("the request is under way", |bed| bed.web.count("a1.test", "/slow") == 1).await;
    until_running(&bed).await;
    let finish = bed.run(&["finish"]).await;
    assert_eq!(String::from_utf8_lossy(&finish.stdout), "finishing\n", "{}", stderr(&finish));
    until_status(&bed, "finishing").await;
    // A plain stop would have cut the request off.
    assert_eq!(bed.ended().await.code(), Some(0));
    let outcome = bed.coordinator.state().fetch(&under_way).unwrap().outcome.clone();
    assert!(matches!(outcome, Outcome::Page(_)), "{outcome:?}");
    assert_eq!(bed.web.count("a1.test", "/next"), 0);
    let packages = std::fs::read_dir(bed.data_dir().join("packages")).unwrap();
    let waiting = packages.filter(|entry| entry.as_ref().unwrap().path().is_file());
    assert_eq!(waiting.count(), 0);
}

/// Waits until the status file is that of the running agent.
async fn until_running(bed: &TestBed) {
    while !bed.run(&["status"]).await.status.success() {}
}

/// Waits until the running agent gives this reason for not crawling.
async fn until_status(bed: &TestBed, idle: &str) {
    loop {
        let status = bed.run(&["status", "--json"]).await;
        let json: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
        if json["idle"] == idle && status.status.success() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_agent_ends_and_says_why() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    bed.coordinator.change(|state| state.state = AgentState::Revoked);
    let status = bed.ended().await;
    assert_eq!(status.code(), Some(77));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_fetching_and_not_shipping() {
    let mut bed = TestBed::new(1).await;
    let urls: Vec<String> =
        (0..3).map(|n| bed.web.page("a1.test", &format!("/{n}"), html("x"))).collect();
    bed.configure("limits", "disk_mib = 1");
    bed.coordinator.approve();
    // The frontier alone takes more than that once it has grown; a file makes sure.
    std::fs::create_dir_all(bed.data_dir()).unwrap();
    std::fs::set_permissions(bed.data_dir(), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(bed.data_dir().join("filler"), vec![0; 2 << 20]).unwrap();
    bed.start().await;
    bed.coordinator.route(&urls);
    bed.until("the agent says why", |bed| {
        let state = bed.coordinator.state();
        let reason =
            state.heartbeats.last().and_then(|heartbeat| heartbeat.status.idle_reason.clone());
        reason.is_some_and(|reason| reason.contains("the data directory takes"))
    })
    .await;
    assert!(bed.web.log().hosts.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn why_names_what_a_host_waits_for() {
    let mut bed = TestBed::new(2).await;
    let url = bed.web.page("a1.test", "/page", html("x"));
    bed.web.name_sitemap("a1.test", "/page");
    bed.start_approved().await;
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until_reported(std::slice::from_ref(&url)).await;
    let why = bed.run(&["why", &url, "--json"]).await;
    assert_eq!(why.status.code(), Some(0), "{}", stderr(&why));
    let status: serde_json::Value = serde_json::from_slice(&why.stdout).unwrap();
    assert_eq!(status["accepted"], 1, "{status}");
    assert!(["revisit", "url"].contains(&status["waits_for"].as_str().unwrap()), "{status}");
    let foreign = bed.run(&["why", "https://example.org"]).await;
    assert_eq!(foreign.status.code(), Some(3));
    let said = String::from_utf8(foreign.stdout).unwrap();
    assert!(said.starts_with("https://example.org is not a host of this agent"), "{said}");
    bed.run(&["pause"]).await;
    // The agent notices the pause within a second.
    while !String::from_utf8_lossy(&bed.run(&["why", &url]).await.stdout).contains("by its owner") {
    }
    bed.stop().await;
    let gone = bed.run(&["why", &url]).await;
    assert!(error_message(&gone).contains("no agent is running"), "{}", stderr(&gone));
    let wrong = bed.run(&["why", "example.org"]).await;
    assert!(stderr(&wrong).contains("write it as https://example.org"), "{}", stderr(&wrong));
}
