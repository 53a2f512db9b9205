//! The region as the owner sees it.

use region::{detector::Liveness, relay::MemberReport};
use serde::{Deserialize, Serialize};

use super::Peers;
use crate::elapsed_clock;

/// State of the region as this agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionStatus {
    /// Identifier of the region.
    pub region: String,
    /// Number of the roster.
    pub epoch: u64,
    /// Number of the last change of delegations since.
    pub delta: u64,
    /// Agents of the region, this one included.
    pub agents: u64,
    /// Ranges of addresses that are the region's.
    pub ranges: u64,
    /// Members that are silent or asleep.
    pub suspected: Vec<String>,
    /// Seconds until the loan of the region's hosts ends.
    pub loan_seconds: u64,
    /// What the coordinator is told as well.
    #[serde(flatten)]
    pub report: MemberReport,
}

impl Peers {
    /// The state of the region; none without one.
    pub fn status(&self) -> Option<RegionStatus> {
        self.shared.with_core(|core| {
            let now = elapsed_clock::now();
            let view = core.view();
            let suspicions = core.suspicions();
            let name = |(agent, state): (&model::AgentId, &Liveness)| match state {
                Liveness::Asleep => format!("{agent} (asleep)"),
                Liveness::Alive | Liveness::Suspected => agent.to_string(),
            };
            RegionStatus {
                region: view.roster().region.to_string(),
                epoch: view.version().epoch,
                delta: view.version().delta,
                agents: view.roster().agents.len() as u64,
                ranges: view.delegations().iter().count() as u64,
                suspected: suspicions.iter().map(name).collect(),
                loan_seconds: core.loan_until().since(now) / 1_000,
                report: core.report(),
            }
        })
    }

    /// The state of the region for the coordinator; none without one.
    pub(super) fn report(&self) -> Option<MemberReport> {
        self.shared.with_core(|core| core.report())
    }
}

impl RegionStatus {
    /// The state in a few lines of text.
    pub fn describe(&self) -> Vec<String> {
        let Self { region, epoch, delta, agents, ranges, loan_seconds, .. } = self;
        let MemberReport { replaced, hosts, waiting, sent, received, refused, .. } = &self.report;
        let lease = if self.report.has_lease { "lease held" } else { "no lease" };
        vec![
            format!(
                "region {region}, epoch {epoch}.{delta}, {agents} agents, {ranges} address ranges; \
                 {lease}, loan for {loan_seconds} s"
            ),
            format!("suspected: {}; replaced: {}", list(&self.suspected), list(replaced)),
            format!(
                "hosts of the region {hosts}, URLs waiting for peers {waiting}, sent {sent}, \
                 received {received}, refused {refused}"
            ),
        ]
    }
}

fn list(agents: &[impl ToString]) -> String {
    if agents.is_empty() {
        return "nobody".to_owned();
    }
    agents.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use model::AgentId;

    use super::*;

    #[test]
    fn the_file_has_the_values_of_the_report_beside_the_others() {
        let replaced = vec![AgentId::new(2)];
        let status = RegionStatus {
            region: "reg_1".into(),
            epoch: 1,
            delta: 2,
            agents: 3,
            ranges: 4,
            suspected: vec!["agt_2".into()],
            loan_seconds: 5,
            report: MemberReport { replaced, hosts: 6, ..MemberReport::default() },
        };
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!(json["hosts"], 6);
        assert_eq!(json["replaced"][0], "agt_2");
        assert_eq!(serde_json::from_value::<RegionStatus>(json).unwrap(), status);
    }
}
