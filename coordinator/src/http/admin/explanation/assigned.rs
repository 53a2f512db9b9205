//! Delegations that no search made, told: pinned, overridden, balanced.

use model::BalanceRule;
use store::delegations::Hand;
use store::lists::Delegation;
use store::moves::Move;

use crate::http::timestamp::Moment;

/// What stands behind a delegation that no search made.
pub(super) enum Behind {
    /// An admin, with or without a pin.
    Hand(Hand),
    /// Balance.
    Move(Move),
}

/// Why this agent, as a colleague would say it.
pub(super) fn sentence(found: &Delegation, behind: &Behind) -> String {
    let Delegation { agent_name, subnet, .. } = found;
    let because = match behind {
        Behind::Hand(hand) => by_hand(agent_name, hand),
        Behind::Move(made) => balanced(made),
    };
    let measured = match found.rtt_us {
        Some(us) => format!("It took {} when it was last asked.", time(f64::from(us) / 1_000.0)),
        None => "It was never asked to measure it.".to_owned(),
    };
    format!("{agent_name} crawls {subnet} because {because} {measured}")
}

fn by_hand(agent: &str, hand: &Hand) -> String {
    let Hand { by, note, expires_at, pinned } = hand;
    let until =
        expires_at.map(|at| format!(" until {}", Moment(at).in_words())).unwrap_or_default();
    match pinned {
        true => format!("{by} pinned it there{until}: “{note}”."),
        false => format!("{by} gave it to {agent} by hand: “{note}”."),
    }
}

fn balanced(made: &Move) -> String {
    let from = &made.from.1;
    let rule = match made.rule {
        None => format!("the load was spread anew and {from} had it before"),
        Some(BalanceRule::Variance) => {
            format!(
                "{from} had more to do than it can, and this is the subnet whose times vary least"
            )
        }
        Some(BalanceRule::NextBest) => {
            format!(
                "{from} had more to do than it can, and this is the subnet that loses least at its next-best agent"
            )
        }
        Some(BalanceRule::Cheapest | BalanceRule::Off) => {
            format!("{from} had more to do than it can, and to move this subnet cost least")
        }
    };
    let cost = match made.before_ms {
        Some(before) => format!("{} a day instead of {}", time(made.after_ms), time(before)),
        None => format!("{} a day", time(made.after_ms)),
    };
    let pages = match made.pages_a_day {
        1 => "Its page a day costs".to_owned(),
        pages => format!("Its {pages} pages a day cost"),
    };
    format!("{rule}. {pages} {cost}.{}", refused(made))
}

fn refused(made: &Move) -> String {
    match made.refused.as_array().map_or(0, Vec::len) {
        0 => String::new(),
        1 => " One alternative was refused.".to_owned(),
        count => format!(" {count} alternatives were refused."),
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

    fn found(rtt_us: Option<u32>) -> Delegation {
        Delegation {
            id: DelegationId::new(1),
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: AgentId::new(5),
            agent_name: "cape".into(),
            agent_home: "41.0.3.4".parse().unwrap(),
            generation: 2,
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

    fn moved(rule: Option<BalanceRule>, before_ms: Option<f64>) -> Behind {
        Behind::Move(Move {
            id: MoveId::new(1),
            at: UnixMillis(0),
            subnet: "41.0.0.0/16".parse().unwrap(),
            from: (AgentId::new(6), "north".into()),
            to: (AgentId::new(5), "cape".into()),
            delegation: DelegationId::new(1),
            rule,
            pages_a_day: 120,
            before_ms,
            after_ms: 2_400.0,
            refused: json!([{}, {}]),
        })
    }

    #[test]
    fn each_hand_reads_well() {
        let hand = |pinned, expires_at| {
            Behind::Hand(Hand {
                by: "ada".into(),
                note: "their contract".into(),
                expires_at,
                pinned,
            })
        };
        insta::assert_snapshot!(sentence(&found(Some(12_345)), &hand(true, Some(UnixMillis(1_731_000_000_120)))), @"cape crawls 41.0.0.0/16 because ada pinned it there until 2024-11-07 17:20 UTC: “their contract”. It took 12.3 ms when it was last asked.");
        insta::assert_snapshot!(sentence(&found(None), &hand(false, None)), @"cape crawls 41.0.0.0/16 because ada gave it to cape by hand: “their contract”. It was never asked to measure it.");
        insta::assert_snapshot!(sentence(&found(Some(20_000)), &moved(Some(BalanceRule::Cheapest), Some(900.0))), @"cape crawls 41.0.0.0/16 because north had more to do than it can, and to move this subnet cost least. Its 120 pages a day cost 2.4 s a day instead of 900.0 ms. 2 alternatives were refused. It took 20.0 ms when it was last asked.");
        insta::assert_snapshot!(sentence(&found(Some(20_000)), &moved(None, None)), @"cape crawls 41.0.0.0/16 because the load was spread anew and north had it before. Its 120 pages a day cost 2.4 s a day. 2 alternatives were refused. It took 20.0 ms when it was last asked.");
    }
}
