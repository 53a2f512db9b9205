//! Background task: takes the hosts of agents that are revoked or leave.

use store::delegations;

use crate::intake::Intake;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Takes the next hosts of such an agent, which gets the orders to release them if it leaves.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let freed = delegations::free_hosts(&intake.store, intake.clock.now()).await?;
    let Some((agent, hosts)) = freed else { return Ok(Outcome::Idle) };
    intake.agent_wakeups.wake([agent]);
    Ok(Outcome::More(format!("took {} from agent {agent}", quantity(hosts, "host"))))
}
