//! Any bytes as a sitemap or feed: the same URLs, however it is cut into pieces.

#![no_main]

use crawler_agent::extract::{Document, Extractor, Media};
use libfuzzer_sys::fuzz_target;
use url::Url;

/// Unit of the size of pieces; the extractor gathers pieces below 2 KiB.
const PIECE: usize = 64;

fn extract(list: &[u8], size: usize) -> Document {
    let mut extractor = Extractor::new(Media::Xml, None);
    list.chunks(size).for_each(|piece| extractor.write(piece));
    extractor.finish()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((size, list)) = bytes.split_first() else { return };
    let mut pieces = extract(list, PIECE * (usize::from(*size) + 1));
    assert_eq!(pieces, extract(list, usize::MAX));
    assert!(pieces.is_list && pieces.text.is_empty());
    pieces.take_links(&Url::parse("https://e.org/sitemap.xml").unwrap());
});
