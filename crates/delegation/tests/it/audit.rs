//! The linter finds each mistake, names it, and finds nothing where there is none.

use delegation::audit::{AuditedAgent, AuditedDelegation, Finding, audit};
use hierarchy::{Generation, Hierarchy, Range};
use model::Reason;
use proptest::prelude::*;

use crate::map::{self, agent};

const RANGES: [&str; 4] = ["20.1.0.0/16", "20.2.0.0/16", "20.3.0.0/16", "20.4.0.0/16"];

fn hierarchy() -> Hierarchy {
    map::hierarchy(&RANGES.map(|range| (range, Some(range))))
}

fn range(text: &str) -> Range {
    text.parse().unwrap()
}

fn entry(hierarchy: &Hierarchy, text: &str, number: i64) -> AuditedDelegation {
    let generation = hierarchy.generation();
    AuditedDelegation {
        range: range(text),
        agent: agent(number),
        reason: Reason::Threshold,
        generation,
        load: 10,
    }
}

fn agents() -> Vec<AuditedAgent> {
    (1..=2).map(|number| AuditedAgent { agent: agent(number), capacity: 20 }).collect()
}

#[test]
fn a_sound_book_has_no_findings() {
    let hierarchy = hierarchy();
    let entries =
        [(0, 1), (1, 1), (2, 2)].map(|(place, number)| entry(&hierarchy, RANGES[place], number));
    assert_eq!(audit(&hierarchy, &agents(), &entries), []);
}

#[test]
fn each_mistake_is_found() {
    let hierarchy = hierarchy();
    let entry = |text, number| entry(&hierarchy, text, number);
    let stale = Generation::new(7);
    let found = |entries: &[AuditedDelegation]| audit(&hierarchy, &agents(), entries);
    let first = range(RANGES[0]);
    let cases = [
        (
            vec![entry(RANGES[0], 1), entry(RANGES[0], 2)],
            Finding::TwoOwners { range: first, agents: [agent(1), agent(2)] },
        ),
        (vec![entry(RANGES[0], 9)], Finding::InactiveAgent { range: first, agent: agent(9) }),
        (
            vec![entry("20.1.0.0/17", 1)],
            Finding::Orphan { range: range("20.1.0.0/17"), agent: agent(1) },
        ),
        (
            vec![entry("0.0.0.0/0", 1)],
            Finding::NotDelegable { range: range("0.0.0.0/0"), agent: agent(1) },
        ),
        (
            vec![AuditedDelegation { generation: stale, ..entry(RANGES[0], 1) }],
            Finding::StaleGeneration { range: first, generation: stale },
        ),
        (
            vec![AuditedDelegation { load: 15, ..entry(RANGES[0], 1) }, entry(RANGES[1], 1)],
            Finding::OverCapacity { agent: agent(1), load: 25, capacity: 20 },
        ),
    ];
    for (entries, finding) in cases {
        assert_eq!(found(&entries), [finding]);
        assert!(finding.to_string().contains("; "), "it says what to do: {finding}");
    }
}

proptest! {
    /// Every entry that is out of order is found, regardless of other entries in the delegation
    /// table, and nothing else is.
    #[test]
    fn exactly_the_mistakes_are_found(
        choices in prop::collection::vec((0_usize..4, 1_i64..6, 0_u64..12), 0..12),
    ) {
        let hierarchy = hierarchy();
        let entries: Vec<AuditedDelegation> = choices
            .iter()
            .map(|(place, number, load)| AuditedDelegation {
                load: *load,
                ..entry(&hierarchy, RANGES[*place], *number)
            })
            .collect();
        let findings = audit(&hierarchy, &agents(), &entries);
        let count = |word: &str| findings.iter().filter(|finding| finding.as_str() == word).count();
        let distinct: std::collections::HashSet<Range> =
            entries.iter().map(|entry| entry.range).collect();
        prop_assert_eq!(count("two_owners"), entries.len() - distinct.len());
        prop_assert_eq!(
            count("inactive_agent"),
            entries.iter().filter(|entry| entry.agent >= agent(3)).count()
        );
        let load = |number| {
            entries
                .iter()
                .filter(|entry| entry.agent == agent(number))
                .map(|entry| entry.load)
                .sum::<u64>()
        };
        prop_assert_eq!(
            count("over_capacity"),
            (1..=2).filter(|number| load(*number) > 20).count()
        );
        prop_assert_eq!(count("orphan") + count("not_delegable") + count("stale_generation"), 0);
    }
}
