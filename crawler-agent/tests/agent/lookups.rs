//! Lookups of names: no request slot waits for a name server.

use std::collections::BTreeSet;

use protocol::page::Outcome;

use crate::{
    testbed::TestBed,
    web::{html, text},
};

/// Hosts whose names are not answered; more than request slots.
const HELD: u8 = 6;

/// A site of pages that lead from one to the next.
fn chain(bed: &TestBed, host: &str, pages: u32) -> Vec<String> {
    bed.web.page(host, "/robots.txt", text("User-agent: *\nDisallow:\n"));
    let page = |n| bed.web.page(host, &format!("/{n}"), html(&format!("<a href=/{}>a</a>", n + 1)));
    (0..pages).map(page).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_slot_waits_for_a_name_server() {
    let mut bed = TestBed::new(HELD + 1).await;
    bed.configure("limits", "concurrency = 2");
    let names: Vec<String> = (1..=HELD).map(|n| format!("held{n}.test")).collect();
    let held: Vec<String> = names.iter().map(|name| chain(&bed, name, 1).remove(0)).collect();
    let answered = chain(&bed, &format!("a{}.test", HELD + 1), 10);
    bed.start_approved().await;
    bed.coordinator.route(&held);
    let asked = |bed: &TestBed| names.iter().all(|name| bed.dns.asked().contains(name));
    bed.until("all names were asked for", asked).await;
    // The lookups, each of which takes ten seconds before it fails, outnumber the slots.
    bed.coordinator.route(&answered[..1]);
    bed.until_reported(&answered).await;
    {
        let state = bed.coordinator.state();
        let reported: BTreeSet<&str> = state.fetches().map(|fetch| fetch.url.as_str()).collect();
        let early: Vec<_> = held.iter().filter(|url| reported.contains(url.as_str())).collect();
        assert!(early.is_empty(), "fetched or failed before the name was answered: {early:?}");
    }
    bed.dns.answer_all();
    bed.until_reported(&held).await;
    let state = bed.coordinator.state();
    for url in &held {
        let outcome = &state.fetch(url).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Page(_)), "{url}: {outcome:?}");
    }
}

/// In a region, who finds a host looks its name up before the page is stored.
#[tokio::test(flavor = "multi_thread")]
async fn no_request_slot_waits_for_the_names_of_links() {
    let mut bed = TestBed::new(HELD + 1).await;
    bed.configure("limits", "concurrency = 2");
    bed.configure("peer", "enabled = true");
    let linking: Vec<String> = (1..=HELD).map(|n| linking(&bed, n)).collect();
    let others = chain(&bed, &format!("a{}.test", HELD + 1), 3);
    bed.start_approved().await;
    bed.until("the agent is in a region", |bed| bed.coordinator.state().is_in_region).await;
    bed.coordinator.route(&linking);
    let names: Vec<String> = (1..=HELD).map(|n| format!("held{n}.test")).collect();
    let asked = |bed: &TestBed| names.iter().all(|name| bed.dns.asked().contains(name));
    bed.until("the names of all links were asked for", asked).await;
    // Their pages, each of which waits for five seconds, outnumber the slots.
    bed.coordinator.route(&others[..1]);
    bed.until_reported(&others).await;
    {
        let state = bed.coordinator.state();
        let early = linking.iter().filter(|url| state.fetch(url).is_some());
        assert_eq!(early.count(), 0, "stored before the names were answered");
    }
    bed.dns.answer_all();
    bed.until_reported(&linking).await;
    let state = bed.coordinator.state();
    let reported = state.discovered();
    for name in names {
        assert!(reported.iter().any(|url| url.contains(&name)), "{name}: {reported:?}");
    }
}

/// A page that links to a host whose name is not answered.
fn linking(bed: &TestBed, number: u8) -> String {
    let host = format!("a{number}.test");
    bed.web.page(&host, "/robots.txt", text("User-agent: *\nDisallow:\n"));
    let link = format!("<a href=http://held{number}.test:{}/>a</a>", bed.web.port);
    bed.web.page(&host, "/links", html(&link))
}
