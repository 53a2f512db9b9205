//! The paper's procedure, traced by hand on sixteen subnets. Each test quotes the sentence it
//! holds.
//!
//! ```text
//! 0.0.0.0/0
//! ├── 20.0.0.0/8
//! │   ├── 20.1.0.0/16
//! │   │   ├── 20.1.1.0/24       company one      held by agent 1 (its home)
//! │   │   ├── 20.1.2.0/24       company two
//! │   │   └── 20.1.3.0/24       company three
//! │   │       └── 20.1.3.0/26   company four     held by agent 4
//! │   └── 20.2.0.0/16
//! │       ├── 20.2.1.0/24       company one
//! │       └── 20.2.2.0/24       company five     held by agent 2 (its home)
//! └── 30.0.0.0/8
//!     ├── 30.1.0.0/16
//!     │   ├── 30.1.1.0/24       company six      held by agent 3 (its home)
//!     │   └── 30.1.2.0/24       company two      held by agent 2
//!     └── 30.2.0.0/16
//!         ├── 30.2.1.0/24       company two      held by agent 4 (its home)
//!         └── 30.2.2.0/24       company seven
//! ```
//! Agent 5 lives where agent 1 lives and holds nothing.

use delegation::{
    AvailableAgents, Candidate, Delegation, DelegationTable, Home, ProbeOutcome, Search, Step,
    TrailProbe, home, next_step,
};
use hierarchy::Hierarchy;
use model::{Phase, Policy, Reason};

use crate::map::{self, address, agent, subnet};

struct Case {
    hierarchy: Hierarchy,
    delegation_table: DelegationTable,
    available: AvailableAgents,
    target: &'static str,
    trail: Vec<TrailProbe>,
}

fn case(target: &'static str) -> Case {
    let hierarchy = map::hierarchy(&[
        ("20.0.0.0/8", None),
        ("20.1.0.0/16", None),
        ("20.1.1.0/24", Some("one")),
        ("20.1.2.0/24", Some("two")),
        ("20.1.3.0/24", Some("three")),
        ("20.1.3.0/26", Some("four")),
        ("20.2.0.0/16", None),
        ("20.2.1.0/24", Some("one")),
        ("20.2.2.0/24", Some("five")),
        ("30.0.0.0/8", None),
        ("30.1.0.0/16", None),
        ("30.1.1.0/24", Some("six")),
        ("30.1.2.0/24", Some("two")),
        ("30.2.0.0/16", None),
        ("30.2.1.0/24", Some("two")),
        ("30.2.2.0/24", Some("seven")),
    ]);
    let held = [
        ("20.1.1.0/24", 1),
        ("20.1.3.0/26", 4),
        ("20.2.2.0/24", 2),
        ("30.1.1.0/24", 3),
        ("30.1.2.0/24", 2),
        ("30.2.1.0/24", 4),
    ];
    let delegation_table = map::delegation_table(&hierarchy, &held);
    Case {
        hierarchy,
        delegation_table,
        available: map::ready(&[1, 2, 3, 4, 5]),
        target,
        trail: Vec::new(),
    }
}

impl Case {
    fn step(&self) -> Step {
        let subnet = subnet(&self.hierarchy, self.target);
        let search =
            Search { subnet, trail: &self.trail, provisional: None, holder: None, waited_ms: 0 };
        next_step(
            &self.hierarchy,
            &self.delegation_table,
            &self.available,
            &Policy::default(),
            &search,
        )
    }

    /// The next step must be to ask this agent, for this reason, at this level; it answers
    /// `outcome`.
    #[track_caller]
    fn asks(mut self, number: i64, phase: Phase, level: &str, outcome: ProbeOutcome) -> Self {
        let level = subnet(&self.hierarchy, level);
        assert_eq!(self.step(), Step::Ask(Candidate { agent: agent(number), phase, level }));
        self.trail.push(TrailProbe { agent: agent(number), phase, outcome });
        self
    }

    #[track_caller]
    fn decides(self, number: i64, rtt_ms: u32, reason: Reason) {
        let decision = Step::Decide {
            agent: agent(number),
            rtt_us: rtt_ms * 1000,
            reason,
            provisional: false,
        };
        assert_eq!(self.step(), decision);
    }
}

fn ms(rtt_ms: u32) -> ProbeOutcome {
    ProbeOutcome::Measured { rtt_us: rtt_ms * 1000 }
}

/// III.E: "We first find the smallest subnet from the IP hierarchy that includes the IP of the new
/// URL, and check if that subnet is already delegated to a crawler. If so, the URL is delegated to
/// this migrating crawler."
#[test]
fn a_delegated_subnet_needs_no_search() {
    let case = case("20.1.3.0/26");
    let holder = |text| case.delegation_table.agent_of(case.hierarchy.smallest(address(text)));
    assert_eq!(holder("20.1.3.7"), Some(agent(4)));
    assert_eq!(holder("20.1.3.77"), None, "the subnet around it is another one");
}

/// III.E: "If not, we check whether there is another subnet that belongs to the same company and is
/// already delegated to a migrating crawler […]. If such a subnet exists (and the probing result of
/// the crawler having that subnet is smaller than the threshold), the new URL, and subsequently,
/// the owning subnet, is delegated to this crawler."
#[test]
fn the_crawler_of_the_same_company() {
    let target = "20.2.1.0/24";
    case(target).asks(1, Phase::Company, target, ms(30)).decides(1, 30, Reason::Company);
}

/// III.E: "smaller than the threshold": 50 ms is not. "Only if this search is unsuccessful, we
/// probe the subnet with the migrating crawlers […] bottom up".
#[test]
fn a_slow_crawler_of_the_company_does_not_get_it() {
    let target = "20.2.1.0/24";
    case(target)
        .asks(1, Phase::Company, target, ms(50))
        .asks(2, Phase::Sibling, "20.2.0.0/16", ms(49))
        .decides(2, 49, Reason::Threshold);
}

/// III.E: "If there are subnets of the same company delegated to multiple crawlers then the new
/// subnet is probed from these crawlers and delegated to the fastest. In fact, we stop as soon as
/// we find a crawler that satisfies the probing threshold."
#[test]
fn several_crawlers_of_the_same_company() {
    let target = "20.1.2.0/24";
    case(target).asks(2, Phase::Company, target, ms(20)).decides(2, 20, Reason::Company);
    case(target)
        .asks(2, Phase::Company, target, ms(70))
        .asks(4, Phase::Company, target, ms(40))
        .decides(4, 40, Reason::Company);
}

/// The same sentence, when the answers were under way together: the fastest of them.
#[test]
fn the_fastest_of_those_who_satisfy() {
    let mut case = case("20.1.2.0/24");
    for (number, outcome) in [(2, ms(45)), (4, ms(15))] {
        case.trail.push(TrailProbe { agent: agent(number), phase: Phase::Company, outcome });
    }
    case.decides(4, 15, Reason::Company);
}

/// III.E: "We first discover the parent subnet and find all the subnets included in the parent
/// subnet. Then, for all the sibling subnets that are already delegated, the coordinator
/// sequentially asks their migrating crawlers, and the migrating crawlers of their children subnets
/// to probe the target subnet".
#[test]
fn siblings_then_their_children() {
    case("20.1.3.0/24")
        .asks(1, Phase::Sibling, "20.1.0.0/16", ms(90))
        .asks(4, Phase::SiblingChild, "20.1.0.0/16", ms(10))
        .decides(4, 10, Reason::Threshold);
}

/// III.E: "If no probing satisfies the threshold, the search continues to higher levels of the
/// subnets tree."
#[test]
fn higher_levels() {
    case("20.1.3.0/24")
        .asks(1, Phase::Sibling, "20.1.0.0/16", ms(90))
        .asks(4, Phase::SiblingChild, "20.1.0.0/16", ms(80))
        .asks(2, Phase::SiblingChild, "20.0.0.0/8", ms(70))
        .asks(3, Phase::SiblingChild, "0.0.0.0/0", ms(5))
        .decides(3, 5, Reason::Threshold);
}

/// III.E: "In the rare case that none of the crawlers satisfies the probing threshold, the subnet
/// is delegated to the crawler with the lower probing result." None of *the crawlers*: agent 5,
/// which holds nothing, is asked too.
#[test]
fn the_lowest_when_none_satisfies() {
    case("30.2.2.0/24")
        .asks(4, Phase::Sibling, "30.2.0.0/16", ms(90))
        .asks(2, Phase::SiblingChild, "30.0.0.0/8", ms(60))
        .asks(3, Phase::SiblingChild, "30.0.0.0/8", ProbeOutcome::Unreachable)
        .asks(1, Phase::SiblingChild, "0.0.0.0/0", ms(61))
        .asks(5, Phase::Rest, "0.0.0.0/0", ProbeOutcome::Expired)
        .decides(2, 60, Reason::Lowest);
}

/// III.E says nothing about a target that answers no agent. Delegating it without any measurement
/// would be a guess.
#[test]
fn a_target_that_answers_nobody() {
    let silent = case("30.2.2.0/24")
        .asks(4, Phase::Sibling, "30.2.0.0/16", ProbeOutcome::Unreachable)
        .asks(2, Phase::SiblingChild, "30.0.0.0/8", ProbeOutcome::Unreachable)
        .asks(3, Phase::SiblingChild, "30.0.0.0/8", ProbeOutcome::Unreachable)
        .asks(1, Phase::SiblingChild, "0.0.0.0/0", ProbeOutcome::Unreachable)
        .asks(5, Phase::Rest, "0.0.0.0/0", ProbeOutcome::Unreachable);
    assert_eq!(silent.step(), Step::NoAnswer);
}

/// III.E: "sequentially": no other agent is asked while an answer is due.
#[test]
fn one_at_a_time() {
    let waiting = case("20.1.3.0/24").asks(1, Phase::Sibling, "20.1.0.0/16", ProbeOutcome::Pending);
    assert_eq!(waiting.step(), Step::Wait);
}

/// Two levels may name the same agent: it is asked once, at the first.
#[test]
fn the_crawler_of_the_company_is_not_asked_again_as_a_sibling() {
    case("20.1.2.0/24")
        .asks(2, Phase::Company, "20.1.2.0/24", ms(70))
        .asks(4, Phase::Company, "20.1.2.0/24", ms(80))
        .asks(1, Phase::Sibling, "20.1.0.0/16", ms(90))
        .asks(3, Phase::SiblingChild, "0.0.0.0/0", ms(95))
        .asks(5, Phase::Rest, "0.0.0.0/0", ms(99))
        .decides(2, 70, Reason::Lowest);
}

/// Who was paused or revoked after measuring is not chosen.
#[test]
fn an_agent_that_left_is_not_chosen() {
    let mut case = case("20.2.1.0/24").asks(1, Phase::Company, "20.2.1.0/24", ms(10));
    case.available.remove(agent(1));
    case.asks(2, Phase::Sibling, "20.2.0.0/16", ms(20)).decides(2, 20, Reason::Threshold);
}

/// III.D: "Since the IP address of the machine that will host the crawler is known, we can
/// immediately assign that subnet to the new crawler."
#[test]
fn an_agent_gets_the_subnet_it_lives_in() {
    let mut case = case("30.2.2.0/24");
    let at = |case: &Case, number, text| {
        home(&case.hierarchy, &case.delegation_table, agent(number), address(text))
    };
    let empty = subnet(&case.hierarchy, "30.2.2.0/24");
    assert_eq!(at(&case, 5, "30.2.2.9"), Home::Assign(empty));

    let searched = subnet(&case.hierarchy, "30.1.2.0/24");
    assert_eq!(
        at(&case, 5, "30.1.2.1"),
        Home::Assign(searched),
        "who lives there goes before who was found"
    );

    case.delegation_table.insert(
        &case.hierarchy,
        empty,
        Delegation { agent: agent(1), reason: Reason::Home },
    );
    assert_eq!(at(&case, 5, "30.2.2.9"), Home::Shared { subnet: empty, with: agent(1) });
    assert_eq!(at(&case, 1, "30.2.2.9"), Home::Assign(empty), "approving again changes nothing");
    assert_eq!(at(&case, 5, "20.2.77.1"), Home::Unregistered, "a block is too large to be a home");
    assert_eq!(at(&case, 5, "10.0.0.1"), Home::Unregistered);
}

/// An address that no record holds has the root as its smallest subnet, and everybody is asked.
#[test]
fn an_address_outside_all_records() {
    case("0.0.0.0/0").asks(1, Phase::Rest, "0.0.0.0/0", ms(20)).decides(1, 20, Reason::Threshold);
}
