//! Trust in the reports of an agent, as the API shows it.

use delegation::plausibility::{SearchReports, Trust, TrustLevel};
use store::trust::{self, AgentTrust};

use crate::http::admin::dto::agents::{Contradiction, ReportLevel, ReportTrust};

/// The judged reports of an agent; `stored` is None for one of which no report in a search was
/// judged.
pub(super) fn report_trust(trust: &Trust, stored: Option<AgentTrust>) -> ReportTrust {
    let SearchReports { wins, examinations, .. } = &trust.searches;
    let evidence = stored.as_ref().map(|stored| stored.evidence.clone()).unwrap_or_default();
    let (paused_at, finding) = stored.and_then(|stored| stored.paused).unzip();
    // What a paused agent reported no longer counts, so that its trust begins anew.
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
        contradictions: evidence.iter().map(contradiction).collect(),
    }
}

fn contradiction(stored: &trust::Contradiction) -> Contradiction {
    Contradiction {
        target: stored.target.map(|target| target.to_string()),
        reported_ms: ms(stored.reported_us),
        least_ms: ms(stored.least_us),
        witness: stored.witness.map(|(agent, _)| agent),
        witness_ms: stored.witness.map(|(_, us)| ms(us)),
        apart_ms: stored.apart_us.map(ms),
        judged_at: stored.judged_at.into(),
    }
}

fn ms(micros: u32) -> f64 {
    f64::from(micros) / 1000.0
}
