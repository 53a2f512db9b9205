//! How long it takes to find the smallest subnet of a random address, beside the tries that others
//! wrote, on the same data in the same run. Run with `cargo bench -p hierarchy`; every figure is
//! the time of one lookup, on one thread. Ends each size with how many times faster than the
//! fastest trie it was.

#![expect(clippy::unwrap_used, reason = "a bench stops at what it did not expect")]

mod registry;
mod tries;

use std::hint::black_box;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hierarchy::{Hierarchy, Snapshot, SubnetId};

use crate::registry::{Chance, made_up};
use crate::tries::{Contestant, LcTrie, NetworkTable, PrefixTrie};

/// Delegated ranges of the five registries together in 2018, then full WHOIS copies' order of
/// magnitude.
const SIZES: [usize; 3] = [232_000, 1_000_000, 10_000_000];
/// Addresses of which the answers are compared first.
const COMPARED: usize = 1 << 20;
/// Turns of the comparison at the end, and lookups of each.
const TURNS: u64 = 15;
const LOOKUPS: u64 = 200_000;
/// Addresses made at a time.
const AT_ONCE: u64 = 512;

fn lookups(criterion: &mut Criterion) {
    for ranges in SIZES {
        let begun = Instant::now();
        let hierarchy = made_up(ranges);
        let bytes = hierarchy.heap_bytes().subnets as f64 / hierarchy.len() as f64;
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "{} subnets, made and built in {seconds:.2} s, {bytes:.1} bytes a subnet",
            hierarchy.len()
        );
        restart(&hierarchy);
        let four = |chance: &mut Chance| IpAddr::V4(chance.bits().into());
        Contest::new("IPv4", &hierarchy, &four).run(criterion);
        let held = hierarchy.iter().next_back().unwrap().range();
        let six = |chance: &mut Chance| six(chance, held.last());
        Contest::new("IPv6", &hierarchy, &six).run(criterion);
    }
}

/// How long a start takes that finds a snapshot in memory: until the hierarchy answers, and until
/// it does so quickly.
fn restart(hierarchy: &Hierarchy) {
    let mut bytes = vec![];
    Snapshot::write(hierarchy, 1, &mut bytes).unwrap();
    let begun = Instant::now();
    let Snapshot { hierarchy, .. } = Snapshot::read(&mut bytes.as_slice()).unwrap();
    let read = begun.elapsed().as_secs_f64();
    let mut chance = Chance::new(5);
    let begun = Instant::now();
    for _ in 0..LOOKUPS {
        black_box(hierarchy.smallest(IpAddr::V4(chance.bits().into())));
    }
    let slow = begun.elapsed().as_secs_f64() * 1e9 / LOOKUPS as f64;
    let bytes = bytes.len();
    println!("snapshot of {bytes} bytes read in {read:.2} s ({slow:.0} ns a lookup)");
}

/// Somewhere between 2a00:: and the end of what is held: most of IPv6 is empty, and to miss it
/// would be no work.
fn six(chance: &mut Chance, end: IpAddr) -> IpAddr {
    let base = 0x2a00_u128 << 112;
    let IpAddr::V6(end) = end else { return end };
    let anywhere = (0..4).fold(0, |all, _| all << 32 | u128::from(chance.bits()));
    Ipv6Addr::from_bits(base + anywhere % (end.to_bits() - base)).into()
}

/// The same addresses for everybody. They are made a few at a time, since a long list of them would
/// take the cache from the contestants, and not one by one: an address that was only just written
/// would keep lookups that do not depend on each other from overlapping.
struct Contest<'c> {
    family: &'static str,
    subnets: usize,
    address: &'c dyn Fn(&mut Chance) -> IpAddr,
    contestants: Vec<Contestant<'c>>,
    /// One read at random out of as much memory as the hierarchy takes: nothing that looks up
    /// anything there is faster.
    limit: Contestant<'c>,
}

impl<'c> Contest<'c> {
    /// Ours first, then the tries; all must give the same answers.
    fn new(
        family: &'static str,
        hierarchy: &'c Hierarchy,
        address: &'c dyn Fn(&mut Chance) -> IpAddr,
    ) -> Self {
        let ours: Contestant<'c> =
            ("hierarchy", Box::new(|address| Some(hierarchy.smallest(*address))));
        let tries = [
            tries::peer::<PrefixTrie>(hierarchy),
            tries::peer::<NetworkTable>(hierarchy),
            tries::peer::<LcTrie>(hierarchy),
        ];
        let contestants: Vec<_> = std::iter::once(ours).chain(tries).collect();
        let mut chance = Chance::new(11);
        for _ in 0..COMPARED {
            let address = address(&mut chance);
            for (name, look_up) in &contestants {
                assert_eq!(
                    look_up(&address),
                    Some(hierarchy.smallest(address)),
                    "{name}: {address}"
                );
            }
        }
        Self { family, subnets: hierarchy.len(), address, contestants, limit: one_read(hierarchy) }
    }

    fn run(&self, criterion: &mut Criterion) {
        let mut group =
            criterion.benchmark_group(format!("smallest subnet of an {} address", self.family));
        for contestant in &self.contestants {
            group.bench_function(BenchmarkId::new(contestant.0, self.subnets), |bencher| {
                bencher.iter_custom(|rounds| self.time(contestant, rounds));
            });
        }
        group.finish();
        self.compare();
    }

    fn time(&self, (_, look_up): &Contestant<'c>, rounds: u64) -> Duration {
        let mut chance = Chance::new(rounds);
        let (mut took, mut left) = (Duration::ZERO, rounds);
        while left > 0 {
            let some = left.min(AT_ONCE);
            let addresses: Vec<IpAddr> = (0..some).map(|_| (self.address)(&mut chance)).collect();
            let begun = Instant::now();
            for address in &addresses {
                black_box(look_up(black_box(address)));
            }
            took += begun.elapsed();
            left -= some;
        }
        took
    }

    /// Once more in turns, so that whatever else the machine does meets all of them alike, and the
    /// medians beside each other.
    fn compare(&self) {
        let mut turns: Vec<Vec<f64>> = vec![vec![]; self.contestants.len() + 1];
        for turn in 0..TURNS {
            for (contestant, times) in self.contestants.iter().chain([&self.limit]).zip(&mut turns)
            {
                times.push(
                    self.time(contestant, LOOKUPS + turn).as_secs_f64() * 1e9 / LOOKUPS as f64,
                );
            }
        }
        let mut medians: Vec<f64> = turns.iter_mut().map(|times| median(times)).collect();
        let limit = medians.pop().unwrap_or(f64::NAN);
        let fastest = medians.iter().skip(1).copied().fold(f64::INFINITY, f64::min);
        let named = self
            .contestants
            .iter()
            .zip(&medians)
            .map(|((name, _), time)| format!("{name} {time:.0} ns"));
        println!(
            "{} in turns at {} subnets: {}; {:.2} times faster than the fastest trie; one read of as much memory {limit:.0} ns",
            self.family,
            self.subnets,
            named.collect::<Vec<_>>().join(", "),
            fastest / medians[0],
        );
    }
}

fn one_read(hierarchy: &Hierarchy) -> Contestant<'static> {
    let some = hierarchy.smallest(Ipv6Addr::UNSPECIFIED.into());
    let memory = vec![some; hierarchy.heap_bytes().subnets / size_of::<SubnetId>()];
    let read = move |address: &IpAddr| {
        let bits = match address {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => (address.to_bits() >> 32) as u64,
        };
        // Multiplied by the golden ratio neighbours are far apart (Knuth, The Art of Computer
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
    config = Criterion::default().sample_size(30).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    targets = lookups
}
criterion_main!(benches);
