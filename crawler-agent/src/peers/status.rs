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
    /// Members whose hosts others fetch.
    pub replaced: Vec<String>,
    /// Seconds until the loan of the region's hosts ends.
    pub loan_seconds: u64,
    /// Whether a majority of voters lets this agent fetch now.
    pub has_lease: bool,
    /// Hosts of the region that this agent knows.
    pub hosts: u64,
    /// URLs that wait for other agents.
    pub waiting: u64,
    /// URLs sent to other agents since the start.
    pub sent: u64,
    /// URLs received from other agents since the start.
    pub received: u64,
    /// Envelopes, messages and parts of messages that were refused since the start.
    pub refused: u64,
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
            let MemberReport { has_lease, hosts, waiting, sent, received, refused, .. } =
                core.report();
            RegionStatus {
                region: view.roster().region.to_string(),
                epoch: view.version().epoch,
                delta: view.version().delta,
                agents: view.roster().agents.len() as u64,
                ranges: view.delegations().iter().count() as u64,
                suspected: suspicions.iter().map(name).collect(),
                replaced: core.member.replaced(now).map(|agent| agent.to_string()).collect(),
                loan_seconds: core.loan_until().since(now) / 1_000,
                has_lease,
                hosts,
                waiting,
                sent,
                received,
                refused,
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
        let lease = if self.has_lease { "lease held" } else { "no lease" };
        let list = |agents: &[String]| {
            if agents.is_empty() { "nobody".to_owned() } else { agents.join(", ") }
        };
        vec![
            format!(
                "region {region}, epoch {epoch}.{delta}, {agents} agents, {ranges} address ranges; \
                 {lease}, loan for {loan_seconds} s"
            ),
            format!("suspected: {}; replaced: {}", list(&self.suspected), list(&self.replaced)),
            format!(
                "hosts of the region {}, URLs waiting for peers {}, sent {}, received {}, \
                 refused {}",
                self.hosts, self.waiting, self.sent, self.received, self.refused
            ),
        ]
    }
}
