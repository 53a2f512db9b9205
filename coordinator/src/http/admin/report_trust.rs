//! Trust in the reports of an agent, as the API shows it.

use delegation::plausibility::{Trust, TrustLevel};
use store::trust::{self, AgentTrust};

use crate::http::admin::dto::agents::{Contradiction, ReportLevel, ReportTrust};
use crate::predictor::decode_trust;

/// `None` stands for an agent without judged reports.
pub(super) fn report_trust(stored: Option<AgentTrust>) -> ReportTrust {
    let tests = stored.as_ref().map(|stored| stored.tests.clone());
    // Tests of another version of the program cannot be read: the agent begins anew.
    let trust = decode_trust(tests).unwrap_or_default();
    let Trust { landmarks, wins, .. } = &trust;
    let evidence = stored.as_ref().map(|stored| stored.evidence.clone()).unwrap_or_default();
    let (paused_at, finding) = stored.and_then(|stored| stored.paused).unzip();
    ReportTrust {
        level: match trust.level() {
            TrustLevel::Trusted => ReportLevel::Trusted,
            TrustLevel::New => ReportLevel::New,
            TrustLevel::Doubted => ReportLevel::Doubted,
            TrustLevel::Forging => ReportLevel::Forging,
        },
        landmarks_judged: landmarks.judged,
        landmarks_contradicted: landmarks.contradicted,
        wins_judged: wins.judged,
        wins_contradicted: wins.contradicted,
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
