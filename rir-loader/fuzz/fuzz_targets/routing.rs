//! Routing layers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::routing::read;

fuzz_target!(|bytes: &[u8]| {
    let mut taken = 0;
    if let Ok(report) = read(bytes, &mut |_| taken += 1) {
        assert_eq!(taken + report.rejects.count, report.routes);
    }
});
