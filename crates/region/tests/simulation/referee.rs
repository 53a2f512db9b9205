//! The referee: the web's side. It knows which agent fetched what and when, by true time.

use std::collections::BTreeMap;

use model::AgentId;

use crate::web::{Page, Web};

#[derive(Debug, Default)]
pub(crate) struct Referee {
    running: BTreeMap<usize, Vec<AgentId>>,
    last_end: BTreeMap<usize, u64>,
    fetches: BTreeMap<Page, u32>,
    /// Requests to a host that another one had not ended, or that came too soon after it.
    pub(crate) impolite: Vec<String>,
    /// Starts of fetches of pages whose fetch had been recorded by an agent.
    pub(crate) repeated: u32,
    pub(crate) started: u32,
    recorded: BTreeMap<Page, u32>,
}

impl Referee {
    pub(crate) fn start(&mut self, agent: AgentId, page: Page, gap_ms: u64, now: u64) {
        let host = page.0;
        let running = self.running.entry(host).or_default();
        if !running.is_empty() {
            self.impolite.push(format!("{now}: {agent} and {running:?} at host {host}"));
        }
        running.push(agent);
        let gap = self.last_end.get(&host).map(|end| now - end);
        if gap.is_some_and(|gap| gap + 1 < gap_ms) {
            self.impolite.push(format!("{now}: {agent} at host {host} after {gap:?} ms"));
        }
        self.started += 1;
        if self.recorded.contains_key(&page) {
            self.repeated += 1;
        }
        *self.fetches.entry(page).or_default() += 1;
    }

    pub(crate) fn end(&mut self, agent: AgentId, page: Page, complete: bool, now: u64) {
        if let Some(running) = self.running.get_mut(&page.0)
            && let Some(at) = running.iter().position(|of| *of == agent)
        {
            running.remove(at);
        }
        self.last_end.insert(page.0, now);
        if complete {
            *self.recorded.entry(page).or_default() += 1;
        }
    }

    /// Pages that no agent has fetched completely.
    pub(crate) fn missing(&self, web: &Web) -> Vec<Page> {
        web.pages().filter(|page| !self.recorded.contains_key(page)).collect()
    }
}
