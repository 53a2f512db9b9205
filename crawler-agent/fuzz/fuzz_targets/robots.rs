//! Any bytes as a robots.txt and a path: the rule that decides is one of the file.

#![no_main]

use crawler_agent::robots::{MAX_DELAY_MS, Robots};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let path = String::from_utf8_lossy(&bytes[..at]);
    let mut robots = Robots::parse(&bytes[at..]);
    assert!(robots.allows(&path) || robots.deciding_rule(&path).is_some());
    assert!(robots.delay_ms().is_none_or(|delay| delay <= MAX_DELAY_MS));
    assert!(robots.take_sitemaps().len() <= 20);
});
