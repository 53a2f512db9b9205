//! Map of the IPv4 space: which agent crawls which addresses, and which agent has the most
//! addresses of each cell of a map.

use std::cmp::Reverse;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, SubnetId, flatten};
use model::AgentId;

use crate::DelegationTable;

/// The delegated subnets that share an address with `range`, in the order of the hierarchy: outer
/// subnets come before the inner ones.
pub fn delegated_in(
    hierarchy: &Hierarchy,
    table: &DelegationTable,
    range: &Range,
) -> Vec<(Range, AgentId)> {
    let inside = hierarchy.beginning_in(range);
    let smallest = hierarchy.smallest(range.first());
    let mut around: Vec<SubnetId> =
        std::iter::once(smallest).chain(hierarchy.ancestors(smallest)).collect();
    around.retain(|subnet| *subnet < inside.start);
    around.reverse();
    let around = around.into_iter().filter_map(|subnet| Some((subnet, table.get(subnet)?)));
    let delegated = around.chain(table.between(inside));
    delegated
        .map(|(subnet, delegation)| (hierarchy.subnet(subnet).range(), delegation.agent))
        .collect()
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

/// The addresses from `first` to `last` of each agent, in their order, where the smallest delegated
/// subnet counts. The subnets are of IPv4 and overlap only by containment.
pub fn segments(subnets: Vec<(Range, AgentId)>, first: u32, last: u32) -> Vec<Segment> {
    let mut segments = Vec::with_capacity(subnets.len());
    for (range, agent) in flatten(subnets) {
        if let (IpAddr::V4(begin), IpAddr::V4(end)) = (range.first(), range.last()) {
            let first = begin.to_bits().max(first);
            let last = end.to_bits().min(last);
            segments.extend((first <= last).then_some(Segment { first, last, agent }));
        }
    }
    segments
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

/// A part of the IPv4 space, cell by cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressMap {
    /// The agent with most addresses of each cell.
    pub runs: Vec<CellRun>,
    /// Addresses of each agent, the most first.
    pub addresses: Vec<(AgentId, u64)>,
}

/// Draws segments. Cells begin at `base` and have `2^cell_bits` addresses; `agents` are all agents
/// of the segments, in their order.
pub fn draw(segments: &[Segment], agents: &[AgentId], base: u32, cell_bits: u32) -> AddressMap {
    let mut drawing = Drawing::of(agents);
    for segment in segments {
        // The agents are those of the segments.
        let Ok(agent) = agents.binary_search(&segment.agent) else { continue };
        let first = (segment.first - base) >> cell_bits;
        let last = (segment.last - base) >> cell_bits;
        drawing.add(first, agent, addresses_in(segment, base, cell_bits, first));
        if last > first {
            drawing.add_whole(first + 1, last - first - 1, agent, 1 << cell_bits);
            drawing.add(last, agent, addresses_in(segment, base, cell_bits, last));
        }
    }
    drawing.finish()
}

/// How many addresses of a segment are in a cell.
fn addresses_in(segment: &Segment, base: u32, cell_bits: u32, cell: u32) -> u64 {
    let begin = u64::from(base) + (u64::from(cell) << cell_bits);
    let end = begin + (1 << cell_bits);
    let first = u64::from(segment.first).max(begin);
    let last = u64::from(segment.last).min(end - 1);
    (last + 1).saturating_sub(first)
}

/// A map that is being drawn from the first address to the last. Agents are places in a list: a
/// cell of many small subnets has most of the agents, so that each addition takes one step.
struct Drawing<'a> {
    agents: &'a [AgentId],
    runs: Vec<CellRun>,
    /// The cell to which the last addresses were added.
    cell: Option<u32>,
    /// Addresses of each agent in that cell.
    shares: Vec<u64>,
    /// The agents with a share.
    sharing: Vec<usize>,
    /// Addresses of each agent in all cells.
    totals: Vec<u64>,
}

impl<'a> Drawing<'a> {
    fn of(agents: &'a [AgentId]) -> Self {
        Self {
            agents,
            runs: Vec::new(),
            cell: None,
            shares: vec![0; agents.len()],
            sharing: Vec::new(),
            totals: vec![0; agents.len()],
        }
    }

    /// Adds addresses of an agent to a cell, which is the last one or one after it.
    fn add(&mut self, cell: u32, agent: usize, addresses: u64) {
        if self.cell != Some(cell) {
            self.finish_cell();
            self.cell = Some(cell);
        }
        if self.shares[agent] == 0 {
            self.sharing.push(agent);
        }
        self.shares[agent] += addresses;
        self.totals[agent] += addresses;
    }

    /// Adds cells that are after the last one and whose addresses all belong to an agent.
    fn add_whole(&mut self, first: u32, cells: u32, agent: usize, addresses: u64) {
        self.finish_cell();
        extend(&mut self.runs, first, cells, self.agents[agent]);
        self.totals[agent] += u64::from(cells) * addresses;
    }

    /// Enters the agent with most addresses of the last cell.
    fn finish_cell(&mut self) {
        let most = |agent: &usize| (self.shares[*agent], Reverse(*agent));
        let winner = self.sharing.iter().copied().max_by_key(most);
        if let Some((cell, agent)) = self.cell.take().zip(winner) {
            extend(&mut self.runs, cell, 1, self.agents[agent]);
        }
        for agent in self.sharing.drain(..) {
            self.shares[agent] = 0;
        }
    }

    fn finish(mut self) -> AddressMap {
        self.finish_cell();
        let totals = self.agents.iter().copied().zip(self.totals);
        let mut addresses: Vec<(AgentId, u64)> = totals.filter(|(_, sum)| *sum > 0).collect();
        addresses.sort_by_key(|(agent, sum)| (Reverse(*sum), *agent));
        AddressMap { runs: self.runs, addresses }
    }
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
    use std::net::Ipv4Addr;

    use hierarchy::{Builder, Companies, Generation, Record, SubnetKind};
    use model::Reason;
    use proptest::prelude::*;

    use super::*;
    use crate::Delegation;

    fn delegated(first: u32, last: u32, agent: i64) -> (Range, AgentId) {
        let address = |bits| IpAddr::V4(Ipv4Addr::from_bits(bits));
        (Range::new(address(first), address(last)).unwrap(), AgentId::new(agent))
    }

    #[test]
    fn the_smallest_subnet_counts() {
        let whole = delegated(0, u32::MAX, 1);
        let found = segments(vec![delegated(16, 31, 2), whole, delegated(16, 19, 3)], 4, u32::MAX);
        let seen: Vec<_> =
            found.iter().map(|part| (part.first, part.last, part.agent.get())).collect();
        assert_eq!(seen, [(4, 15, 1), (16, 19, 3), (20, 31, 2), (32, u32::MAX, 1)]);
    }

    #[test]
    fn a_cell_has_the_agent_with_most_addresses() {
        let subnets = [
            delegated(100, 103, 1),
            delegated(104, 120, 2),
            delegated(132, 163, 1),
            delegated(164, 170, 2),
        ];
        let parts = segments(subnets.to_vec(), 0, 164);
        // Cells of 16 addresses from 96: 96 to 111, 112 to 127, 128 to 143, 144 to 159, 160 to 175.
        let map = draw(&parts, &[AgentId::new(1), AgentId::new(2)], 96, 4);
        let found: Vec<_> =
            map.runs.iter().map(|run| (run.first, run.cells, run.agent.get())).collect();
        assert_eq!(found, [(0, 2, 2), (2, 3, 1)]);
        assert_eq!(map.addresses, [(AgentId::new(1), 36), (AgentId::new(2), 18)]);
    }

    #[test]
    fn cells_inside_a_segment_count_for_its_agent() {
        let agent = AgentId::new(7);
        let map = draw(&segments(vec![delegated(8, 1_000, 7)], 0, u32::MAX), &[agent], 0, 4);
        assert_eq!(map.runs, [CellRun { first: 0, cells: 63, agent }]);
        assert_eq!(map.addresses, [(agent, 993)]);
    }

    #[test]
    fn a_part_of_the_space_has_the_subnets_that_touch_it() {
        let ranges = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.3.0/24", "11.0.0.0/8"];
        let mut builder = Builder::default();
        for range in ranges {
            builder.add(Record {
                range: range.parse().unwrap(),
                kind: SubnetKind::Delegated,
                registry: None,
                company: None,
                country: None,
            });
        }
        let hierarchy = builder.build(Generation::new(1), Companies::default()).0;
        let delegation = Delegation { agent: AgentId::new(1), reason: Reason::Home };
        let subnets = ranges.map(|range| hierarchy.find(&range.parse().unwrap()).unwrap());
        let table = DelegationTable::of(&hierarchy, subnets.map(|subnet| (subnet, delegation)));
        let found = |range: &str| {
            let found = delegated_in(&hierarchy, &table, &range.parse().unwrap());
            found.iter().map(|(range, _)| range.first().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("10.1.2.128/25"), ["10.0.0.0", "10.1.0.0", "10.1.2.0"]);
        assert_eq!(found("10.1.0.0/16"), ["10.0.0.0", "10.1.0.0", "10.1.2.0", "10.1.3.0"]);
        assert_eq!(found("11.0.0.0/8"), ["11.0.0.0"]);
        assert_eq!(found("0.0.0.0/0").len(), 5);
        assert_eq!(found("12.0.0.0/8").len(), 0);
    }

    proptest! {
        /// Each address belongs to the smallest subnet around it, by a search through all of them.
        #[test]
        fn segments_are_the_smallest_subnets(
            blocks in prop::collection::vec((0_u32..8, 0_u32..256, 1_i64..5), 0..12),
        ) {
            let mut subnets: Vec<(Range, AgentId)> = Vec::new();
            for (bits, address, agent) in blocks {
                let first = address >> bits << bits;
                let subnet = delegated(first, first + (1 << bits) - 1, agent);
                if !subnets.iter().any(|(known, _)| *known == subnet.0) {
                    subnets.push(subnet);
                }
            }
            let found = segments(subnets.clone(), 0, u32::MAX);
            for address in 0..512_u32 {
                let smallest = subnets
                    .iter()
                    .filter(|(range, _)| range.contains(Ipv4Addr::from_bits(address).into()))
                    .min_by_key(|(range, _)| range.addresses())
                    .map(|(_, agent)| *agent);
                let parts: Vec<_> = found
                    .iter()
                    .filter(|part| (part.first..=part.last).contains(&address))
                    .collect();
                prop_assert!(parts.len() <= 1);
                prop_assert_eq!(parts.first().map(|part| part.agent), smallest);
            }
            // All cells of one address have the agent of their address.
            let mut cells = Vec::new();
            let agents: Vec<AgentId> = (1..5).map(AgentId::new).collect();
            for run in draw(&found, &agents, 0, 0).runs {
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
