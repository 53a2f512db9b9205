//! Blocks of packages: what is read is read again after it was written, and no bytes make the
//! reader panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::package::{decode_entry, encode_entry};

fuzz_target!(|bytes: &[u8]| {
    let Ok(entry) = decode_entry(bytes) else { return };
    // Written anew, because there are several ways to write the same block.
    let again = decode_entry(&encode_entry(&entry)).expect("what was written is read");
    assert_eq!(format!("{entry:?}"), format!("{again:?}"));
});
