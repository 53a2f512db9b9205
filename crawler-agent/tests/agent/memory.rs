//! Memory of the agent while all slots read hostile pages.

use protocol::page::Outcome;

use crate::{
    testbed::TestBed,
    web::{Answer, html},
};

/// Hosts, each at an address of its own: as many as fetches run at the same time.
const HOSTS: u8 = 64;
/// Bytes of a page.
const PAGE_BYTES: usize = 3 << 20;
/// Most memory of the agent, in kilobytes.
const MOST_KB: u64 = 256_000;

/// The most expensive pages: links as long as URLs may be, elements in elements, text, and short
/// links.
fn page(n: u8) -> Answer {
    let unit = match n % 4 {
        0 => format!("<a href='/{n}/{}'>", "a".repeat(2_000)),
        1 => "<p>".to_owned(),
        2 => "text ".to_owned(),
        _ => "<a href=x>".to_owned(),
    };
    let counted = (0..PAGE_BYTES / unit.len()).map(|at| match n % 4 {
        0 => unit.replacen("/a", &format!("/{at}a"), 1),
        3 => unit.replacen('x', &at.to_string(), 1),
        _ => unit.clone(),
    });
    html(&counted.collect::<String>())
}

/// Most memory that the process ever had, in kilobytes.
fn peak_kb(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_pages_in_all_slots_stay_below_256_mb() {
    let mut bed = TestBed::new(HOSTS).await;
    let pages = (1..=HOSTS).map(|n| bed.web.page(&format!("a{n}.test"), "/", page(n)));
    let pages: Vec<String> = pages.collect();
    // Only the pages themselves: their links lead to nothing.
    bed.configure("limits", "fetch_ms = 60000");
    bed.coordinator.state().policy.depth = 0;
    bed.start_approved().await;
    bed.coordinator.route(&pages);
    bed.until_reported(&pages).await;
    let peak = peak_kb(bed.pid());
    println!("peak {peak} kB");
    assert!(peak < MOST_KB, "{peak} kB");
    let state = bed.coordinator.state();
    for page in &pages {
        let outcome = &state.fetch(page).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Page(_)), "{page}: {outcome:?}");
    }
}
