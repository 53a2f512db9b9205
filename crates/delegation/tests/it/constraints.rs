//! Pins come before everything, exclusions keep out, and doing what is due leaves nothing to do.

use std::collections::HashMap;

use delegation::constraints::{Correction, Exclusion, Pin, ReopenReason, corrections};
use delegation::{
    Constraints, Delegation, DelegationTable, ProbeOutcome, TrailProbe, candidates, skipped,
};
use hierarchy::{Hierarchy, Registry, Scope, SubnetId};
use model::{AgentId, ExclusionId, Phase, PinId, Reason, SkipReason};
use proptest::prelude::*;

use crate::map::{self, agent, delegation_table, ready, subnet};

const RANGES: [(&str, Option<&str>); 6] = [
    ("20.0.0.0/8", None),
    ("20.1.0.0/16", Some("north")),
    ("20.1.7.0/24", Some("tenant")),
    ("20.2.0.0/16", Some("north")),
    ("20.3.0.0/16", Some("south")),
    ("20.4.0.0/16", Some("south")),
];

fn range(text: &str) -> Scope {
    Scope::Range(text.parse().unwrap())
}

fn company(handle: &str) -> Scope {
    Scope::Company { registry: Registry::RipeNcc, handle: handle.into() }
}

fn pin(number: i64, scope: Scope, who: i64) -> Pin {
    Pin { id: PinId::new(number), scope, agent: agent(who) }
}

fn exclusion(number: i64, scope: Scope, who: i64) -> Exclusion {
    Exclusion { id: ExclusionId::new(number), scope, agent: agent(who) }
}

fn dues(
    hierarchy: &Hierarchy,
    constraints: &Constraints,
    delegation_table: &DelegationTable,
    wanted: &[&str],
) -> Vec<(SubnetId, Correction)> {
    let wanted = wanted.iter().map(|text| subnet(hierarchy, text));
    corrections(hierarchy, constraints, delegation_table, &HashMap::new(), wanted)
        .into_iter()
        .collect()
}

#[test]
fn the_narrowest_pin_holds() {
    let hierarchy = map::hierarchy(&RANGES);
    let pins = vec![
        pin(1, company("north"), 1),
        pin(2, range("20.1.0.0/16"), 2),
        pin(3, range("20.1.7.0/24"), 3),
    ];
    let constraints = Constraints::new(pins, vec![]);
    let held = |text| constraints.pin(&hierarchy, subnet(&hierarchy, text)).map(|pin| pin.id.get());
    assert_eq!(
        ["20.2.0.0/16", "20.1.0.0/16", "20.1.7.0/24", "20.3.0.0/16", "20.0.0.0/8"].map(held),
        [Some(1), Some(2), Some(3), None, None]
    );
}

#[test]
fn what_is_pinned_is_given_and_what_is_only_wanted_too() {
    let hierarchy = map::hierarchy(&RANGES);
    let constraints = Constraints::new(
        vec![pin(1, company("north"), 1), pin(2, range("20.4.0.0/16"), 2)],
        vec![],
    );
    let delegation_table = delegation_table(&hierarchy, &[("20.1.0.0/16", 5), ("20.3.0.0/16", 5)]);
    let give = |number, who| Correction::Assign { pin: PinId::new(number), agent: agent(who) };
    assert_eq!(
        dues(&hierarchy, &constraints, &delegation_table, &["20.2.0.0/16"]),
        [
            (subnet(&hierarchy, "20.1.0.0/16"), give(1, 1)),
            (subnet(&hierarchy, "20.2.0.0/16"), give(1, 1)),
            (subnet(&hierarchy, "20.4.0.0/16"), give(2, 2)),
        ]
    );
}

#[test]
fn a_pin_that_is_over_and_an_exclusion_lead_to_a_search() {
    let hierarchy = map::hierarchy(&RANGES);
    let delegation_table =
        delegation_table(&hierarchy, &[("20.1.0.0/16", 5), ("20.3.0.0/16", 5), ("20.4.0.0/16", 6)]);
    let constraints = Constraints::new(vec![], vec![exclusion(9, company("south"), 5)]);
    let marked = HashMap::from([(subnet(&hierarchy, "20.1.0.0/16"), PinId::new(1))]);
    let due: Vec<_> =
        corrections(&hierarchy, &constraints, &delegation_table, &marked, []).into_iter().collect();
    let search = |reason| Correction::Reopen { from: agent(5), reason };
    assert_eq!(
        due,
        [
            (subnet(&hierarchy, "20.1.0.0/16"), search(ReopenReason::PinOver)),
            (
                subnet(&hierarchy, "20.3.0.0/16"),
                search(ReopenReason::Excluded(ExclusionId::new(9)))
            ),
        ]
    );
}

#[test]
fn a_pin_is_stronger_than_an_exclusion() {
    let hierarchy = map::hierarchy(&RANGES);
    let everywhere = exclusion(1, Scope::Country("CY".parse().unwrap()), 5);
    let constraints = Constraints::new(vec![pin(1, range("20.1.0.0/16"), 5)], vec![everywhere]);
    let excluded = |text, who| {
        constraints.exclusion(&hierarchy, subnet(&hierarchy, text), agent(who)).is_some()
    };
    assert!(
        !excluded("20.1.0.0/16", 5) && excluded("20.2.0.0/16", 5) && !excluded("20.2.0.0/16", 6)
    );
    let available = ready(&[4, 5, 6]);
    let permitted =
        constraints.permitted(&hierarchy, &available, subnet(&hierarchy, "20.2.0.0/16"));
    assert_eq!(permitted.agents().collect::<Vec<_>>(), [agent(4), agent(6)]);
}

#[test]
fn a_drained_agent_gets_nothing_and_its_pins_are_suspended() {
    let hierarchy = map::hierarchy(&RANGES);
    let pins = vec![pin(1, range("20.1.0.0/16"), 5), pin(2, company("north"), 6)];
    let constraints = Constraints::new(pins, vec![]).with_drained([agent(5)].into());
    let pinned = subnet(&hierarchy, "20.1.0.0/16");
    assert_eq!(constraints.pin(&hierarchy, pinned).map(|pin| pin.agent), Some(agent(6)));
    assert!(constraints.forbids(&hierarchy, pinned, agent(5)));
    assert!(!constraints.forbids(&hierarchy, pinned, agent(6)));
    let available = ready(&[4, 5, 6]);
    let permitted = constraints.permitted(&hierarchy, &available, pinned);
    assert_eq!(permitted.agents().collect::<Vec<_>>(), [agent(4), agent(6)]);
}

#[test]
fn who_is_passed_over_depends_on_where_the_search_stopped() {
    let hierarchy = map::hierarchy(&RANGES);
    let delegation_table =
        delegation_table(&hierarchy, &[("20.1.0.0/16", 1), ("20.2.0.0/16", 2), ("20.4.0.0/16", 3)]);
    let available = ready(&[1, 2, 3, 4, 5]);
    let target = subnet(&hierarchy, "20.3.0.0/16");
    let asked = |who| TrailProbe {
        agent: agent(who),
        phase: Phase::Sibling,
        outcome: ProbeOutcome::Measured { rtt_us: 9 },
    };
    let why = |who: AgentId| match who.get() {
        1 => Some(SkipReason::Asleep),
        4 => Some(SkipReason::Excluded),
        5 => Some(SkipReason::Absent),
        _ => None,
    };
    let told = |reason, chosen| {
        let order = candidates(&hierarchy, &delegation_table, &available, target);
        skipped(order, &[asked(chosen)], (reason, agent(chosen)), why)
    };
    let asleep = (agent(1), SkipReason::Asleep);
    let excluded = (agent(4), SkipReason::Excluded);
    assert_eq!(told(Reason::Company, 3), [], "it came first");
    assert_eq!(told(Reason::Threshold, 2), [asleep], "the other one's turn had not come");
    let absent = (agent(5), SkipReason::Absent);
    assert_eq!(told(Reason::Lowest, 2), [asleep, excluded, absent]);
    assert_eq!(told(Reason::Predicted, 2), [excluded, absent]);
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        prop::sample::select(vec!["20.1.0.0/16", "20.1.7.0/24", "20.0.0.0/8", "20.4.0.0/16"])
            .prop_map(range),
        prop::sample::select(vec!["north", "south", "tenant"]).prop_map(company),
    ]
}

proptest! {
    /// Once what is due was done, nothing is due but searches, and no agent has a subnet where a
    /// pin says otherwise.
    #[test]
    fn done_is_done(
        held in prop::collection::vec((1_usize..6, 1_i64..4), 0..6),
        pins in prop::collection::vec((scope(), 1_i64..4), 0..4),
        exclusions in prop::collection::vec((scope(), 1_i64..4), 0..4),
    ) {
        let hierarchy = map::hierarchy(&RANGES);
        let held: Vec<(&str, i64)> =
            held.into_iter().map(|(place, who)| (RANGES[place].0, who)).collect();
        let mut delegation_table = delegation_table(&hierarchy, &held);
        let numbered = |at: usize| i64::try_from(at).unwrap();
        let pins = pins
            .into_iter()
            .enumerate()
            .map(|(at, (scope, who))| pin(numbered(at), scope, who))
            .collect();
        let exclusions = exclusions
            .into_iter()
            .enumerate()
            .map(|(at, (scope, who))| exclusion(numbered(at), scope, who))
            .collect();
        let constraints = Constraints::new(pins, exclusions);
        let mut marked = HashMap::new();
        for (subnet, due) in corrections(&hierarchy, &constraints, &delegation_table, &marked, []) {
            if let Correction::Assign { pin, agent } = due {
                delegation_table.insert(
                    &hierarchy,
                    subnet,
                    Delegation { agent, reason: Reason::Pinned },
                );
                marked.insert(subnet, pin);
            }
        }
        for (subnet, holding) in delegation_table.iter() {
            prop_assert!(
                constraints.pin(&hierarchy, subnet).is_none_or(|pin| pin.agent == holding.agent)
            );
        }
        for (subnet, due) in corrections(&hierarchy, &constraints, &delegation_table, &marked, []) {
            prop_assert!(matches!(due, Correction::Reopen { .. }), "{due:?}");
            prop_assert!(constraints.pin(&hierarchy, subnet).is_none());
        }
    }
}
