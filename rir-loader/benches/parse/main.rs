//! How fast the text of dumps is read, in bytes a second on one core, beside the fastest thing that
//! could be done with them: finding the ends of the lines. XML has a line an object, so that it is
//! read beside the bare parser, which finds the tags and does nothing else: pointing into the text,
//! and copying each tag out of a buffered stream. Run with `cargo bench -p rir-loader`; the ratio
//! is printed at the end.

#![expect(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

mod bare;
mod texts;

use std::hint::black_box;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rir_loader::delegated::read_stream;
use rir_loader::dialect::Dialect;
use rir_loader::whois::{read_text, read_xml};

/// Bytes of each text; far more than any cache holds.
const SIZE: usize = 64 << 20;
/// Runs of which the best counts.
const RUNS: usize = 25;

fn lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).map(|at| black_box(at) & 1).sum()
}

fn objects(dialect: Dialect, text: &[u8]) -> u64 {
    let mut ranges = 0;
    let mut take = |object: &rir_loader::whois::Object<'_>| {
        black_box(object);
        ranges += 1;
    };
    match dialect {
        Dialect::ArinXml => drop(read_xml(text, &mut take).unwrap()),
        Dialect::Delegated => drop(
            read_stream("bench", text, &mut |row| {
                black_box(row);
            })
            .unwrap(),
        ),
        _ => drop(read_text(dialect, text, &mut take).unwrap()),
    }
    ranges
}

fn parsing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("text");
    group.sample_size(10);
    let mut ratios = vec![];
    for (dialect, text) in texts::all(SIZE) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        let name = dialect.as_str();
        group.bench_function(BenchmarkId::new("lines only", name), |bencher| {
            bencher.iter(|| lines(&text));
        });
        group.bench_function(BenchmarkId::new("objects", name), |bencher| {
            bencher.iter(|| objects(dialect, &text));
        });
        ratios.push((
            name,
            text.len(),
            best(|| lines(&text) as u64),
            best(|| objects(dialect, &text)),
        ));
    }
    group.finish();
    tell(ratios);
    let xml = texts::xml(SIZE);
    bare::tell(&xml, best(|| objects(Dialect::ArinXml, &xml)));
}

fn tell(ratios: Vec<(&str, usize, f64, f64)>) {
    for (name, bytes, lines, objects) in ratios {
        let megabytes = |seconds: f64| bytes as f64 / seconds / 1e6;
        let (found, read) = (megabytes(lines), megabytes(objects));
        println!(
            "{name}: objects {read:.0} MB/s, lines only {found:.0} MB/s, {:.1} times as long",
            found / read
        );
    }
}

/// Seconds of the best run. Others may be at the same core for seconds, so that it takes more than
/// a few to meet a quiet one.
fn best(mut work: impl FnMut() -> u64) -> f64 {
    let one = |work: &mut dyn FnMut() -> u64| {
        let begun = Instant::now();
        black_box(work());
        begun.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| one(&mut work)).fold(f64::MAX, f64::min)
}

criterion_group!(benches, parsing);
criterion_main!(benches);
