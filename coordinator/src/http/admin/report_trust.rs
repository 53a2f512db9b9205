//! Trust in the reports of an agent, as the API shows it.

use std::collections::HashMap;

use delegation::plausibility::{SearchReports, Trust, TrustLevel};
use model::AgentId;
use store::trust::{self, AgentTrust};

use crate::http::admin::delegations::ms;
use crate::http::admin::dto::agents::{AgentRef, Contradiction, ReportLevel, ReportTrust};

/// The agents whose measurements contradict reports.
pub(super) fn witnesses(stored: &[AgentTrust]) -> Vec<AgentId> {
    let evidence = stored.iter().flat_map(|stored| &stored.evidence);
    evidence.filter_map(|one| Some(one.witness?.0)).collect()
}

/// The judged reports of an agent; `stored` is None for one of which no report in a search was
/// judged. `names` has those of the witnesses.
pub(super) fn report_trust(
    trust: &Trust,
    stored: Option<AgentTrust>,
    names: &HashMap<AgentId, String>,
) -> ReportTrust {
    let SearchReports { wins, examinations, .. } = &trust.searches;
    let evidence = stored.as_ref().map(|stored| stored.evidence.clone()).unwrap_or_default();
    let (paused_at, finding) = stored.and_then(|stored| stored.paused).unzip();
    // What a paused agent reported no longer counts, so its trust starts from the beginning.
    let level = if paused_at.is_some() { TrustLevel::Forging } else { trust.level() };
    ReportTrust {
        level: match level {
            TrustLevel::Trusted => ReportLevel::Trusted,
            TrustLevel::New => ReportLevel::New,
            TrustLevel::Doubted => ReportLevel::Doubted,
            TrustLevel::Forging => ReportLevel::Forging,
        },
        homes_judged: trust.homes.judgements.len() as u32,
        homes_contradicted: trust.homes.contradicted() as u32,
        wins_judged: wins.judged,
        wins_contradicted: wins.contradicted,
        examinations_judged: examinations.judged,
        examinations_contradicted: examinations.contradicted,
        paused_at: paused_at.map(Into::into),
        finding,
        contradictions: evidence.iter().map(|one| contradiction(one, names)).collect(),
    }
}

fn contradiction(stored: &trust::Contradiction, names: &HashMap<AgentId, String>) -> Contradiction {
    let agent_ref = |id| AgentRef::named(id, names);
    Contradiction {
        target: stored.target.map(|target| target.to_string()),
        reported_ms: ms(stored.reported_us),
        least_ms: ms(stored.least_us),
        witness: stored.witness.map(|(agent, _)| agent_ref(agent)),
        witness_ms: stored.witness.map(|(_, us)| ms(us)),
        apart_ms: stored.apart_us.map(ms),
        judged_at: stored.judged_at.into(),
    }
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;

    use super::*;

    #[test]
    fn a_contradiction_names_its_witness() {
        let stored = trust::Contradiction {
            target: None,
            reported_us: 2_000,
            least_us: 14_000,
            witness: Some((AgentId::new(3), 20_000)),
            apart_us: Some(6_000),
            judged_at: UnixMillis(1),
        };
        let names = HashMap::from([(AgentId::new(3), "cape".to_owned())]);
        let shown = contradiction(&stored, &names);
        assert_eq!(shown.witness.unwrap().name, "cape");
        assert_eq!((shown.witness_ms, shown.apart_ms), (Some(20.0), Some(6.0)));
    }
}
