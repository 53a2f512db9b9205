//! Files that hold a checksum.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::fetch::checksum_in;

fuzz_target!(|text: &str| {
    if let Some(sum) = checksum_in(text) {
        assert!(sum.len() == 32 && sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
        assert!(text.to_ascii_lowercase().contains(&sum));
    }
});
