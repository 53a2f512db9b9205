//! Decisions of a search round, committed together.
//!
//! A decision is entered in the delegation table at once, so that the next search of the round
//! sees it. It is valid once it is committed in Postgres, many decisions in one transaction. An
//! entry whose decision is not committed is reverted.

use std::collections::BTreeMap;
use std::sync::Arc;

use delegation::Delegation;
use delegation::plausibility::{JudgedReport, ReportKind};
use hierarchy::SubnetId;
use model::{AgentId, Reason};
use store::StoreError;
use store::delegations::{self, Decision, DelegationOutcome, Skipped};
use store::searches::OpenSearch;
use tokio::sync::MutexGuard;

use crate::predictor::{Observation, ReportJudgement, record_judgements, store_findings};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::search::DelegationSearch;

/// A decision that is not committed yet.
pub(super) struct PendingDecision {
    pub(super) search: OpenSearch,
    pub(super) agent: AgentId,
    pub(super) rtt_us: u32,
    pub(super) reason: Reason,
    /// A better agent may still be found, so that the search stays open.
    pub(super) provisional: bool,
    /// What the trail measured; `None` when no agent measured anything.
    pub(super) observation: Option<Observation>,
    /// How plausible the reports of the fastest and of the examined agent are.
    pub(super) judged: Vec<JudgedReport>,
    pub(super) skipped: Vec<Skipped>,
    /// The agent that has the subnet, where its region moves the hosts by itself.
    pub(super) moved_from: Option<AgentId>,
    /// Set by [`PendingDecisions::add`].
    pub(super) entry: Option<UncommittedEntry>,
}

impl PendingDecision {
    fn as_stored(&self) -> Decision<'_> {
        Decision {
            search: self.search.id,
            subnet: self.search.subnet,
            agent: self.agent,
            fencing_number: self.search.fencing_number,
            reason: self.reason,
            provisional: self.provisional,
            rtt_us: Some(self.rtt_us),
            moved_from: self.moved_from,
            skipped: &self.skipped,
        }
    }
}

/// An entry of the delegation table in use, which may be newer than the one of the round.
pub(super) struct UncommittedEntry {
    delegated: Arc<DelegatedHierarchy>,
    subnet: SubnetId,
    former: Option<Delegation>,
}

impl UncommittedEntry {
    fn enter(parts: &DelegationSearch, decision: &PendingDecision) -> Option<Self> {
        let delegated = parts.hierarchy.current()?;
        let subnet = delegated.hierarchy().find(&decision.search.subnet)?;
        let PendingDecision { agent, reason, .. } = *decision;
        let former = delegated.put(subnet, Some(Delegation { agent, reason }));
        Some(Self { delegated, subnet, former })
    }

    fn revert(&self) {
        self.delegated.put(self.subnet, self.former);
    }
}

/// The decisions of the present batch.
pub(super) struct PendingDecisions<'a> {
    parts: &'a DelegationSearch,
    /// The hierarchy to which the ids of subnets belong.
    delegated: Arc<DelegatedHierarchy>,
    pending: Vec<PendingDecision>,
    /// Held while the delegation table has an uncommitted entry: a table that is read from Postgres
    /// meanwhile would lack it.
    writing: Option<MutexGuard<'a, ()>>,
}

/// The result of a commit.
#[derive(Debug, Default)]
pub(super) struct CommittedDecisions {
    /// Decisions that hold now.
    pub(super) made: usize,
    /// Chosen agents that were paused or revoked meanwhile.
    pub(super) revoked_agents: Vec<AgentId>,
}

impl<'a> PendingDecisions<'a> {
    pub(super) fn new(parts: &'a DelegationSearch, delegated: Arc<DelegatedHierarchy>) -> Self {
        Self { parts, delegated, pending: Vec::new(), writing: None }
    }

    /// Enters the decision in the delegation table until [`Self::commit`].
    pub(super) async fn add(&mut self, mut decision: PendingDecision) {
        if self.writing.is_none() {
            self.writing = Some(self.parts.hierarchy.writing().await);
        }
        decision.entry = UncommittedEntry::enter(self.parts, &decision);
        self.pending.push(decision);
    }

    /// Commits all decisions that were added.
    pub(super) async fn commit(&mut self) -> Result<CommittedDecisions, anyhow::Error> {
        let Some(writing) = self.writing.take() else { return Ok(CommittedDecisions::default()) };
        let parts = self.parts;
        let pending = std::mem::take(&mut self.pending);
        let decisions: Vec<Decision<'_>> = pending.iter().map(PendingDecision::as_stored).collect();
        let results =
            match delegations::decide_all(&parts.store, &decisions, parts.clock.now()).await {
                Ok(results) => results,
                Err(error) => {
                    revert_all(&pending);
                    // A lost connection does not tell whether the transaction was committed, so the
                    // table is read again. When that fails too, the next start or election reads
                    // it.
                    let _ = parts.hierarchy.reload_delegations(&parts.store, &writing).await;
                    return Err(error.into());
                }
            };
        let committed = self.apply_results(&pending, &results);
        drop(writing);
        self.find_several_places(&pending, &results).await?;
        self.count_judgements(&pending, &results).await?;
        Ok(committed)
    }

    fn apply_results(
        &self,
        pending: &[PendingDecision],
        results: &[DelegationOutcome],
    ) -> CommittedDecisions {
        let mut committed = CommittedDecisions::default();
        for (decision, result) in pending.iter().zip(results) {
            let entry = decision.entry.as_ref();
            if let DelegationOutcome::Applied(_) = result {
                committed.made += 1;
                self.parts.metrics.decided(decision.reason, decision.provisional);
                // The former agent must release the hosts of the subnet at once.
                let former = entry.and_then(|entry| entry.former).map(|former| former.agent);
                self.parts.agent_wakeups.wake(former.filter(|former| *former != decision.agent));
                continue;
            }
            if let Some(entry) = entry {
                entry.revert();
            }
            if *result == DelegationOutcome::AgentGone {
                committed.revoked_agents.push(decision.agent);
            } else {
                tracing::info!(
                    search = %decision.search.id,
                    "dropped a decision: the search or the delegation changed meanwhile, or a loan \
                     keeps the subnet in a region"
                );
            }
        }
        committed
    }

    /// Looks for subnets in several places. A provisional decision is left out: its search goes
    /// on, and its whole trail is looked at once, at the end.
    async fn find_several_places(
        &self,
        pending: &[PendingDecision],
        results: &[DelegationOutcome],
    ) -> Result<(), StoreError> {
        let mut decided: Vec<(&OpenSearch, &Observation)> = Vec::new();
        for (decision, result) in pending.iter().zip(results) {
            if let (DelegationOutcome::Applied(_), Some(observation), false) =
                (result, &decision.observation, decision.provisional)
            {
                decided.push((&decision.search, observation));
            }
        }
        store_findings(&self.parts.predictor, self.delegated.hierarchy(), &decided).await
    }
}

impl PendingDecisions<'_> {
    /// Counts the judged reports of final decisions in the trust of their agents.
    async fn count_judgements(
        &self,
        pending: &[PendingDecision],
        results: &[DelegationOutcome],
    ) -> Result<(), anyhow::Error> {
        let mut judged: BTreeMap<AgentId, Vec<(ReportKind, ReportJudgement)>> = BTreeMap::new();
        for (decision, result) in pending.iter().zip(results) {
            if !matches!(result, DelegationOutcome::Applied(_)) || decision.provisional {
                continue;
            }
            for JudgedReport { agent, kind, judgement } in &decision.judged {
                let target = Some(decision.search.target);
                let report = ReportJudgement { target, judgement: *judgement };
                judged.entry(*agent).or_default().push((*kind, report));
            }
        }
        for (agent, judgements) in judged {
            record_judgements(&self.parts.predictor, agent, &judgements).await?;
        }
        Ok(())
    }
}

impl Drop for PendingDecisions<'_> {
    fn drop(&mut self) {
        // A round that failed leaves no uncommitted entries.
        revert_all(&self.pending);
    }
}

fn revert_all(pending: &[PendingDecision]) {
    // In reverse: of two decisions about one subnet the earlier entry has the committed state.
    pending
        .iter()
        .rev()
        .filter_map(|decision| decision.entry.as_ref())
        .for_each(UncommittedEntry::revert);
}
