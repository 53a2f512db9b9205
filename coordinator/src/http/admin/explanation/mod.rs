//! Why does this agent crawl this subnet? The whole search, and one sentence.

mod assigned;
mod predicted;
mod searched;
mod skipped;

use axum::extract::State;
use model::{DelegationId, ProbeState, Reason};
use model::{Phase, ProbeVerdict};
use store::lists::{self, Search};

use crate::http::admin::delegations::{ms, read, shown};
use crate::http::admin::dto::{AgentRef, AskedProbe, Target, Why};
use crate::http::admin::explanation::assigned::{self as why_by_hand, Behind};
use crate::http::admin::explanation::searched::{Case, sentence};
use crate::http::admin::explanation::skipped as explain;
use crate::http::admin::incidents as calibrations;
use crate::http::admin::subnet_lookup::{self as ground, Ground};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Why a subnet is delegated to its agent: the whole search, probe by probe.
///
/// The chain shows who holds what now; the probes and the sentence show the search as it was.
#[utoipa::path(get, path = "/api/v1/delegations/{id}/why", operation_id = "why_delegation",
    tag = "delegations", params(("id" = String, Path, example = "dlg_7")), security(("session" = [])),
    responses((status = 200, body = Why)))]
pub async fn why(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<DelegationId>,
) -> Result<Json<Why>, Problem> {
    let found = read(&state, id).await?;
    let search = match found.search {
        Some(search) => lists::trail(&state.core.store, search).await?,
        None => None,
    };
    let delegated = state.core.delegated();
    let chain = match delegated.as_deref() {
        Some(delegated) => {
            let around = delegated.hierarchy().smallest_holding(&found.subnet);
            ground::chain(&state.core.store, delegated, around).await?
        }
        None => Vec::new(),
    };
    let probes = search.as_ref().map(|search| probes(&found, search)).unwrap_or_default();
    let ground = Ground::of_range(delegated.as_deref(), &found.subnet);
    let case = Case {
        found: &found,
        search: search.as_ref(),
        probes: &probes,
        company: ground.company.as_deref(),
    };
    let skipped = match search.as_ref() {
        Some(search) => explain::skipped(&state, search).await?,
        None => Vec::new(),
    };
    let behind = behind(&state, &found).await?;
    let mut sentence = match &behind {
        Some(behind) => why_by_hand::sentence(&found, behind),
        None => sentence(&case) + &explain::told(&skipped),
    };
    if let Some(search) = found.search
        && let Some(slow) = store::incidents::of_search(&state.core.store, search).await?
    {
        sentence = format!("{sentence} {}", calibrations::sentence(&slow));
    }
    Ok(Json(Why {
        delegation: shown(delegated.as_deref(), &found),
        target: Target {
            address: search.as_ref().map(|search| search.target.to_string()),
            host: search.as_ref().map(|search| search.host.clone()),
        },
        chain,
        threshold_ms: search.as_ref().map(|search| ms(search.threshold_us)),
        strategy: search.as_ref().map(|search| search.strategy.as_str().to_owned()),
        open: search.as_ref().is_some_and(|search| search.open),
        opened_at: search.as_ref().map(|search| search.opened_at.into()),
        decided_at: found.decided_at.into(),
        finding: search.as_ref().and_then(|search| Some(search.finding.as_ref()?.1.clone())),
        took_ms: search.as_ref().filter(|_| behind.is_none()).map(|search| took_ms(&found, search)),
        counters: explain::counters(search.as_ref(), &skipped),
        skipped,
        probes,
        sentence,
    }))
}

fn took_ms(found: &lists::Delegation, search: &Search) -> u64 {
    found.decided_at.0.saturating_sub(search.opened_at.0).max(0).unsigned_abs()
}

/// What stands behind a delegation that no search made.
async fn behind(state: &ApiState, found: &lists::Delegation) -> Result<Option<Behind>, Problem> {
    let store = &state.core.store;
    Ok(match found.reason {
        Reason::Pinned | Reason::Override => {
            store::delegations::hand(store, found.id).await?.map(Behind::Hand)
        }
        Reason::Balanced => store::moves::of_delegation(store, found.id).await?.map(Behind::Move),
        _ => None,
    })
}

fn probes(found: &lists::Delegation, search: &Search) -> Vec<AskedProbe> {
    search.probes.iter().map(|probe| asked(found, search, probe)).collect()
}

fn asked(found: &lists::Delegation, search: &Search, probe: &lists::Probe) -> AskedProbe {
    let phase = probe.phase;
    let threshold_us = (phase != Phase::Predicted).then_some(search.threshold_us);
    let verdict = verdict(probe.state, probe.rtt_us, threshold_us);
    AskedProbe {
        id: probe.id,
        order: probe.step.into(),
        agent: AgentRef { id: probe.agent, name: probe.agent_name.clone() },
        phase,
        level: (!matches!(phase, Phase::Company | Phase::Predicted))
            .then(|| probe.level.to_string()),
        method: probe.method,
        rtt_ms: probe.rtt_us.map(ms),
        samples: probe.samples.map(Into::into),
        threshold_ms: ms(search.threshold_us),
        expected_ms: probe.expected.map(|expected| ms(expected.rtt_us)),
        deviation_ms: probe.expected.map(|expected| ms(expected.deviation_us)),
        chance: probe.expected.map(|expected| expected.chance.into()),
        verdict,
        chosen: probe.agent == found.agent && probe.rtt_us.is_some(),
        asked_at: probe.asked_at.into(),
        answered_at: probe.answered_at.map(Into::into),
        error: probe.reason.clone(),
    }
}

/// As the search itself judges (`delegation::next_step`): under the threshold is good enough, at it
/// is not. A search that predicts has none.
fn verdict(state: ProbeState, rtt_us: Option<u32>, threshold_us: Option<u32>) -> ProbeVerdict {
    match (state, rtt_us) {
        (ProbeState::Measured, Some(rtt)) => match threshold_us {
            Some(threshold) if rtt < threshold => ProbeVerdict::Satisfies,
            Some(_) => ProbeVerdict::TooSlow,
            None => ProbeVerdict::Measured,
        },
        (ProbeState::Asked, _) => ProbeVerdict::Pending,
        (ProbeState::Expired, _) => ProbeVerdict::Expired,
        _ => ProbeVerdict::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_those_of_the_search() {
        let judged = |state: ProbeState, rtt_us| verdict(state, rtt_us, Some(50_000));
        assert_eq!(judged(ProbeState::Measured, Some(49_999)), ProbeVerdict::Satisfies);
        assert_eq!(judged(ProbeState::Measured, Some(50_000)), ProbeVerdict::TooSlow);
        assert_eq!(judged(ProbeState::Asked, None), ProbeVerdict::Pending);
        assert_eq!(judged(ProbeState::Refused, None), ProbeVerdict::Unreachable);
        assert_eq!(judged(ProbeState::Expired, None), ProbeVerdict::Expired);
        assert_eq!(verdict(ProbeState::Measured, Some(90_000), None), ProbeVerdict::Measured);
    }
}
