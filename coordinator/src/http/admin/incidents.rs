//! Incidents of calibration: subnets whose paths or pages became slower.

use axum::extract::State;
use model::{AgentId, IncidentState};
use store::incidents::{self, IncidentSummary};

use crate::http::admin::delegations::ms;
use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::incidents::Incident;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;

/// Subnets whose paths or pages became slower, with what was measured and done; the newest first.
#[utoipa::path(get, path = "/api/v1/incidents", operation_id = "list_incidents",
    tag = "delegations", params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<Incident>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Incident>>, Problem> {
    let limit = page.limit()?;
    let found = incidents::list(&state.core.store, page.before()?, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |incident| incident.id).map(to_dto)))
}

fn to_dto(incident: IncidentSummary) -> Incident {
    let agent_ref = |(id, name): (AgentId, String)| AgentRef { id, name };
    Incident {
        id: incident.id,
        subnet: incident.subnet.to_string(),
        summary: summary(&incident),
        slowdown_ratio: incident.ratio,
        state: incident.state,
        control_before_ms: incident.before_us.map(ms),
        control_now_ms: incident.now_us.map(ms),
        opened_at: incident.moments.opened.into(),
        moved_at: incident.moments.moved.map(Into::into),
        returned_at: incident.moments.returned.map(Into::into),
        closed_at: incident.moments.ended.map(Into::into),
        agent: agent_ref(incident.agent),
        url: incident.url,
        control_agent: incident.control_probe.map(agent_ref),
        next_agent: incident.next_agent.map(agent_ref),
    }
}

/// The incident in plain sentences: what was noticed, what was measured, what was done.
pub(super) fn summary(incident: &IncidentSummary) -> String {
    let agent = &incident.agent.1;
    let next_agent = incident.next_agent.as_ref().map_or("another agent", |(_, name)| name);
    let opened = Timestamp(incident.moments.opened).to_minute();
    let on = |at: Option<_>| match at {
        Some(at) => format!(" on {}", Timestamp(at).to_minute()),
        None => String::new(),
    };
    let moved = on(incident.moments.moved);
    let subject = if incident.url.is_some() {
        format!("{agent} reported that pages took")
    } else {
        format!("round trips of {agent} took")
    };
    let noticed = format!("On {opened}, {subject} {:.1} times as long as usual.", incident.ratio);
    let outcome = match incident.state {
        IncidentState::Checking => "A control probe is looking for the cause.".to_owned(),
        IncidentState::Searching => "A search is looking for a nearer agent.".to_owned(),
        IncidentState::Away => format!("The subnet moved to {next_agent}{moved}."),
        IncidentState::Returning => format!(
            "The subnet moved to {next_agent}{moved}. The path from {agent} has recovered, and a \
             search decides whether the subnet returns."
        ),
        IncidentState::Returned => format!(
            "The subnet moved to {next_agent}{moved}. It returned to {agent}{} because the path \
             had recovered.",
            on(incident.moments.returned)
        ),
        IncidentState::Moved => format!(
            "The subnet moved to {next_agent}{moved}. It stays there because {agent} has not been \
             clearly nearer again for thirty days."
        ),
        IncidentState::Server => {
            format!("The subnet stayed with {agent} because the server itself is slow.")
        }
        IncidentState::Stayed => {
            format!("The subnet stayed with {agent} because no other agent is nearer.")
        }
        IncidentState::Undecided => {
            format!("The subnet stayed with {agent} because no agent could measure enough.")
        }
        IncidentState::Overtaken => {
            "Since then the delegation has changed for another reason, or an admin has ruled the \
             former agent out."
                .to_owned()
        }
    };
    format!("{noticed}{} {outcome}", control_probe(incident))
}

/// What the control probe measured, as a sentence with a leading space; empty before it.
fn control_probe(incident: &IncidentSummary) -> String {
    let Some((id, name)) = &incident.control_probe else { return String::new() };
    let Some(before) = incident.before_us else { return String::new() };
    let Some(now) = incident.now_us else { return String::new() };
    let subject = if *id == incident.agent.0 {
        "Its round trip".to_owned()
    } else {
        format!("The round trip of {name}")
    };
    format!(" {subject} was {:.1} ms, compared with {:.1} ms before.", ms(now), ms(before))
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;
    use store::incidents::Moments;

    use super::*;

    fn incident(state: IncidentState, control_probe: i64) -> String {
        of(state, control_probe, Some("http://a.example/"))
    }

    fn of(state: IncidentState, control_probe: i64, url: Option<&str>) -> String {
        let control_name = if control_probe == 1 { "cape" } else { "nile" };
        summary(&IncidentSummary {
            id: 1,
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: (AgentId::new(1), "cape".into()),
            ratio: 2.64,
            url: url.map(Into::into),
            state,
            moments: Moments {
                opened: UnixMillis(0),
                moved: Some(UnixMillis(60_000)),
                returned: Some(UnixMillis(120_000)),
                ended: None,
            },
            control_probe: Some((AgentId::new(control_probe), control_name.into())),
            before_us: Some(30_000),
            now_us: Some(31_200),
            next_agent: Some((AgentId::new(3), "delta".into())),
        })
    }

    #[test]
    fn each_state_has_plain_sentences() {
        assert_eq!(
            incident(IncidentState::Away, 2),
            "On 1970-01-01 00:00 UTC, cape reported that pages took 2.6 times as long as \
             usual. The round trip of nile was 31.2 ms, compared with 30.0 ms before. The \
             subnet moved to delta on 1970-01-01 00:01 UTC."
        );
        assert_eq!(
            incident(IncidentState::Returned, 1),
            "On 1970-01-01 00:00 UTC, cape reported that pages took 2.6 times as long as \
             usual. Its round trip was 31.2 ms, compared with 30.0 ms before. The subnet moved \
              to delta on 1970-01-01 00:01 UTC. It returned to cape on 1970-01-01 00:02 UTC \
             because the path had recovered."
        );
        assert_eq!(
            incident(IncidentState::Server, 2),
            "On 1970-01-01 00:00 UTC, cape reported that pages took 2.6 times as long as \
             usual. The round trip of nile was 31.2 ms, compared with 30.0 ms before. The \
             subnet stayed with cape because the server itself is slow."
        );
        assert!(
            of(IncidentState::Away, 2, None)
                .starts_with("On 1970-01-01 00:00 UTC, round trips of cape took 2.6 times as long")
        );
    }
}
