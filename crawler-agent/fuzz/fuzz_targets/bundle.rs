//! Host bundles: what is read is read again after it was written, and no bytes make the reader
//! panic.

#![no_main]

use crawler_agent::frontier::HostBundle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // As a whole bundle, and as the content of one, which random bytes hardly ever reach.
    let frame = zstd::bulk::compress(bytes, 1).expect("memory is enough");
    for bytes in [bytes, &[b"nchb 2\n".as_slice(), &frame].concat()] {
        let Ok(bundle) = HostBundle::decode(bytes) else { continue };
        let again = HostBundle::decode(&bundle.encode().expect("it is encoded"));
        let again = again.expect("what was written is read");
        assert_eq!(again.queue, bundle.queue);
        assert_eq!(again.seen, bundle.seen);
        assert_eq!(again.pages.len(), bundle.pages.len());
    }
});
