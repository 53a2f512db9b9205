//! One move is made.

use delegation::Delegation;
use delegation::balance::{Alternative, CostSource, Move, RefusalReason};
use model::{BalanceRule, Reason};
use serde_json::{Value, json};
use store::delegations::Assigned;
use store::{StoreError, loads, moves};

use crate::placement::Placement;
use crate::placement::balance::BalanceOutcome;
use crate::placement::balance::scene::Scene;
use crate::placement::constraints::assign::show;

/// Makes a move by the rule that relieved an agent; none for a move of a periodic pass. Where the cost is only predicted, the agent is asked
/// to measure it first, and nothing moves.
pub async fn carry_out(
    placement: &Placement,
    scene: &Scene,
    made: &Move,
    rule: Option<BalanceRule>,
) -> Result<BalanceOutcome, StoreError> {
    let held = &scene.held[made.subnet];
    let (from, to) = (scene.agents[made.from], scene.agents[made.to]);
    let now = placement.clock.now();
    if made.source == CostSource::Predicted {
        let asked = loads::confirm(&placement.store, &held.subnet, to, now).await?;
        placement.agent_wakeups.wake([to]);
        return Ok(BalanceOutcome { moved: 0, asked: usize::from(asked) });
    }
    let refused = told(scene, made);
    let rule_name = rule.map_or("optimal", BalanceRule::as_str);
    let note = format!("from {from} to {to} by the rule {rule_name}");
    let new = moves::New {
        subnet: held.subnet,
        from,
        to,
        generation: held.generation,
        rule,
        pages_a_day: scene.instance.subnets()[made.subnet].load,
        before_ms: made.before,
        after_ms: made.after,
        refused: &refused,
        note: &note,
    };
    let _writing = placement.hierarchy.writing().await;
    let Assigned::Made(_) = moves::carry_out(&placement.store, &new, now).await? else {
        return Ok(BalanceOutcome::default());
    };
    show(placement, &held.subnet, Delegation { agent: to, reason: Reason::Balanced });
    Ok(BalanceOutcome { moved: 1, asked: 0 })
}

/// The alternatives that were not taken, as `moves.refused` has them.
pub fn told(scene: &Scene, made: &Move) -> Value {
    made.refused.iter().map(|refused| alternative(scene, refused)).collect()
}

fn alternative(scene: &Scene, refused: &Alternative) -> Value {
    let (why, amount) = match refused.why {
        RefusalReason::Full { room } => ("full", Some(room as f64)),
        RefusalReason::Dearer { by } => ("dearer", Some(by)),
        RefusalReason::WorthMore => ("worth_more", None),
        RefusalReason::Varies => ("varies", None),
    };
    json!({
        "subnet": scene.held[refused.subnet].subnet.to_string(), "agent": scene.agents[refused.agent],
        "cost_ms": refused.cost, "why": why, "amount": amount,
    })
}
