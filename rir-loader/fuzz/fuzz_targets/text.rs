//! Dumps in paragraphs: RPSL, LACNIC's and ARIN's text. What is read is counted right, and any name
//! can be settled.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::dialect::{Dialect, dialect_of};
use rir_loader::settle::holder::holder;
use rir_loader::settle::normal::{normal, same};
use rir_loader::settle::placeholder::placeholder;
use rir_loader::whois::{Object, read_text};

fuzz_target!(|bytes: &[u8]| {
    let _ = dialect_of(bytes);
    for dialect in [Dialect::Rpsl, Dialect::Lacnic, Dialect::ArinText] {
        let mut taken = 0;
        let report = read_text(dialect, bytes, &mut |object| {
            taken += 1;
            let Object::Net(net) = object else { return };
            let _ = placeholder(net);
            if let Some((_, text)) = holder(net) {
                assert!(same(text, &normal(text)));
            }
        });
        if let Ok(report) = report {
            assert_eq!(taken, report.ranges.iter().sum::<u64>() + report.organisations);
            assert!(report.rejects.count <= report.objects);
        }
    }
});
