//! Delegations become as admins want them.

use std::collections::HashMap;

use delegation::constraints::Correction;
use hierarchy::Range;
use model::{AgentId, PinId};
use serde_json::json;
use store::constraints::{self, Kind, Rule};
use store::delegations::{self, Assigned, Assignment, Cause, Standing};
use store::{StoreError, audit, searches};

use crate::placement::Placement;
use crate::placement::constraints::assign::give;
use crate::placement::constraints::plan::Ground;
use crate::runtime::constraints::current_constraints;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::search::open_searches::open;

/// A search that brought no other agent is repeated after so long, in milliseconds.
const AGAIN_MS: i64 = 3_600_000;

/// Ends pins and exclusions whose time is over, gives what is pinned to its agent, and searches
/// anew for what a pin does not hold any more and for what is with an excluded agent, who keeps it
/// until another one is found.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let ended = constraints::expire(&placement.store, placement.clock.now()).await?;
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let plan = Ground::see(placement, &delegated).await?.plan(&delegated, &constraints);
    let range = |subnet| delegated.hierarchy().subnet(subnet).range();
    let (mut pinned, mut searched) = (Vec::new(), Vec::new());
    for (subnet, due) in plan {
        match due {
            Correction::Assign { pin, agent } => pinned.push((range(subnet), pin, agent)),
            Correction::Reopen { .. } => searched.push(range(subnet)),
        }
    }
    let given = give_pinned(placement, &pinned).await?;
    let opened = search_anew(placement, &searched).await?;
    if ended + given + opened == 0 {
        return Ok(Outcome::Idle);
    }
    Ok(Outcome::Done(format!(
        "pins and exclusions ended: {ended}; subnets pinned: {given}, let go of: {opened}"
    )))
}

/// Gives subnets to the agents that are pinned there. Says how many.
pub(crate) async fn give_pinned(
    placement: &Placement,
    pinned: &[(Range, PinId, AgentId)],
) -> Result<u64, StoreError> {
    if pinned.is_empty() {
        return Ok(0);
    }
    let rules = constraints::counting(&placement.store, Kind::Pin, placement.clock.now()).await?;
    let rules: HashMap<i64, Rule> = rules.into_iter().map(|rule| (rule.id, rule)).collect();
    let subnets: Vec<Range> = pinned.iter().map(|(subnet, ..)| *subnet).collect();
    let mut given = 0;
    for (standing, (_, pin, agent)) in
        delegations::standing(&placement.store, &subnets).await?.iter().zip(pinned)
    {
        let Some(rule) = rules.get(&pin.get()) else { continue };
        let assignment = Assignment {
            subnet: standing.subnet,
            agent: *agent,
            generation: standing.generation,
            cause: Cause::Pin(*pin),
            by: &rule.created_by,
            note: &rule.reason,
        };
        given += u64::from(matches!(give(placement, &assignment).await?, Assigned::Made(_)));
    }
    Ok(given)
}

/// Says how many subnets were let go of: a search was opened, or, where there is nothing to probe,
/// nobody has them any more.
async fn search_anew(placement: &Placement, subnets: &[Range]) -> Result<u64, StoreError> {
    if subnets.is_empty() {
        return Ok(0);
    }
    let standing = delegations::standing(&placement.store, subnets).await?;
    let (bare, probed): (Vec<Standing>, Vec<Standing>) =
        standing.into_iter().partition(|standing| standing.hosts == 0);
    let released = release(placement, &bare).await?;
    let probed: Vec<Range> = probed.iter().map(|standing| standing.subnet).collect();
    let since = placement.clock.now().plus_ms(-AGAIN_MS);
    let targets = searches::targets(&placement.store, &probed, since).await?;
    Ok(released + open(&placement.search, targets).await?)
}

async fn release(placement: &Placement, bare: &[Standing]) -> Result<u64, StoreError> {
    let writing = placement.hierarchy.writing().await;
    let mut released = 0;
    for standing in bare {
        let Standing { subnet, generation, .. } = standing;
        let now = placement.clock.now();
        if delegations::release(&placement.store, subnet, *generation, now).await? {
            let subject = subnet.to_string();
            let detail = json!({ "why": "no host of it is known, so that no search can be made" });
            let entry = audit::Entry {
                actor: "coordinator",
                action: "delegation.release",
                subject: &subject,
                detail: &detail,
            };
            audit::write(&placement.store, &entry, now).await?;
            released += 1;
        }
    }
    if released > 0 {
        placement.hierarchy.reload_delegations(&placement.store, &writing).await?;
        placement.events.emit(Event::SubnetsReleased);
    }
    Ok(released)
}
