//! How long it takes to find the smallest subnet of a random address, beside the tries that others wrote and beside a binary
//! search and a `BTreeMap` over segments, on the same data in the same run. Run with `cargo bench -p hierarchy`; every figure
//! is the time of one lookup, on one thread. Ends each size with how many times faster than the fastest trie it was.

#![expect(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

mod plain;
mod registry;
mod tries;

use std::cell::RefCell;
use std::hint::black_box;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use hierarchy::{Hierarchy, Snapshot, SubnetId};

use crate::plain::Plain;
use crate::registry::{Chance, made_up};
use crate::tries::{LcTrie, NetworkTable, Peer, PrefixTrie};

/// Delegated ranges of the five registries together in 2018, then full WHOIS copies' order of magnitude.
const SIZES: [usize; 3] = [232_000, 1_000_000, 10_000_000];
/// Addresses of which the answers are compared first.
const COMPARED: usize = 1 << 20;

fn lookups(criterion: &mut Criterion) {
    for ranges in SIZES {
        let begun = Instant::now();
        let hierarchy = made_up(ranges);
        let bytes = hierarchy.heap_bytes().subnets as f64 / hierarchy.len() as f64;
        let seconds = begun.elapsed().as_secs_f64();
        println!("{} subnets, made and built in {seconds:.2} s, {bytes:.1} bytes a subnet", hierarchy.len());
        restart(&hierarchy);
        let four = |chance: &mut Chance| IpAddr::V4(chance.bits().into());
        Contest::new(criterion, "IPv4", &hierarchy, &four).run(true);
        let held = hierarchy.iter().next_back().unwrap().range();
        let six = |chance: &mut Chance| six(chance, held.last());
        Contest::new(criterion, "IPv6", &hierarchy, &six).run(false);
    }
}

/// How long a start takes that finds a snapshot in memory.
fn restart(hierarchy: &Hierarchy) {
    let mut bytes = vec![];
    Snapshot::write(hierarchy, 1, &mut bytes).unwrap();
    let begun = Instant::now();
    let snapshot = Snapshot::read(&mut bytes.as_slice()).unwrap();
    println!("snapshot of {} bytes read in {:.2} s", bytes.len(), begun.elapsed().as_secs_f64());
    drop(snapshot);
}

/// Somewhere between 2a00:: and the end of what is held: most of IPv6 is empty, and to miss it would be no work.
fn six(chance: &mut Chance, end: IpAddr) -> IpAddr {
    let base = 0x2a00_u128 << 112;
    let IpAddr::V6(end) = end else { return end };
    let anywhere = (0..4).fold(0, |all, _| all << 32 | u128::from(chance.bits()));
    Ipv6Addr::from_bits(base + anywhere % (end.to_bits() - base)).into()
}

/// The same addresses for everybody. They are made on the way, since a list of them would take the cache from the contestants.
struct Contest<'c> {
    group: BenchmarkGroup<'c, WallTime>,
    hierarchy: &'c Hierarchy,
    address: &'c dyn Fn(&mut Chance) -> IpAddr,
    fastest: Option<(Duration, &'static str)>,
}

impl<'c> Contest<'c> {
    fn new(
        criterion: &'c mut Criterion,
        family: &str,
        hierarchy: &'c Hierarchy,
        address: &'c dyn Fn(&mut Chance) -> IpAddr,
    ) -> Self {
        let group = criterion.benchmark_group(format!("smallest subnet of an {family} address"));
        Self { group, hierarchy, address, fastest: None }
    }

    /// `plain`: with what one would write first, too.
    fn run(mut self, plain: bool) {
        let hierarchy = self.hierarchy;
        let ours = self.time("hierarchy", &|address| Some(hierarchy.smallest(address)));
        self.peer::<PrefixTrie>();
        self.peer::<NetworkTable>();
        self.peer::<LcTrie>();
        if plain {
            let plain = Plain::of(hierarchy);
            self.time("binary search", &|address| Some(plain.by_search(address)));
            self.time("BTreeMap", &|address| Some(plain.by_tree(address)));
        }
        if let Some((fastest, name)) = self.fastest {
            let times = fastest.as_secs_f64() / ours.as_secs_f64();
            println!(
                "hierarchy: {ours:?} a lookup; {name}, the fastest trie: {fastest:?}; {times:.2} times faster"
            );
        }
        self.group.finish();
    }

    fn peer<P: Peer>(&mut self) {
        let peer = P::of(self.hierarchy);
        let mut chance = Chance::new(11);
        for _ in 0..COMPARED {
            let address = (self.address)(&mut chance);
            assert_eq!(peer.look_up(address), Some(self.hierarchy.smallest(address)), "{address}");
        }
        let time = self.time(P::NAME, &|address| peer.look_up(address));
        if self.fastest.is_none_or(|(fastest, _)| time < fastest) {
            self.fastest = Some((time, P::NAME));
        }
    }

    /// The median over criterion's samples.
    fn time(&mut self, name: &str, look_up: &dyn Fn(IpAddr) -> Option<SubnetId>) -> Duration {
        let samples = RefCell::new(vec![]);
        let mut chance = Chance::new(11);
        self.group.bench_function(BenchmarkId::new(name, self.hierarchy.len()), |bencher| {
            bencher.iter_custom(|rounds| {
                let begun = Instant::now();
                for _ in 0..rounds {
                    black_box(look_up(black_box((self.address)(&mut chance))));
                }
                let took = begun.elapsed();
                samples.borrow_mut().push(took.div_f64(rounds as f64));
                took
            });
        });
        let mut samples = samples.into_inner();
        samples.sort_unstable();
        samples.get(samples.len() / 2).copied().unwrap_or_default()
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    targets = lookups
}
criterion_main!(benches);
