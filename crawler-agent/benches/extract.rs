//! How fast pages are extracted, in bytes per second of one core, and how small they are in a
//! package.
//!
//! Each variant reads all pages, in pieces of the size of a large read from a socket, and the
//! variants take turns. Beside the extraction is the parser alone: with a handler for every element
//! that does nothing, and with one that collects the links. Times are those of the thread on its
//! core, so that other programs on the machine count little.
//!
//! `cargo bench -p crawler-agent --bench extract -- DIR`: DIR has a page in each directory, named
//! `source.html`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at what it did not expect, and prints"
)]

use std::{fs, hint::black_box, io::Write as _, path::Path, time::Duration};

use crawler_agent::{
    extract::{Extractor, Media},
    fetch::{Head, Sink as _},
    page::{self, PageSink},
};
use flate2::{Compression, write::GzEncoder};
use lol_html::{HtmlRewriter, Settings, element};
use model::{AgentId, CrawlUrl, UnixMillis};
use protocol::{
    key::AgentKey,
    package::{self, PackageName},
    page::{Entry, Fetch, Timing},
};
use url::Url;

/// Rounds, in each of which every variant reads all pages once.
const ROUNDS: usize = 15;
/// Bytes of a piece.
const PIECE_BYTES: usize = 16 << 10;
/// Bytes to which pages are cut for the second table: the size of a small page.
const SMALL_BYTES: usize = 7_000;
/// How often a round reads each small page, because the time on a core is counted in milliseconds.
const SMALL_REPEATS: usize = 32;

type Variant = (&'static str, fn(&[u8]));

const VARIANTS: [Variant; 4] = [
    ("text and links", text_and_links),
    ("text", text),
    ("lol_html, no work at every element", every_element),
    ("lol_html, href of each link", hrefs),
];

fn main() {
    let folder = std::env::args().skip(1).find(|word| word != "--bench");
    let Some(folder) = folder else {
        println!("no pages to read: cargo bench -p crawler-agent --bench extract -- DIR");
        return;
    };
    let pages = read(Path::new(&folder));
    shipped(&pages);
    table("whole pages", &pages);
    let cut = |page: &Vec<u8>| page[..page.len().min(SMALL_BYTES)].to_vec();
    let small = (0..SMALL_REPEATS).flat_map(|_| pages.iter().map(cut));
    table("pages cut to 7 kB", &small.collect::<Vec<_>>());
}

fn read(folder: &Path) -> Vec<Vec<u8>> {
    let directories = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = directories.filter_map(|directory| fs::read(directory.join("source.html")).ok());
    let pages: Vec<_> = sources.collect();
    let path = folder.display();
    assert!(!pages.is_empty(), "no directory in {path} has a page that is named source.html");
    pages
}

/// Prints the size of packages with all pages, each of a host of its own.
fn shipped(pages: &[Vec<u8>]) {
    let plain: usize = pages.iter().map(Vec::len).sum();
    let wire: usize = pages.iter().map(|page| gzipped(page)).sum();
    println!("{} pages, {plain} bytes plain, {wire} bytes with gzip on the wire", pages.len());
    let entries: Vec<Entry> =
        (0_u8..).zip(pages).map(|(number, page)| entry(number, page)).collect();
    let name = PackageName { agent: AgentId::new(1), epoch: 1, seq: 1 };
    let key = AgentKey::from_seed([1; 32]);
    let package = package::build(&entries, name, UnixMillis(0), &key).unwrap().bytes;
    let with_gzip = gzipped(&body_of(&package));
    for (coding, bytes) in [("Zstandard", package.len()), ("gzip for comparison", with_gzip)] {
        println!(
            "  shipped with {coding}: {bytes} bytes, 1/{:.1} of plain, 1/{:.1} of the wire",
            plain as f64 / bytes as f64,
            wire as f64 / bytes as f64,
        );
    }
}

/// The body of a package, inflated.
fn body_of(package: &[u8]) -> Vec<u8> {
    let (length, rest) = package[5..].split_first_chunk::<4>().unwrap();
    zstd::decode_all(&rest[u32::from_be_bytes(*length) as usize + 64..]).unwrap()
}

fn gzipped(page: &[u8]) -> usize {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(6));
    gzip.write_all(page).unwrap();
    gzip.finish().unwrap().len()
}

/// The result of fetching a page, with text, links and anchors.
fn entry(number: u8, body: &[u8]) -> Entry {
    let url = CrawlUrl::parse(&format!("https://host{number}.example/some/page")).unwrap();
    let head = Head { status: 200, media_type: Some("text/html".into()), ..Head::default() };
    let mut sink = PageSink::open(&url, &head).unwrap();
    sink.write(body);
    let outcome = page::content(&url, head, Some(sink), UnixMillis(0)).outcome;
    let micros = 20_000 + u32::from(number);
    let timing =
        Timing { connect_us: micros, tcp_us: micros, first_byte_us: micros, total_us: 2 * micros };
    Entry::Fetch(Box::new(Fetch {
        url: url.into(),
        fetched_at: UnixMillis(1_700_000_000_000 + i64::from(number) * 1_000),
        address: Some([192, 0, 2, number].into()),
        timing: Some(timing),
        wire_bytes: body.len() as u64,
        outcome,
        trend: None,
    }))
}

fn table(title: &str, pages: &[Vec<u8>]) {
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!("{title}: {} pages, {:.1} MB", pages.len(), bytes as f64 / 1e6);
    let mut times = vec![Vec::new(); VARIANTS.len()];
    for _ in 0..ROUNDS {
        for (times, (_, run)) in times.iter_mut().zip(VARIANTS) {
            let started = on_core();
            for page in pages {
                run(page);
            }
            times.push(on_core().saturating_sub(started));
        }
    }
    for (times, (name, _)) in times.iter_mut().zip(VARIANTS) {
        times.sort();
        let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let a_page = times[ROUNDS / 2].as_secs_f64() * 1e6 / pages.len() as f64;
        println!(
            "  {name:36} {:7.1} MB/s (best {:.1}), {a_page:.1} us a page",
            rate(times[ROUNDS / 2]),
            rate(times[0]),
        );
    }
}

/// Time that this thread has spent on a core.
fn on_core() -> Duration {
    let line = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(line.split(' ').next().unwrap().parse().unwrap())
}

fn text_and_links(page: &[u8]) {
    let mut extractor = Extractor::new(Media::Html, None);
    page.chunks(PIECE_BYTES).for_each(|piece| extractor.write(piece));
    let mut document = extractor.finish();
    let url = Url::parse("https://example.org/some/page").unwrap();
    black_box((document.take_links(&url), document));
}

fn text(page: &[u8]) {
    let mut extractor = Extractor::new(Media::Html, None);
    page.chunks(PIECE_BYTES).for_each(|piece| extractor.write(piece));
    black_box(extractor.finish());
}

fn every_element(page: &[u8]) {
    parse(page, Settings::new().append_element_content_handler(element!("*", |_| Ok(()))));
}

fn hrefs(page: &[u8]) {
    let link = element!("a[href]", |link| {
        black_box(link.get_attribute("href"));
        Ok(())
    });
    parse(page, Settings::new().append_element_content_handler(link));
}

fn parse(page: &[u8], settings: Settings<'_, '_>) {
    let mut parser = HtmlRewriter::new(settings.with_strict(false), |_: &[u8]| {});
    page.chunks(PIECE_BYTES).for_each(|piece| parser.write(piece).unwrap());
    parser.end().unwrap();
}
