//! Background task: pauses agents whose reports are forged, and searches again for the subnets that
//! such agents won.

use delegation::plausibility::{SearchReports, Trust, TrustLevel};
use hierarchy::Range;
use model::{AgentId, Reason};
use store::StoreError;
use store::trust::{self, Contradiction};

use crate::placement::Placement;
use crate::placement::apply_constraints::reopen_many;
use crate::predictor::{ReportJudgement, read_current_trust};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Subnets whose searches are opened in one run, about.
const BATCH: u64 = 500;

/// Pauses a forging agent with a finding. The subnets that a paused one won by its reports keep it
/// until a search has found another agent.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let paused = pause_one(placement).await?;
    let forging = trust::paused_agents(&placement.store).await?;
    // A batch in each run, which passes over those that were searched for within the last hour.
    let reopened = reopen_many(placement, &won_subnets(placement, &forging), BATCH).await?;
    if paused.is_none() && reopened == 0 {
        return Ok(Outcome::Idle);
    }
    Ok(Outcome::Done(format!(
        "paused {} because of forged reports, opened {} for subnets of such agents",
        quantity(usize::from(paused.is_some()), "agent"),
        quantity(reopened, "search"),
    )))
}

/// Pauses one forging agent. The next run judges the others again, without the reports of that one.
async fn pause_one(placement: &Placement) -> Result<Option<AgentId>, StoreError> {
    // The reports on homes are read again, because those of the predictor may be older than a
    // pause.
    for (agent, trust) in read_current_trust(&placement.store).await? {
        if trust.level() == TrustLevel::Forging {
            let evidence = contradictions(placement, agent, &trust).await?;
            let finding = describe(&trust, evidence.last());
            if pause(placement, agent, (&finding, &evidence)).await? {
                return Ok(Some(agent));
            }
        }
    }
    Ok(None)
}

async fn pause(
    placement: &Placement,
    agent: AgentId,
    (finding, evidence): (&str, &[Contradiction]),
) -> Result<bool, StoreError> {
    let now = placement.clock.now();
    let paused = trust::pause(&placement.store, agent, (finding, evidence), now).await?;
    if paused {
        tracing::warn!(%agent, finding, "paused an agent because of forged reports");
        placement.agent_wakeups.wake([agent]);
        placement.events.emit(Event::AgentAdministered);
    }
    Ok(paused)
}

/// Subnets that these agents hold because of what they reported.
fn won_subnets(placement: &Placement, agents: &[AgentId]) -> Vec<Range> {
    let Some(delegated) = placement.hierarchy.current().filter(|_| !agents.is_empty()) else {
        return Vec::new();
    };
    let by_report = |reason| match reason {
        Reason::Company
        | Reason::Threshold
        | Reason::Lowest
        | Reason::Predicted
        | Reason::Balanced
        | Reason::Drained => true,
        Reason::Home | Reason::Pinned | Reason::Override | Reason::Takeover => false,
    };
    let table = delegated.delegation_table();
    let won = table.iter().filter(|(_, delegation)| {
        agents.contains(&delegation.agent) && by_report(delegation.reason)
    });
    won.map(|(subnet, _)| delegated.hierarchy().subnet(subnet).range()).collect()
}

/// Its contradicted reports: those on homes, then those in searches, the newest last.
async fn contradictions(
    placement: &Placement,
    agent: AgentId,
    trust: &Trust,
) -> Result<Vec<Contradiction>, StoreError> {
    let known = trust::find(&placement.store, &[agent]).await?;
    let now = placement.clock.now();
    let on_homes = trust.homes.judgements.iter().filter_map(|judgement| {
        ReportJudgement { target: None, judgement: *judgement }.contradiction(now)
    });
    Ok(on_homes.chain(known.into_iter().flat_map(|known| known.evidence)).collect())
}

/// The numbers behind a pause, as sentences.
fn describe(trust: &Trust, example: Option<&Contradiction>) -> String {
    let SearchReports { wins, examinations, .. } = &trust.searches;
    let mut text = format!(
        "Other agents contradict {} of its {} reports on the homes of others and {} of the {} \
         reports with which it was fastest in a search.",
        trust.homes.contradicted(),
        trust.homes.judgements.len(),
        wins.contradicted,
        wins.judged
    );
    if examinations.judged > 0 {
        let examined = format!(
            " While it was doubted, they contradicted {} of its {} reports on their targets.",
            examinations.contradicted, examinations.judged
        );
        text.push_str(&examined);
    }
    if let Some(example) = example {
        text.push(' ');
        text.push_str(&describe_contradiction(example));
    }
    text
}

fn describe_contradiction(example: &Contradiction) -> String {
    let target = example.target.map_or_else(String::new, |target| format!(" to {target}"));
    let reported = format!("It reported {}{target}", ms(example.reported_us));
    match (example.witness, example.apart_us) {
        (Some((witness, witness_us)), Some(apart_us)) => format!(
            "{reported}, where {witness} measured {}. The two agents are {} apart, so that at \
             least {} are plausible.",
            ms(witness_us),
            ms(apart_us),
            ms(example.least_us)
        ),
        _ => format!("{reported}, which no network stack reaches."),
    }
}

fn ms(micros: u32) -> String {
    format!("{:.3} ms", f64::from(micros) / 1000.0)
}
