//! Sentences for delegations that no search made: pinned, overridden, balanced, drained, taken
//! over.

use model::BalanceRule;
use store::delegations::{AdminAssignment, DelegationSummary};
use store::moves::{Move, MoveCause};

use crate::http::timestamp::Timestamp;

/// The cause of a delegation that no search made.
pub(super) enum Cause {
    /// A pin or an override by an admin.
    Admin(AdminAssignment),
    Balance(Move),
    /// The drain of its former agent.
    Drain(AdminAssignment),
    /// A takeover within a region, with the name of the dead member.
    Takeover(String),
}

/// Why this agent crawls the subnet, in plain sentences.
pub(super) fn summary(found: &DelegationSummary, cause: &Cause) -> String {
    let DelegationSummary { agent_name, subnet, .. } = found;
    let because = match cause {
        Cause::Admin(assignment) => by_admin(assignment),
        Cause::Balance(made) => by_balance(made),
        Cause::Drain(drain) => by_drain(drain),
        Cause::Takeover(dead) => by_region(dead),
    };
    let measured = match found.rtt_us {
        Some(us) => format!("Its last measured round trip was {}.", time(f64::from(us) / 1_000.0)),
        None => "It has not measured the subnet.".to_owned(),
    };
    format!("{agent_name} crawls {subnet} because {because} {measured}")
}

fn by_admin(assignment: &AdminAssignment) -> String {
    let AdminAssignment { by, note, expires_at, pinned } = assignment;
    let until =
        expires_at.map(|at| format!(" until {}", Timestamp(at).to_minute())).unwrap_or_default();
    let action = if *pinned { "pinned" } else { "reassigned" };
    format!("{by} {action} the subnet to it{until}. The reason given was “{note}”.")
}

/// The note of such an assignment names the former agent.
fn by_drain(AdminAssignment { by, note, .. }: &AdminAssignment) -> String {
    format!(
        "{by} drained its former agent, and it was the nearest of the agents that had measured the \
         subnet and had room for it. The subnet came {note}."
    )
}

fn by_balance(made: &Move) -> String {
    let (_, from) = &made.from;
    let rule = match made.cause {
        MoveCause::Pass => {
            format!("a balance pass found a cheaper plan. {from} crawled the subnet before.")
        }
        MoveCause::Relief => format!(
            "an agent was over its capacity, and only several moves together could relieve it. \
             {from} crawled the subnet before."
        ),
        MoveCause::Rule(BalanceRule::Variance) => format!(
            "{from} was over its capacity. Balance chose this subnet because its round trips vary \
             least."
        ),
        MoveCause::Rule(BalanceRule::NextBest) => format!(
            "{from} was over its capacity. Balance chose this subnet because it loses least at its \
             next-best agent."
        ),
        MoveCause::Rule(BalanceRule::Cheapest | BalanceRule::Off) => format!(
            "{from} was over its capacity. Balance chose this subnet because it was the cheapest \
             to move."
        ),
    };
    let pages = match made.pages_a_day {
        1 => "Its page per day costs".to_owned(),
        pages => format!("Its {pages} pages per day cost"),
    };
    let before = made.before_ms.map(|ms| format!(" instead of {}", time(ms))).unwrap_or_default();
    let after = time(made.after_ms);
    format!("{rule} {pages} {after} per day{before}.{}", rejected(made))
}

fn by_region(dead: &str) -> String {
    format!(
        "{dead} is dead and a majority of their region lets this agent fetch its hosts. The subnet \
         returns when {dead} works again."
    )
}

fn rejected(made: &Move) -> String {
    match made.refused.as_array().map_or(0, Vec::len) {
        0 => String::new(),
        1 => " Balance rejected one alternative.".to_owned(),
        count => format!(" Balance rejected {count} alternatives."),
    }
}

fn time(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1_000.0) }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, DelegationId, MoveId, UnixMillis};
    use serde_json::json;

    use super::*;

    fn found(rtt_us: Option<u32>) -> DelegationSummary {
        DelegationSummary {
            id: DelegationId::new(1),
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: AgentId::new(5),
            agent_name: "cape".into(),
            agent_home: "41.0.3.4".parse().unwrap(),
            fencing_number: 2,
            reason: model::Reason::Balanced,
            provisional: false,
            rtt_us,
            decided_at: UnixMillis(0),
            ended_at: None,
            search: None,
            threshold_us: None,
            probes: 0,
            hosts: 1,
        }
    }

    fn moved(cause: MoveCause, before_ms: Option<f64>) -> String {
        let made = Move {
            id: MoveId::new(1),
            at: UnixMillis(0),
            subnet: "41.0.0.0/16".parse().unwrap(),
            from: (AgentId::new(6), "north".into()),
            to: (AgentId::new(5), "cape".into()),
            delegation: DelegationId::new(1),
            cause,
            pages_a_day: 120,
            before_ms,
            after_ms: 2_400.0,
            refused: json!([{}, {}]),
        };
        summary(&found(Some(20_000)), &Cause::Balance(made))
    }

    fn assigned(pinned: bool, expires_at: Option<UnixMillis>, rtt_us: Option<u32>) -> String {
        let by_admin =
            AdminAssignment { by: "ada".into(), note: "their contract".into(), expires_at, pinned };
        summary(&found(rtt_us), &Cause::Admin(by_admin))
    }

    #[test]
    fn each_cause_has_plain_sentences() {
        assert_eq!(
            assigned(true, Some(UnixMillis(1_731_000_000_120)), Some(12_345)),
            "cape crawls 41.0.0.0/16 because ada pinned the subnet to it until 2024-11-07 \
             17:20 UTC. The reason given was “their contract”. Its last measured round trip \
             was 12.3 ms."
        );
        assert_eq!(
            assigned(false, None, None),
            "cape crawls 41.0.0.0/16 because ada reassigned the subnet to it. The reason given \
              was “their contract”. It has not measured the subnet."
        );
        let drain = AdminAssignment {
            by: "ada".into(),
            note: "from agt_6, which is drained".into(),
            expires_at: None,
            pinned: false,
        };
        insta::assert_snapshot!(
            summary(&found(Some(20_000)), &Cause::Drain(drain)),
            @"cape crawls 41.0.0.0/16 because ada drained its former agent, and it was the nearest of the agents that had measured the subnet and had room for it. The subnet came from agt_6, which is drained. Its last measured round trip was 20.0 ms."
        );
        assert_eq!(
            moved(MoveCause::Rule(BalanceRule::Cheapest), Some(900.0)),
            "cape crawls 41.0.0.0/16 because north was over its capacity. Balance chose this \
             subnet because it was the cheapest to move. Its 120 pages per day cost 2.4 s per \
             day instead of 900.0 ms. Balance rejected 2 alternatives. Its last measured round \
              trip was 20.0 ms."
        );
        assert_eq!(
            moved(MoveCause::Pass, None),
            "cape crawls 41.0.0.0/16 because a balance pass found a cheaper plan. north \
             crawled the subnet before. Its 120 pages per day cost 2.4 s per day. Balance \
             rejected 2 alternatives. Its last measured round trip was 20.0 ms."
        );
    }
}
