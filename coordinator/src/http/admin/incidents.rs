//! Subnets whose pages became slower.

use axum::extract::State;
use model::{AgentId, IncidentState as Stands, UnixMillis};
use store::{incidents, incidents::Told};

use crate::http::admin::delegations::ms;
use crate::http::admin::dto::{AgentRef, Calibration};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, Part};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Subnets whose pages became slower, with what was found out and done; the newest first.
#[utoipa::path(get, path = "/api/v1/calibrations", operation_id = "list_calibrations", tag = "delegations",
    params(Part), security(("session" = [])), responses((status = 200, body = Page<Calibration>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(part): Query<Part>,
) -> Result<Json<Page<Calibration>>, Problem> {
    let (before, limit) = (part.before()?, part.limit()?);
    let found = incidents::list(&state.core.store, before, limit + 1).await?;
    let page = Page::cut(found, limit, |case| case.id);
    Ok(Json(page.map(shown)))
}

fn shown(case: Told) -> Calibration {
    let named = |(id, name): (AgentId, String)| AgentRef { id, name };
    Calibration {
        id: case.id,
        subnet: case.subnet.to_string(),
        sentence: sentence(&case),
        ratio: case.ratio,
        state: case.state,
        before_ms: case.before_us.map(ms),
        now_ms: case.now_us.map(ms),
        opened_at: case.moments.opened.into(),
        moved_at: case.moments.moved.map(Into::into),
        returned_at: case.moments.returned.map(Into::into),
        ended_at: case.moments.ended.map(Into::into),
        agent: named(case.agent),
        url: case.url,
        control_probe: case.control_probe.map(named),
        next_agent: case.next_agent.map(named),
    }
}

/// The case as a colleague would tell it.
pub(super) fn sentence(case: &Told) -> String {
    let (agent, next_agent) = (
        &case.agent.1,
        case.next_agent.as_ref().map_or("another agent", |next_agent| next_agent.1.as_str()),
    );
    let slow = format!("pages took {:.1} times as long as usual from {agent}", case.ratio);
    let day =
        |at: Option<UnixMillis>| at.map_or_else(String::new, |at| format!(" on {}", minute(at)));
    let seen = saw(case);
    match case.state {
        Stands::Checking => {
            format!("On {} {slow}; it is being measured why.", minute(case.moments.opened))
        }
        Stands::Searching => {
            format!("{}: {slow}{seen}. A nearer agent is searched for.", case.subnet)
        }
        Stands::Away => {
            format!(
                "It moved away from {agent}{} to {next_agent} because {slow}{seen}.",
                day(case.moments.moved)
            )
        }
        Stands::Returning => format!(
            "It moved away from {agent}{} because {slow}{seen}; {agent} is as near as before, and a search decides whether it goes back.",
            day(case.moments.moved)
        ),
        Stands::Returned => format!(
            "It moved away from {agent}{} because {slow}{seen}, and went back{} when {agent} was as near as before.",
            day(case.moments.moved),
            day(case.moments.returned)
        ),
        Stands::Server => {
            format!("It stayed with {agent} though {slow}{seen}: the server itself is slow.")
        }
        Stands::Stayed => {
            format!("It stayed with {agent} though {slow}{seen}: no other agent is nearer.")
        }
        Stands::Undecided => {
            format!("It stayed with {agent} though {slow}: nobody could measure why.")
        }
        Stands::Overtaken => format!(
            "On {} {slow}; its delegation has changed for another reason since.",
            minute(case.moments.opened)
        ),
    }
}

/// To the minute, which is what a person wants to know.
fn minute(at: UnixMillis) -> String {
    let time = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// What the control probe saw.
fn saw(case: &Told) -> String {
    let (Some(control_probe), Some(before), Some(now)) =
        (&case.control_probe, case.before_us, case.now_us)
    else {
        return String::new();
    };
    let times = format!("{:.1} ms where it was {:.1} ms", ms(now), ms(before));
    if control_probe.0 == case.agent.0 {
        return format!(" while its round trip was {times}");
    }
    format!(" while {} measured {times}", control_probe.1)
}

#[cfg(test)]
mod tests {
    use store::incidents::Moments;

    use super::*;

    fn told(state: Stands, control_probe: i64) -> String {
        sentence(&Told {
            id: 1,
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: (AgentId::new(1), "cape".into()),
            ratio: 2.64,
            url: Some("http://a.example/".into()),
            state,
            moments: Moments {
                opened: UnixMillis(0),
                moved: Some(UnixMillis(60_000)),
                returned: Some(UnixMillis(120_000)),
                ended: None,
            },
            control_probe: Some((
                AgentId::new(control_probe),
                if control_probe == 1 { "cape" } else { "nile" }.into(),
            )),
            before_us: Some(30_000),
            now_us: Some(31_200),
            next_agent: Some((AgentId::new(3), "delta".into())),
        })
    }

    #[test]
    fn each_state_reads_well() {
        insta::assert_snapshot!(told(Stands::Away, 2), @"It moved away from cape on 1970-01-01 00:01 UTC to delta because pages took 2.6 times as long as usual from cape while nile measured 31.2 ms where it was 30.0 ms.");
        insta::assert_snapshot!(told(Stands::Returned, 1), @"It moved away from cape on 1970-01-01 00:01 UTC because pages took 2.6 times as long as usual from cape while its round trip was 31.2 ms where it was 30.0 ms, and went back on 1970-01-01 00:02 UTC when cape was as near as before.");
        insta::assert_snapshot!(told(Stands::Server, 2), @"It stayed with cape though pages took 2.6 times as long as usual from cape while nile measured 31.2 ms where it was 30.0 ms: the server itself is slow.");
    }
}
