//! The XML parser by itself: how much of the time is its own.

use std::hint::black_box;
use std::io::BufReader;

use quick_xml::Reader;
use quick_xml::events::Event;

/// Prints how long the bare parser takes beside the reading of objects, which took so many seconds.
pub(crate) fn tell(text: &[u8], objects: f64) {
    let megabytes = |seconds: f64| text.len() as f64 / seconds / 1e6;
    for (way, seconds) in [
        ("in place", crate::best(|| in_place(text))),
        ("from a stream", crate::best(|| from_stream(text))),
    ] {
        println!(
            "arin-xml: objects {:.0} MB/s, bare parser {way} {:.0} MB/s, {:.2} times as long",
            megabytes(objects),
            megabytes(seconds),
            objects / seconds
        );
    }
}

fn in_place(text: &[u8]) -> u64 {
    let mut reader = Reader::from_reader(text);
    let mut events = 0;
    while !matches!(black_box(reader.read_event().unwrap()), Event::Eof) {
        events += 1;
    }
    events
}

fn from_stream(text: &[u8]) -> u64 {
    let mut reader = Reader::from_reader(BufReader::with_capacity(256 * 1024, text));
    let mut buffer = vec![];
    let mut events = 0;
    while !matches!(black_box(reader.read_event_into(&mut buffer).unwrap()), Event::Eof) {
        events += 1;
        buffer.clear();
    }
    events
}
