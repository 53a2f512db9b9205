//! How long it takes to find the smallest subnet of a random address, beside a binary search and a `BTreeMap` over the same
//! segments. Run with `cargo bench -p hierarchy`; every figure is the time of one lookup.

#![expect(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

mod plain;
mod registry;

use std::hint::black_box;
use std::net::IpAddr;
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hierarchy::Hierarchy;

use crate::plain::Plain;
use crate::registry::{Chance, made_up};

/// Delegated ranges of the five registries together in 2018, and a full WHOIS copy's order of magnitude.
const SIZES: [usize; 3] = [232_000, 1_000_000, 5_000_000];
const ADDRESSES: usize = 1 << 20;

fn lookups(criterion: &mut Criterion) {
    for ranges in SIZES {
        let begun = Instant::now();
        let hierarchy = made_up(ranges);
        let bytes = hierarchy.heap_bytes().subnets as f64 / hierarchy.len() as f64;
        let seconds = begun.elapsed().as_secs_f64();
        println!("{} subnets, made and built in {seconds:.2} s, {bytes:.1} bytes a subnet", hierarchy.len());
        one_size(criterion, ranges, &hierarchy);
    }
}

fn one_size(criterion: &mut Criterion, ranges: usize, hierarchy: &Hierarchy) {
    let plain = Plain::of(hierarchy);
    let mut chance = Chance::new(11);
    let addresses: Vec<IpAddr> = (0..ADDRESSES).map(|_| IpAddr::V4(chance.bits().into())).collect();
    for address in &addresses {
        let found = hierarchy.smallest(*address);
        assert_eq!((found, found), (plain.by_search(*address), plain.by_tree(*address)), "{address}");
    }
    let mut group = criterion.benchmark_group("smallest subnet of an address");
    let mut contest = |name: &str, look_up: &dyn Fn(IpAddr) -> hierarchy::SubnetId| {
        let mut turn = 0_usize;
        group.bench_function(BenchmarkId::new(name, ranges), |bencher| {
            bencher.iter(|| {
                turn = turn.wrapping_add(1) % ADDRESSES;
                look_up(black_box(addresses[turn]))
            });
        });
    };
    contest("hierarchy", &|address| hierarchy.smallest(address));
    contest("binary search", &|address| plain.by_search(address));
    contest("BTreeMap", &|address| plain.by_tree(address));
    group.finish();
}

criterion_group!(benches, lookups);
criterion_main!(benches);
