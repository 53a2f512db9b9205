//! Balance of the ring, and the time to find a host's agent.
//!
//! Run with `cargo bench -p region`. The deviation of an agent is |share / expected share − 1|,
//! where the share is the exact part of the circle that it owns; hosts are spread evenly over the
//! circle. Mean and maximum are over all agents of all rings of a row.

#![expect(clippy::unwrap_used, reason = "an unexpected result ends the benchmark")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use model::AgentId;
use region::ring::{Ring, Share};

const AGENTS: [usize; 8] = [2, 4, 8, 16, 64, 200, 500, 1_000];
/// Agents of all rings of a row together: small rings are drawn more often.
const DRAWN: usize = 4_000;

/// Keys are pseudo-random, as real ones are.
fn key(ring: u64, agent: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&ring.to_le_bytes());
    key[8..16].copy_from_slice(&agent.to_le_bytes());
    key
}

fn ring(number: u64, agents: usize, replicas: u32, heaviest: u32) -> (Ring, Vec<u32>) {
    let weights: Vec<u32> = (0..agents as u32).map(|agent| 1 + agent % heaviest).collect();
    let share = |(agent, weight): (u32, &u32)| Share {
        agent: AgentId::new(agent.into()),
        key: key(number, agent.into()),
        replicas: weight * replicas,
    };
    let shares: Vec<Share> = (0..).zip(&weights).map(share).collect();
    (Ring::new(&shares).unwrap(), weights)
}

fn deviations(agents: usize, replicas: u32, heaviest: u32) -> Vec<f64> {
    let mut deviations = Vec::new();
    for number in 0..(DRAWN / agents).max(4) as u64 {
        let (ring, weights) = ring(number, agents, replicas, heaviest);
        let total: u32 = weights.iter().sum();
        for ((_, share), weight) in ring.shares().iter().zip(&weights) {
            let expected = f64::from(*weight) / f64::from(total);
            deviations.push((share / expected - 1.0).abs());
        }
    }
    deviations
}

/// Prints the balance table.
fn balance(_: &mut Criterion) {
    println!("agents     k  weights   mean %    max %");
    for replicas in [100, 200] {
        for heaviest in [1, 8] {
            for agents in AGENTS {
                let all = deviations(agents, replicas, heaviest);
                let mean = 100.0 * all.iter().sum::<f64>() / all.len() as f64;
                let most = 100.0 * all.iter().copied().fold(0.0, f64::max);
                println!("{agents:6} {replicas:5}   1 to {heaviest} {mean:8.2} {most:8.2}");
            }
        }
    }
}

fn lookups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("agent of a host");
    for agents in AGENTS {
        let (ring, _) = ring(1, agents, 200, 1);
        let mut position = 1_u64;
        group.bench_function(BenchmarkId::new("nearest", agents), |bencher| {
            bencher.iter(|| {
                // A new position each time: a repeated one would be in the cache.
                position = position.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                black_box(ring.order(position ^ position >> 31).next())
            });
        });
        group.bench_function(BenchmarkId::new("next three", agents), |bencher| {
            bencher.iter(|| {
                position = position.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                black_box(ring.order(position ^ position >> 31).take(3).last())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, balance, lookups);
criterion_main!(benches);
