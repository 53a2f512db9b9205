//! RPSL, LACNIC's and ARIN's text: the counts are correct, and any name can be compared.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::format::Format;
use rir_loader::settle::holder::holder;
use rir_loader::settle::names::{is_same_name, normalize};
use rir_loader::settle::placeholder::placeholder;
use rir_loader::whois::{Object, text};

fuzz_target!(|bytes: &[u8]| {
    let _ = Format::detect(bytes);
    for format in [Format::Rpsl, Format::Lacnic, Format::ArinText] {
        let mut taken = 0;
        let report = text::read(format, bytes, &mut |object| {
            taken += 1;
            let Object::Net(net) = object else { return };
            let _ = placeholder(net);
            if let Some((_, name)) = holder(net) {
                assert!(is_same_name(name, &normalize(name)));
            }
        });
        if let Ok(report) = report {
            assert_eq!(taken, report.ranges.iter().sum::<u64>() + report.organisations);
            assert!(report.rejects.count <= report.objects);
        }
    }
});
