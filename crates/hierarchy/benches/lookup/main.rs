//! Time to find the smallest subnet of a random address, compared with the tries of other crates on
//! the same data in the same run. Run with `cargo bench -p hierarchy`; every figure is the time of
//! one lookup on one thread. The last line of each size has the ratio to the fastest trie.

#![expect(clippy::unwrap_used, reason = "an unexpected result ends the benchmark")]

mod made_up;
mod tries;

use std::hint::black_box;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hierarchy::{Hierarchy, Snapshot, SubnetId};

use crate::made_up::{Random, made_up};
use crate::tries::{LcTrie, Lookup, NetworkTable, PrefixTrie};

/// Delegated ranges of the five registries together in 2018, then the order of magnitude of full
/// WHOIS copies.
const SIZES: [usize; 3] = [232_000, 1_000_000, 10_000_000];
/// Number of addresses for which all tables must give the same answer.
const COMPARED: usize = 1 << 20;
/// Turns of the comparison, each with this number of lookups for each table.
const TURNS: u64 = 15;
const LOOKUPS: u64 = 200_000;
/// Number of addresses that are generated at a time, outside of the measured time.
const AT_ONCE: u64 = 512;

fn lookups(criterion: &mut Criterion) {
    for ranges in SIZES {
        let begun = Instant::now();
        let hierarchy = made_up(ranges);
        let bytes = hierarchy.heap_bytes() as f64 / hierarchy.len() as f64;
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{} subnets, generated and built in {seconds:.2} s, {bytes:.1} bytes a subnet",
            hierarchy.len()
        );
        read_snapshot(&hierarchy);
        let v4 = |random: &mut Random| IpAddr::V4(random.bits().into());
        Comparison::new("IPv4", &hierarchy, &v4).run(criterion);
        let last_range = hierarchy.iter().next_back().unwrap().range();
        let v6 = |random: &mut Random| random_v6(random, last_range.last());
        Comparison::new("IPv6", &hierarchy, &v6).run(criterion);
    }
}

/// Measures how long a start takes to read a snapshot, the construction of the tables included.
fn read_snapshot(hierarchy: &Hierarchy) {
    let mut bytes = vec![];
    Snapshot::write(hierarchy, 1, &mut bytes).unwrap();
    let begun = Instant::now();
    black_box(Snapshot::read(&mut bytes.as_slice()).unwrap());
    let seconds = begun.elapsed().as_secs_f64();
    println!("snapshot of {} bytes read in {seconds:.2} s", bytes.len());
}

/// A random address between 2a00:: and the end of the last range. Most of IPv6 holds no range, and
/// a lookup there would take no time.
fn random_v6(random: &mut Random, end: IpAddr) -> IpAddr {
    let base = 0x2a00_u128 << 112;
    let IpAddr::V6(end) = end else { return end };
    let bits = (0..4).fold(0, |all, _| all << 32 | u128::from(random.bits()));
    Ipv6Addr::from_bits(base + bits % (end.to_bits() - base)).into()
}

/// Several tables with the same addresses. These are generated a few at a time: a long list of them
/// would displace the tables from the cache, and an address that has just been written would keep
/// independent lookups from overlapping.
struct Comparison<'c> {
    family: &'static str,
    subnets: usize,
    address: &'c dyn Fn(&mut Random) -> IpAddr,
    tables: Vec<Lookup<'c>>,
    /// One random read of as much memory as the hierarchy takes, a lower bound for every lookup.
    limit: Lookup<'c>,
}

impl<'c> Comparison<'c> {
    /// Builds the tables, the hierarchy first, and checks that all give the same answers.
    fn new(
        family: &'static str,
        hierarchy: &'c Hierarchy,
        address: &'c dyn Fn(&mut Random) -> IpAddr,
    ) -> Self {
        let ours: Lookup<'c> =
            ("hierarchy", Box::new(|address| Some(hierarchy.smallest(*address))));
        let tries = [
            tries::trie::<PrefixTrie>(hierarchy),
            tries::trie::<NetworkTable>(hierarchy),
            tries::trie::<LcTrie>(hierarchy),
        ];
        let tables: Vec<_> = std::iter::once(ours).chain(tries).collect();
        let mut random = Random::new(11);
        for _ in 0..COMPARED {
            let address = address(&mut random);
            for (name, look_up) in &tables {
                assert_eq!(
                    look_up(&address),
                    Some(hierarchy.smallest(address)),
                    "{name}: {address}"
                );
            }
        }
        Self { family, subnets: hierarchy.len(), address, tables, limit: one_read(hierarchy) }
    }

    fn run(&self, criterion: &mut Criterion) {
        let mut group =
            criterion.benchmark_group(format!("smallest subnet of an {} address", self.family));
        for table in &self.tables {
            group.bench_function(BenchmarkId::new(table.0, self.subnets), |bencher| {
                bencher.iter_custom(|rounds| self.time(table, rounds));
            });
        }
        group.finish();
        self.compare();
    }

    fn time(&self, (_, look_up): &Lookup<'c>, rounds: u64) -> Duration {
        let mut random = Random::new(rounds);
        let mut took = Duration::ZERO;
        let mut left = rounds;
        while left > 0 {
            let count = left.min(AT_ONCE);
            let addresses: Vec<IpAddr> = (0..count).map(|_| (self.address)(&mut random)).collect();
            let begun = Instant::now();
            for address in &addresses {
                black_box(look_up(black_box(address)));
            }
            took += begun.elapsed();
            left -= count;
        }
        took
    }

    /// Measures the tables in turns, so that other load on the machine affects all of them alike,
    /// and prints the medians.
    fn compare(&self) {
        let mut turns: Vec<Vec<f64>> = vec![vec![]; self.tables.len() + 1];
        for turn in 0..TURNS {
            for (table, times) in self.tables.iter().chain([&self.limit]).zip(&mut turns) {
                times.push(self.time(table, LOOKUPS + turn).as_secs_f64() * 1e9 / LOOKUPS as f64);
            }
        }
        let mut medians: Vec<f64> = turns.iter_mut().map(|times| median(times)).collect();
        let limit = medians.pop().unwrap_or(f64::NAN);
        let fastest = medians.iter().skip(1).copied().fold(f64::INFINITY, f64::min);
        let tables = self.tables.iter().zip(&medians);
        let times: Vec<_> =
            tables.map(|((name, _), time)| format!("{name} {time:.0} ns")).collect();
        println!("{} in turns at {} subnets: {}", self.family, self.subnets, times.join(", "));
        println!(
            "{:.2} times faster than the fastest trie; one read of as much memory {limit:.0} ns",
            fastest / medians[0],
        );
    }
}

fn one_read(hierarchy: &Hierarchy) -> Lookup<'static> {
    let any = hierarchy.smallest(Ipv6Addr::UNSPECIFIED.into());
    let memory = vec![any; hierarchy.heap_bytes() / size_of::<SubnetId>()];
    let read = move |address: &IpAddr| {
        let bits = match address {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => (address.to_bits() >> 32) as u64,
        };
        // Fibonacci hashing spreads neighbours over the memory (Knuth, The Art of Computer
        // Programming 3, 6.4).
        let spread = u128::from(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        memory.get(((spread * memory.len() as u128) >> 64) as usize).copied()
    };
    ("one read", Box::new(read))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .measurement_time(Duration::from_secs(3))
        .warm_up_time(Duration::from_secs(1));
    targets = lookups
}
criterion_main!(benches);
