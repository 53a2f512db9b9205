//! ARIN's XML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::whois::xml;

fuzz_target!(|bytes: &[u8]| {
    let mut taken = 0;
    if let Ok(report) = xml::read(bytes, &mut |_| taken += 1) {
        assert_eq!(taken, report.ranges.iter().sum::<u64>() + report.organisations);
        assert!(report.rejects.count <= report.objects);
    }
});
