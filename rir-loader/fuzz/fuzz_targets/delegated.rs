//! Statistics files, plain, gzip and zip: this target unpacks, too.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::delegated::{Resource, read_stream};

fuzz_target!(|bytes: &[u8]| {
    let mut taken = 0;
    if let Ok(report) = read_stream("fuzz", bytes, &mut |_| taken += 1) {
        let counted: u64 = Resource::ALL.iter().map(|resource| report.of(*resource).records()).sum();
        assert!(counted <= report.records() && taken >= counted);
    }
});
