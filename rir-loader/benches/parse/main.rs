//! How fast each format is read, in bytes per second on one core. Run with `cargo bench -p
//! rir-loader`.

#![expect(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

mod texts;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rir_loader::format::Format;
use rir_loader::{delegated, whois};

/// Bytes of each text; far more than any cache holds.
const SIZE: usize = 64 << 20;

fn read(format: Format, text: &[u8]) {
    match format {
        Format::ArinXml => drop(whois::xml::read(text, &mut |object| {
            black_box(object);
        })),
        Format::Delegated => drop(delegated::read(text, &mut |record| {
            black_box(record);
        })),
        _ => drop(whois::text::read(format, text, &mut |object| {
            black_box(object);
        })),
    }
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    group.sample_size(10);
    for (format, text) in texts::all(SIZE) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(format.as_str()), |bencher| {
            bencher.iter(|| read(format, &text));
        });
    }
    group.finish();
}

criterion_group!(benches, reading);
criterion_main!(benches);
