//! Map of the IPv4 space: which agent crawls which addresses, and which has most addresses of each
//! cell of a map.

use model::AgentId;

/// The addresses of a delegated subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelegatedAddresses {
    /// First of the addresses.
    pub first: u32,
    /// Last of the addresses, inclusive.
    pub last: u32,
    /// The agent of the subnet.
    pub agent: AgentId,
}

/// Addresses that one agent crawls: none of them is in a smaller delegated subnet of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First of the addresses.
    pub first: u32,
    /// Last of the addresses, inclusive.
    pub last: u32,
    /// The agent that crawls them.
    pub agent: AgentId,
}

/// The addresses of each agent, in their order, where the smallest delegated subnet counts. The
/// subnets overlap only by containment.
pub fn segments(mut subnets: Vec<DelegatedAddresses>) -> Vec<Segment> {
    // Outer subnets come before the inner ones that begin with them.
    subnets.sort_unstable_by_key(|subnet| (subnet.first, std::cmp::Reverse(subnet.last)));
    let mut segments = Vec::with_capacity(subnets.len());
    // The subnets around the present address, the smallest last, and the next address to assign.
    let mut open: Vec<DelegatedAddresses> = Vec::new();
    let mut next = 0_u64;
    for subnet in subnets {
        close(&mut open, &mut next, subnet.first.into(), &mut segments);
        if let Some(outer) = open.last() {
            push(&mut segments, next, subnet.first.into(), outer.agent);
        }
        next = subnet.first.into();
        open.push(subnet);
    }
    close(&mut open, &mut next, END, &mut segments);
    segments
}

/// The address after the last.
const END: u64 = 1 << 32;

/// Assigns the rest of the open subnets that end before `until`.
fn close(
    open: &mut Vec<DelegatedAddresses>,
    next: &mut u64,
    until: u64,
    segments: &mut Vec<Segment>,
) {
    while let Some(subnet) = open.pop_if(|subnet| u64::from(subnet.last) < until) {
        let end = u64::from(subnet.last) + 1;
        push(segments, *next, end, subnet.agent);
        *next = end.max(*next);
    }
}

/// Adds the addresses from `first` up to `end`, if there are any.
fn push(segments: &mut Vec<Segment>, first: u64, end: u64, agent: AgentId) {
    if first < end {
        // Both are below 2^32, because `end` is at most 2^32.
        segments.push(Segment { first: first as u32, last: (end - 1) as u32, agent });
    }
}

/// A run of neighbouring cells in which the same agent has most addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRun {
    /// The first of them, from 0.
    pub first: u32,
    /// Number of cells.
    pub cells: u32,
    /// The agent with most addresses of each.
    pub agent: AgentId,
}

/// The agent with most addresses of each cell, as runs. Cells begin at `base` and have
/// `2^cell_bits` addresses.
pub fn runs(segments: &[Segment], base: u32, cell_bits: u32) -> Vec<CellRun> {
    let mut runs: Vec<CellRun> = Vec::new();
    let mut shares: Vec<(AgentId, u64)> = Vec::new();
    let mut present = None;
    for segment in segments {
        let first = (segment.first - base) >> cell_bits;
        let last = (segment.last - base) >> cell_bits;
        if present != Some(first) {
            finish(&mut runs, present, &mut shares);
        }
        add(&mut shares, segment.agent, addresses_in(segment, base, cell_bits, first));
        present = Some(first);
        if last > first {
            finish(&mut runs, present, &mut shares);
            extend(&mut runs, first + 1, last - first - 1, segment.agent);
            add(&mut shares, segment.agent, addresses_in(segment, base, cell_bits, last));
            present = Some(last);
        }
    }
    finish(&mut runs, present, &mut shares);
    runs
}

/// How many addresses of a segment are in a cell.
fn addresses_in(segment: &Segment, base: u32, cell_bits: u32, cell: u32) -> u64 {
    let begin = u64::from(base) + (u64::from(cell) << cell_bits);
    let end = begin + (1 << cell_bits);
    let first = u64::from(segment.first).max(begin);
    let last = u64::from(segment.last).min(end - 1);
    (last + 1).saturating_sub(first)
}

fn add(shares: &mut Vec<(AgentId, u64)>, agent: AgentId, addresses: u64) {
    match shares.iter_mut().find(|(known, _)| *known == agent) {
        Some((_, sum)) => *sum += addresses,
        None => shares.push((agent, addresses)),
    }
}

/// Enters the agent with most addresses of a cell.
fn finish(runs: &mut Vec<CellRun>, cell: Option<u32>, shares: &mut Vec<(AgentId, u64)>) {
    let most = shares.iter().max_by_key(|(agent, sum)| (*sum, std::cmp::Reverse(*agent)));
    if let Some((cell, (agent, _))) = cell.zip(most) {
        extend(runs, cell, 1, *agent);
    }
    shares.clear();
}

/// Adds cells to the last run if they continue it.
fn extend(runs: &mut Vec<CellRun>, first: u32, cells: u32, agent: AgentId) {
    if cells == 0 {
        return;
    }
    match runs.last_mut() {
        Some(run) if run.agent == agent && run.first + run.cells == first => run.cells += cells,
        _ => runs.push(CellRun { first, cells, agent }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn delegated(first: u32, last: u32, agent: i64) -> DelegatedAddresses {
        DelegatedAddresses { first, last, agent: AgentId::new(agent) }
    }

    #[test]
    fn the_smallest_subnet_counts() {
        let whole = delegated(0, u32::MAX, 1);
        let found = segments(vec![delegated(16, 31, 2), whole, delegated(16, 19, 3)]);
        let seen: Vec<_> =
            found.iter().map(|part| (part.first, part.last, part.agent.get())).collect();
        assert_eq!(seen, [(0, 15, 1), (16, 19, 3), (20, 31, 2), (32, u32::MAX, 1)]);
    }

    #[test]
    fn a_cell_has_the_agent_with_most_addresses() {
        let parts = segments(vec![
            delegated(100, 103, 1),
            delegated(104, 120, 2),
            delegated(132, 163, 1),
            delegated(164, 164, 2),
        ]);
        // Cells of 16 addresses from 96: 96 to 111, 112 to 127, 128 to 143, 144 to 159, 160 to 175.
        let found: Vec<_> =
            runs(&parts, 96, 4).iter().map(|run| (run.first, run.cells, run.agent.get())).collect();
        assert_eq!(found, [(0, 2, 2), (2, 3, 1)]);
    }

    proptest! {
        /// Each address belongs to the smallest subnet around it, by a search through all of them.
        #[test]
        fn segments_are_the_smallest_subnets(
            blocks in prop::collection::vec((0_u32..8, 0_u32..256, 1_i64..5), 0..12),
        ) {
            let mut subnets: Vec<DelegatedAddresses> = Vec::new();
            for (bits, address, agent) in blocks {
                let first = address >> bits << bits;
                let subnet = delegated(first, first + (1 << bits) - 1, agent);
                let range = (subnet.first, subnet.last);
                if !subnets.iter().any(|known| (known.first, known.last) == range) {
                    subnets.push(subnet);
                }
            }
            let found = segments(subnets.clone());
            for address in 0..512_u32 {
                let holds = |first: u32, last: u32| (first..=last).contains(&address);
                let smallest = subnets
                    .iter()
                    .filter(|subnet| holds(subnet.first, subnet.last))
                    .min_by_key(|subnet| subnet.last - subnet.first)
                    .map(|subnet| subnet.agent);
                let parts: Vec<_> =
                    found.iter().filter(|part| holds(part.first, part.last)).collect();
                prop_assert!(parts.len() <= 1);
                prop_assert_eq!(parts.first().map(|part| part.agent), smallest);
            }
            // All cells of one address have the agent of their address.
            let mut cells = Vec::new();
            for run in runs(&found, 0, 0) {
                cells.extend((run.first..run.first + run.cells).map(|cell| (cell, run.agent)));
            }
            let addresses: Vec<_> = found
                .iter()
                .flat_map(|part| (part.first..=part.last).map(|address| (address, part.agent)))
                .collect();
            prop_assert_eq!(cells, addresses);
        }
    }
}
