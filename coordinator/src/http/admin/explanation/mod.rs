//! Explanation of a delegation: the whole search, probe by probe, and plain sentences.

mod assigned;
mod predicted;
mod searched;
mod skipped;

use axum::extract::State;
use model::{DelegationId, Phase, ProbeState, ProbeVerdict, Reason};
use store::delegations::DelegationSummary;
use store::searches::{self, SearchTrail};

use crate::http::admin::delegations::{self, ms, read};
use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::explanation::{Explanation, Target, TrailProbe};
use crate::http::admin::explanation::assigned::Cause;
use crate::http::admin::explanation::searched::Subject;
use crate::http::admin::incidents;
use crate::http::admin::subnet_lookup::{self, SubnetInfo};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Why a subnet is delegated to its agent: the whole search, probe by probe.
///
/// The chain shows the present delegations; probes and sentences show the search as it was.
#[utoipa::path(get, path = "/api/v1/delegations/{id}/explanation",
    operation_id = "explain_delegation", tag = "delegations",
    params(("id" = String, Path, example = "dlg_7")), security(("session" = [])),
    responses((status = 200, body = Explanation)))]
pub async fn explain(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<DelegationId>,
) -> Result<Json<Explanation>, Problem> {
    let store = &state.core.store;
    let found = read(&state, id).await?;
    let search = match found.search {
        Some(search) => searches::trail(store, search).await?,
        None => None,
    };
    let delegated = state.core.delegated();
    let chain = match delegated.as_deref() {
        Some(delegated) => {
            let subnet = delegated.hierarchy().smallest_holding(&found.subnet);
            subnet_lookup::chain(store, delegated, subnet).await?
        }
        None => Vec::new(),
    };
    let trail = search.as_ref().map(|search| trail(&found, search)).unwrap_or_default();
    let skipped = match search.as_ref() {
        Some(search) => skipped::skipped(&state, search).await?,
        None => Vec::new(),
    };
    let cause = cause(&state, &found).await?;
    let mut summary = if let Some(cause) = &cause {
        assigned::summary(&found, cause)
    } else {
        let info = SubnetInfo::of_range(delegated.as_deref(), &found.subnet);
        let subject = Subject {
            found: &found,
            search: search.as_ref(),
            trail: &trail,
            company: info.company.as_deref(),
        };
        searched::summary(&subject) + &skipped::sentence(&skipped)
    };
    // An incident that reopened the search is part of the explanation.
    if let Some(search) = found.search
        && let Some(incident) = store::incidents::of_search(store, search).await?
    {
        summary = format!("{summary} {}", incidents::summary(&incident));
    }
    Ok(Json(Explanation {
        delegation: delegations::to_dto(delegated.as_deref(), &found),
        target: Target {
            address: search.as_ref().map(|search| search.target.to_string()),
            host: search.as_ref().map(|search| search.host.clone()),
        },
        chain,
        threshold_ms: search.as_ref().map(|search| ms(search.threshold_us)),
        strategy: search.as_ref().map(|search| search.strategy),
        open: search.as_ref().is_some_and(|search| search.open),
        opened_at: search.as_ref().map(|search| search.opened_at.into()),
        decided_at: found.decided_at.into(),
        finding: search.as_ref().and_then(|search| Some(search.finding.as_ref()?.1.clone())),
        took_ms: search.as_ref().filter(|_| cause.is_none()).and_then(|of| took_ms(&found, of)),
        skipped,
        trail,
        summary,
    }))
}

/// How long the search took until this delegation. A subnet that a new generation changed, or that
/// a region gave back, has the search of an earlier delegation.
fn took_ms(found: &DelegationSummary, search: &SearchTrail) -> Option<u64> {
    let took = found.decided_at.0.saturating_sub(search.opened_at.0).max(0).unsigned_abs();
    search.decided_at.is_none_or(|end| found.decided_at <= end).then_some(took)
}

/// What decided on a delegation, if no search did: an admin, balance or a region.
async fn cause(state: &ApiState, found: &DelegationSummary) -> Result<Option<Cause>, Problem> {
    let store = &state.core.store;
    Ok(match found.reason {
        Reason::Pinned | Reason::Override => {
            store::delegations::admin_assignment(store, found.id).await?.map(Cause::Admin)
        }
        Reason::Drained => {
            store::delegations::admin_assignment(store, found.id).await?.map(Cause::Drain)
        }
        Reason::Balanced => store::moves::of_delegation(store, found.id).await?.map(Cause::Balance),
        Reason::Takeover => store::takeovers::taken_from(store, found.id)
            .await?
            .map(|(_, name)| Cause::Takeover(name)),
        _ => None,
    })
}

fn trail(found: &DelegationSummary, search: &SearchTrail) -> Vec<TrailProbe> {
    search.probes.iter().map(|probe| trail_probe(found, search, probe)).collect()
}

fn trail_probe(
    found: &DelegationSummary,
    search: &SearchTrail,
    probe: &searches::TrailProbe,
) -> TrailProbe {
    let phase = probe.phase;
    let threshold_us =
        (!matches!(phase, Phase::Predicted | Phase::Control)).then_some(search.threshold_us);
    let verdict = verdict(probe.state, probe.rtt_us, threshold_us);
    TrailProbe {
        id: probe.id,
        order: probe.step.into(),
        agent: AgentRef { id: probe.agent, name: probe.agent_name.clone() },
        phase,
        level: (!matches!(phase, Phase::Company | Phase::Predicted | Phase::Control))
            .then(|| probe.level.to_string()),
        method: probe.method,
        rtt_ms: probe.rtt_us.map(ms),
        samples: probe.samples.map(Into::into),
        threshold_ms: ms(search.threshold_us),
        expected_ms: probe.expected.map(|expected| ms(expected.rtt_us)),
        deviation_ms: probe.expected.map(|expected| ms(expected.deviation_us)),
        probability: probe.expected.map(|expected| expected.chance.into()),
        verdict,
        chosen: probe.agent == found.agent && probe.rtt_us.is_some(),
        asked_at: probe.asked_at.into(),
        answered_at: probe.answered_at.map(Into::into),
        error: probe.reason.clone(),
    }
}

/// The verdict of the search itself (`delegation::next_step`): a round trip under the threshold
/// satisfies it, one at the threshold does not. A predictive search has no threshold.
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
