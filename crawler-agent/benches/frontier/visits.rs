//! Visits as the crawl makes them: the end of a fetch, and the packing of results.

use crawler_agent::frontier::{
    Bounds, Change, ChangeRate, Done, Frontier, FrontierHandle, PageHistory, PageRecord, QueueItem,
};
use delegation::calibration::Timing;
use model::{CrawlUrl, Slowdown, UnixMillis};
use protocol::page::{ContentHash, Fetch, Link, Outcome, Page};

pub(crate) const NOW: UnixMillis = UnixMillis(1_760_000_000_000);
/// Bytes of a page on the wire.
pub(crate) const WIRE_BYTES: u64 = 7_000;

/// The end of a fetch of this URL, whose page has so many bytes of text and these links.
pub(crate) fn done(item: &QueueItem, text: usize, links: Vec<CrawlUrl>, bounds: Bounds) -> Change {
    let shown = links.iter().map(|url| Link {
        url: url.to_string(),
        anchor: "the text of a link".into(),
        ..Link::default()
    });
    let fetch = fetch(item, text, shown.collect());
    let page = Some(record(item));
    let due = Some(NOW);
    Change::Done(Box::new(Done { page, links, due, ..Done::new(item, fetch, bounds) }))
}

fn record(item: &QueueItem) -> PageRecord {
    let mut past = PageHistory::default();
    past.get.observe(Slowdown::default(), Timing { ms: 20.0, bytes: WIRE_BYTES });
    PageRecord {
        path: item.url.path_and_query().to_owned(),
        depth: item.depth,
        etag: Some("\"5f3e2a1b9c8d7\"".into()),
        last_modified: Some("Tue, 03 Nov 2026 10:11:12 GMT".into()),
        sha256: Some([0xab; 32]),
        past,
        changes: ChangeRate::default(),
    }
}

fn fetch(item: &QueueItem, text: usize, links: Vec<Link>) -> Fetch {
    let page = Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "UTF-8".into(),
        lang: Some("en".into()),
        title: "A title of usual length".into(),
        headings: "A heading of usual length".into(),
        text: "some words ".repeat(text / 11),
        sha256: ContentHash([0xab; 32]),
        canonical: None,
        max_snippet: None,
        links,
    };
    Fetch {
        url: item.url.to_string(),
        fetched_at: NOW,
        address: None,
        timing: None,
        wire_bytes: WIRE_BYTES,
        outcome: Outcome::Page(page),
        trend: None,
    }
}

/// Takes the results as the outbox does, without their compression.
pub(crate) async fn pack(store: &FrontierHandle) -> anyhow::Result<()> {
    loop {
        let read =
            |frontier: &Frontier| Ok((frontier.oldest_results(4 << 20)?, frontier.next_package()?));
        let (results, seq) = store.read(read).await?;
        let Some((through, _)) = results.last() else { return Ok(()) };
        store.apply(Change::Sealed { seq, through: *through, bytes: 1 })?;
        store.sync().await?;
        store.apply(Change::Shipped { seq })?;
    }
}
