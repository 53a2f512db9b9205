//! Answers what a host or a URL waits for, to the owner and to the coordinator.

use std::sync::Arc;

use model::CrawlUrl;
use protocol::host_status::{HostStatus, UrlStatus};
use protocol::limits::QUESTIONS_PER_HEARTBEAT;

use super::readiness::{ReadinessSignal, hindrance};
use crate::{
    clock,
    frontier::{FrontierError, HostSnapshot},
    host_status::{Facts, allowed, status_of},
    schedule::HostActivity,
    visit::Visitor,
};

/// What the answers are read from.
#[derive(Clone)]
pub(super) struct Inspector {
    pub(super) visitor: Arc<Visitor>,
    pub(super) readiness: ReadinessSignal,
}

impl Inspector {
    /// What a host waits for, given as scheme and authority.
    pub(super) async fn host(&self, host: &str) -> Result<HostStatus, FrontierError> {
        Ok(self.inspect(host).await?.0)
    }

    /// The status of each URL. Texts that are no URL are left out.
    pub(super) async fn urls(&self, urls: &[String]) -> Result<Vec<UrlStatus>, FrontierError> {
        let mut statuses = Vec::new();
        for text in urls.iter().take(QUESTIONS_PER_HEARTBEAT) {
            let Ok(url) = CrawlUrl::parse(text) else { continue };
            let (host, snapshot) = self.inspect(url.host_key_str()).await?;
            let is_allowed = snapshot.as_ref().and_then(|snapshot| allowed(snapshot, &url));
            let is_known = self.is_known(url).await?;
            statuses.push(UrlStatus { url: text.clone(), is_allowed, is_known, host });
        }
        Ok(statuses)
    }

    async fn inspect(
        &self,
        host: &str,
    ) -> Result<(HostStatus, Option<HostSnapshot>), FrontierError> {
        let store = &self.visitor.store;
        let number = store.host_number(host)?;
        let snapshot = match number {
            Some(number) => store.snapshot(number).await?,
            None => None,
        };
        let activity =
            number.map_or(HostActivity::None, |number| self.visitor.schedule.activity(number));
        let hindrance = hindrance(&self.readiness.current(), &self.visitor);
        let facts = Facts {
            host: host.to_owned(),
            agent_idle: hindrance.map(|reason| reason.to_string()),
            snapshot: snapshot.clone(),
            activity,
            revisit: self.visitor.revisit_period(),
        };
        Ok((status_of(facts, clock::now()), snapshot))
    }

    /// Whether the URL was ever queued.
    async fn is_known(&self, url: CrawlUrl) -> Result<bool, FrontierError> {
        self.visitor.store.read(move |frontier| frontier.is_known(&url)).await
    }
}
