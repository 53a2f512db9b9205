//! Quotas on discovered URLs, so that one agent, or one site with endless links, can fill neither
//! `hosts` nor `pending_urls`.

use model::UnixMillis;
use model::policy::DiscoveryQuotas;
use store::discovery::{self, Usage};
use store::packages::Ingestion;
use store::urls::NewUrl;
use store::{Store, StoreError, policy};

/// Removes from a package what is beyond the quotas of the day, and counts it.
pub async fn apply(
    store: &Store,
    ingestion: Ingestion,
    now: UnixMillis,
) -> Result<Ingestion, StoreError> {
    if ingestion.discovered.is_empty() {
        return Ok(ingestion);
    }
    let agent = ingestion.name.agent;
    let quotas = policy::settings(store).await?.quotas;
    let hosts = ingestion.discovered.iter().map(|new| new.url.host_key()).collect();
    let received_at = ingestion.received_at;
    let usage = discovery::usage(store, agent, received_at, hosts, now).await?;
    let (discovered, refused) = within(&quotas, usage, ingestion.discovered);
    if refused > 0 {
        tracing::warn!(%agent, refused, "refused discovered URLs beyond the quotas of the day");
        discovery::count_refused(store, agent, refused, received_at).await?;
    }
    Ok(Ingestion { discovered, ..ingestion })
}

/// The URLs that the quotas allow, in their order, and the number of the others.
fn within(
    quotas: &DiscoveryQuotas,
    mut usage: Usage,
    discovered: Vec<NewUrl>,
) -> (Vec<NewUrl>, u64) {
    let mut refused = 0;
    let mut allowed = Vec::new();
    for new in discovered {
        let host = new.url.host_key();
        let queued = usage.queued.get(&host).copied();
        let is_allowed = usage.urls < u64::from(quotas.urls_per_agent)
            && queued.unwrap_or(0) < u64::from(quotas.urls_per_host)
            && (queued.is_some() || usage.hosts < u64::from(quotas.hosts_per_agent));
        if !is_allowed {
            refused += 1;
            continue;
        }
        usage.urls += 1;
        usage.hosts += u64::from(queued.is_none());
        *usage.queued.entry(host).or_default() += 1;
        allowed.push(new);
    }
    (allowed, refused)
}

#[cfg(test)]
mod tests {
    use model::CrawlUrl;

    use super::*;

    const QUOTAS: DiscoveryQuotas =
        DiscoveryQuotas { urls_per_agent: 4, hosts_per_agent: 2, urls_per_host: 2 };

    fn urls(texts: &[&str]) -> Vec<NewUrl> {
        let new = |text: &&str| NewUrl { url: CrawlUrl::parse(text).unwrap(), redirects: 0 };
        texts.iter().map(new).collect()
    }

    #[test]
    fn each_quota_refuses_what_is_beyond_it() {
        let a = ["http://a.example/1", "http://a.example/2", "http://a.example/3"];
        let (allowed, refused) = within(&QUOTAS, Usage::default(), urls(&a));
        assert_eq!((allowed, refused), (urls(&a[..2]), 1), "of one host");

        let hosts = ["http://a.example/", "http://b.example/", "http://c.example/"];
        let (allowed, refused) = within(&QUOTAS, Usage::default(), urls(&hosts));
        assert_eq!((allowed, refused), (urls(&hosts[..2]), 1), "of new hosts");

        let usage = Usage { urls: 3, ..Usage::default() };
        let (allowed, refused) = within(&QUOTAS, usage, urls(&hosts));
        assert_eq!((allowed, refused), (urls(&hosts[..1]), 2), "of the agent");
    }

    #[test]
    fn known_hosts_are_not_new() {
        let known = urls(&["http://a.example/"])[0].url.host_key();
        let usage = Usage { hosts: 2, queued: [(known, 1)].into(), ..Usage::default() };
        let found = ["http://a.example/", "http://b.example/"];
        assert_eq!(within(&QUOTAS, usage, urls(&found)), (urls(&found[..1]), 1));
    }
}
