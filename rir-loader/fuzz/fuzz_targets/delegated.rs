//! Delegated files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::delegated::read;

fuzz_target!(|bytes: &[u8]| {
    let mut taken = 0;
    if let Ok(report) = read(bytes, &mut |_| taken += 1) {
        let counted: u64 = report.counts.iter().map(|count| count.held + count.free).sum();
        assert!(counted <= report.records() && taken >= counted);
    }
});
