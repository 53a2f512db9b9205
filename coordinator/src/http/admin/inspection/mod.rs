//! Inspector: what became of a URL, a host, an address, a subnet, a company or an agent.
//!
//! [`subject`] recognises what was typed. [`facts`] reads what the coordinator and the agent know
//! of a URL, [`before_agent`] and [`at_agent`] make sentences of it, without input or output;
//! [`others`] explains everything that is no URL.

mod at_agent;
mod before_agent;
mod facts;
mod others;
mod subject;

use axum::extract::State;

use crate::http::admin::dto::inspection::{
    InspectedKind, Inspection, InspectionQuery, InspectionStep, StepName, StepState,
};
use crate::http::admin::inspection::subject::Subject;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Longest query in bytes: the longest URL.
const QUERY_MAX: usize = 2_048;

/// What became of a URL, a host, an address, a subnet, a company or an agent.
#[utoipa::path(get, path = "/api/v1/explain", operation_id = "explain", tag = "hosts",
    params(InspectionQuery), security(("session" = [])),
    responses((status = 200, body = Inspection)))]
pub async fn explain(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<InspectionQuery>,
) -> Result<Json<Inspection>, Problem> {
    let text = query.q.trim();
    if text.is_empty() || text.len() > QUERY_MAX {
        return Err(Problem::bad_parameter("q", format!("give 1 to {QUERY_MAX} bytes")));
    }
    Ok(Json(match subject::recognise(&state, text).await? {
        Subject::Url(url) => {
            let facts = facts::read(&state, &url).await?;
            let mut steps = before_agent::steps(&facts);
            steps.extend(at_agent::steps(&facts));
            let is_asking = facts.is_asking();
            Inspection { is_asking, ..inspection(InspectedKind::Url, url.as_str(), steps) }
        }
        Subject::Range(range) => others::range(&state, &range).await?,
        Subject::Agent(agent) => others::agent(&state, agent).await?,
        Subject::Company(subnets) => others::company(&state, text, &subnets).await?,
    }))
}

/// The steps with a conclusion: the first step that is stuck, else the first that waits, else the
/// last that is done. Once the URL was fetched, steps before the fetch do not count: an agent that
/// sleeps or has nothing to fetch is no reason why the page is missing.
fn inspection(kind: InspectedKind, subject: &str, steps: Vec<InspectionStep>) -> Inspection {
    let first = |state| steps.iter().find(|step| step.state == state);
    let last_done = || steps.iter().rev().find(|step| step.state == StepState::Done);
    let is_result = |step: &InspectionStep| {
        matches!(step.step, StepName::Fetch | StepName::Index) && step.state == StepState::Done
    };
    let after_result = steps.iter().rposition(is_result).map_or(0, |at| at + 1);
    let waiting = || steps.iter().skip(after_result).find(|step| step.state == StepState::Waiting);
    let decisive = first(StepState::Stuck).or_else(waiting).or_else(last_done);
    let conclusion = decisive.map(|step| step.sentence.clone()).unwrap_or_default();
    Inspection { kind, subject: subject.to_owned(), conclusion, steps, is_asking: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conclusion_is_where_it_is_stuck() {
        let step = |state, sentence: &str| InspectionStep::new(StepName::Found, state, sentence);
        let conclusion = |steps: &[InspectionStep]| {
            inspection(InspectedKind::Url, "x", steps.to_vec()).conclusion
        };
        let [done, waiting, stuck, open] = [
            step(StepState::Done, "done"),
            step(StepState::Waiting, "waiting"),
            step(StepState::Stuck, "stuck"),
            step(StepState::Open, "open"),
        ];
        assert_eq!(conclusion(&[done.clone(), waiting.clone(), stuck, open.clone()]), "stuck");
        assert_eq!(conclusion(&[done.clone(), waiting, open.clone()]), "waiting");
        assert_eq!(conclusion(&[done, open]), "done");
    }

    #[test]
    fn what_waits_before_a_fetch_that_is_done_is_not_decisive() {
        let step = |name, state, sentence: &str| InspectionStep::new(name, state, sentence);
        let agent = step(StepName::Agent, StepState::Waiting, "asleep");
        let fetched = step(StepName::Fetch, StepState::Done, "fetched");
        let steps = vec![agent, fetched];
        let concluded = |steps: &[InspectionStep]| {
            inspection(InspectedKind::Url, "x", steps.to_vec()).conclusion
        };
        assert_eq!(concluded(&steps), "fetched");
        let index = step(StepName::Index, StepState::Waiting, "not indexed yet");
        assert_eq!(concluded(&[steps, vec![index]].concat()), "not indexed yet");
    }
}
