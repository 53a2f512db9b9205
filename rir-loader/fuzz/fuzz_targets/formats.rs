//! Delegated files, dumps and routing layers, unpacked: the counts are correct.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rir_loader::format::Format;
use rir_loader::read::detect_format;
use rir_loader::whois::{text, xml};
use rir_loader::{delegated, routing};

fuzz_target!(|bytes: &[u8]| {
    let Ok(format) = detect_format(bytes) else { return };
    let mut handled = 0;
    if format == Format::Delegated {
        let Ok(report) = delegated::read(bytes, &mut |_| handled += 1) else { return };
        assert_eq!(handled + report.rejects.count, report.records());
        return;
    }
    if format == Format::Routing {
        let Ok(report) = routing::read(bytes, &mut |_| handled += 1) else { return };
        assert_eq!(handled + report.rejects.count, report.routes);
        return;
    }
    let report = match format {
        Format::ArinXml => xml::read(bytes, &mut |_| handled += 1),
        _ => text::read(format, bytes, &mut |_| handled += 1),
    };
    if let Ok(report) = report {
        assert_eq!(handled, report.ranges.iter().sum::<u64>() + report.organisations);
        assert!(report.rejects.count <= report.objects);
    }
});
