//! Any bytes as a page: it stays within its bounds, however it is cut into pieces.

#![no_main]

use crawler_agent::extract::{Document, Extractor, LINK_BYTES, MAX_LINKS, Media, TEXT_BYTES};
use libfuzzer_sys::fuzz_target;
use url::Url;

/// Unit of the size of pieces; the extractor gathers pieces below 2 KiB.
const PIECE: usize = 64;

fn extract(page: &[u8], size: usize) -> Document {
    let mut extractor = Extractor::new(Media::Html, Some("utf-8"));
    page.chunks(size).for_each(|piece| extractor.write(piece));
    extractor.finish()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((size, page)) = bytes.split_first() else { return };
    let mut pieces = extract(page, PIECE * (usize::from(*size) + 1));
    assert_eq!(pieces, extract(page, usize::MAX));
    assert!(pieces.text.len() <= TEXT_BYTES);
    let links = pieces.take_links(&Url::parse("https://e.org/a/b?c").unwrap()).followed();
    assert!(links.len() <= MAX_LINKS + 1);
    assert!(links.iter().map(|link| link.as_str().len()).sum::<usize>() <= LINK_BYTES);
    // Without a charset in the header it is looked for in the bytes.
    let mut extractor = Extractor::new(Media::Html, None);
    extractor.write(page);
    extractor.finish();
});
