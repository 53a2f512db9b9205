//! What searches of a walk came to, carried out together.
//!
//! A decision is pencilled in on the delegated hierarchy at once, so that the next search of the walk sees it; it
//! counts when it is in Postgres, to which many go in one transaction. What does not get there is
//! rubbed out.

use std::sync::Arc;

use delegation::Delegation;
use hierarchy::SubnetId;
use model::{AgentId, Reason};
use store::StoreError;
use store::delegations::Skipped;
use store::delegations::{self, Decided, Decision};
use store::searches::OpenSearch;
use tokio::sync::MutexGuard;

use crate::predictor::{Lesson, findings};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::search::DelegationSearch;

/// Whom a search came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) agent: AgentId,
    pub(super) rtt_us: u32,
    pub(super) reason: Reason,
    pub(super) provisional: bool,
}

/// A decision that waits to be carried out.
pub(super) struct Verdict {
    pub(super) search: OpenSearch,
    pub(super) choice: Choice,
    pub(super) lesson: Option<Lesson>,
    pub(super) skipped: Vec<Skipped>,
}

impl Verdict {
    fn decision(&self) -> Decision<'_> {
        Decision {
            search: self.search.id,
            subnet: self.search.subnet,
            agent: self.choice.agent,
            generation: self.search.generation,
            reason: self.choice.reason,
            provisional: self.choice.provisional,
            rtt_us: Some(self.choice.rtt_us),
            skipped: &self.skipped,
        }
    }

    /// What is learned from it for good.
    fn learned(&self) -> Option<(&OpenSearch, &Lesson)> {
        Some((&self.search, self.lesson.as_ref().filter(|_| !self.choice.provisional)?))
    }
}

/// The pencil mark of a verdict on the delegated hierarchy in use, which may be newer than the one it was thought
/// out on.
struct Mark {
    delegated: Arc<DelegatedHierarchy>,
    subnet: SubnetId,
    before: Option<Delegation>,
}

impl Mark {
    fn make(parts: &DelegationSearch, verdict: &Verdict) -> Option<Self> {
        let delegated = parts.hierarchy.current()?;
        let subnet = delegated.hierarchy().find(&verdict.search.subnet)?;
        let Choice { agent, reason, .. } = verdict.choice;
        let before = delegated.enter(subnet, Delegation { agent, reason });
        Some(Self { delegated, subnet, before })
    }

    fn rub_out(&self) {
        self.delegated.put(self.subnet, self.before);
    }
}

/// Verdicts that wait.
pub(super) struct Verdicts<'a> {
    parts: &'a DelegationSearch,
    /// The map they were thought out on.
    delegated: Arc<DelegatedHierarchy>,
    waiting: Vec<(Verdict, Option<Mark>)>,
    /// Held while there is a pencil mark.
    writing: Option<MutexGuard<'a, ()>>,
}

/// What came of verdicts.
#[derive(Debug, Default)]
pub(super) struct CarriedOut {
    /// How many hold now.
    pub(super) made: usize,
    /// Agents that may not work any more.
    pub(super) gone: Vec<AgentId>,
}

impl<'a> Verdicts<'a> {
    pub(super) fn new(parts: &'a DelegationSearch, delegated: Arc<DelegatedHierarchy>) -> Self {
        Self { parts, delegated, waiting: Vec::new(), writing: None }
    }

    /// Pencils it in.
    pub(super) async fn add(&mut self, verdict: Verdict) {
        if self.writing.is_none() {
            self.writing = Some(self.parts.hierarchy.writing().await);
        }
        let mark = Mark::make(self.parts, &verdict);
        self.waiting.push((verdict, mark));
    }

    /// Carries out what waits.
    pub(super) async fn carry_out(&mut self) -> Result<CarriedOut, StoreError> {
        let Some(writing) = self.writing.take() else { return Ok(CarriedOut::default()) };
        let (parts, verdicts) = (self.parts, std::mem::take(&mut self.waiting));
        let decisions: Vec<Decision<'_>> =
            verdicts.iter().map(|(verdict, _)| verdict.decision()).collect();
        let decided = delegations::decide_all(&parts.store, &decisions, parts.clock.now()).await;
        let decided = match decided {
            Ok(decided) => decided,
            Err(error) => {
                rub_out(&verdicts);
                // Whether it was committed may not be known. When Postgres is away the next start
                // or election reads it.
                let _ = parts.hierarchy.reload_delegations(&parts.store, &writing).await;
                return Err(error);
            }
        };
        let carried_out = self.note(&verdicts, &decided);
        drop(writing);
        let made = verdicts
            .iter()
            .zip(&decided)
            .filter(|(_, decided)| matches!(decided, Decided::Made(_)));
        let learned: Vec<_> = made.filter_map(|((verdict, _), _)| verdict.learned()).collect();
        for (_, lesson) in &learned {
            parts.predictor.insight.learn(self.delegated.hierarchy(), lesson);
        }
        findings(&parts.predictor, &learned).await?;
        Ok(carried_out)
    }

    fn note(&self, waiting: &[(Verdict, Option<Mark>)], decided: &[Decided]) -> CarriedOut {
        let mut carried_out = CarriedOut::default();
        for ((verdict, mark), decided) in waiting.iter().zip(decided) {
            let (chosen, mark) = (verdict.choice.agent, mark.as_ref());
            if let Decided::Made(_) = decided {
                carried_out.made += 1;
                // Who had it is told at once to let go of the hosts.
                let former = mark.and_then(|mark| mark.before).map(|holding| holding.agent);
                self.parts.agent_wakeups.wake(former.filter(|former| *former != chosen));
                continue;
            }
            mark.into_iter().for_each(Mark::rub_out);
            if *decided == Decided::AgentGone {
                carried_out.gone.push(chosen);
            } else {
                tracing::info!(search = %verdict.search.id, "a decision came too late and was dropped");
            }
        }
        carried_out
    }
}

impl Drop for Verdicts<'_> {
    fn drop(&mut self) {
        // A walk that failed leaves no pencil marks.
        rub_out(&self.waiting);
    }
}

fn rub_out(waiting: &[(Verdict, Option<Mark>)]) {
    waiting.iter().rev().filter_map(|(_, mark)| mark.as_ref()).for_each(Mark::rub_out);
}
