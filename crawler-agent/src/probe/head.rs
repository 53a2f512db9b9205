//! HEAD probes. They load a host like any request, so they obey its robots.txt and its delay, and
//! appear in the activity log with their URLs.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use model::{CrawlUrl, UnixMillis};
use tokio::time::{Instant, timeout};

use super::SampleError;
use crate::{
    activity_log::{Activity, ActivityLog, lasted},
    clock, error_line,
    fetch::{self, Answer, FetchError, Fetcher, Problem, RobotsBody},
    frontier::{Change, FrontierHandle, HostNumber, RobotsState},
    lock::lock,
    robots::{Robots, answer, answer::Meaning},
    schedule::{HeldTarget, Schedule, after_answer},
};

/// Time for which rules of hosts that are not the agent's are remembered.
const KEEP_RULES: Duration = Duration::from_hours(24);
/// Hosts whose rules are remembered.
const MAX_HOSTS: usize = 1_024;

/// Reason where the time limit of a request is over.
const NO_ANSWER: &str = "no answer in time";

/// Sends HEAD requests; one for the whole agent.
pub struct HeadProber {
    /// Time limit of one request.
    pub timeout: Duration,
    /// Knows the agent's hosts and their rules.
    pub store: FrontierHandle,
    /// Keeps requests to a host and to an address apart.
    pub schedule: Arc<Schedule>,
    /// HTTP client, shared with the visitor.
    pub fetcher: Arc<Fetcher>,
    /// Record of all requests for the owner.
    pub activity_log: ActivityLog,
    /// Rules of other hosts, by host key.
    pub rules: KnownRules,
}

/// Rules of hosts that are not the agent's, with the time at which they were fetched.
#[derive(Default)]
pub struct KnownRules(Mutex<HashMap<String, (Instant, Robots)>>);

/// What a HEAD probe contacts.
struct Target<'a> {
    url: &'a CrawlUrl,
    address: IpAddr,
    /// Number of the host where it is the agent's.
    host: Option<HostNumber>,
    /// Least time between two requests to the host.
    pause: Duration,
}

impl HeadProber {
    /// Time from sending a HEAD request for the start page `url` to `address` until its answer.
    /// `pause` is the least time between two requests to a host.
    pub(super) async fn round_trip(
        &self,
        url: &CrawlUrl,
        address: IpAddr,
        pause: Duration,
    ) -> Result<Duration, SampleError> {
        let host = self.store.host_number(url.host_key_str()).map_err(|error| error.to_string())?;
        let mut target = Target { url, address, host, pause };
        let rules = self.rules(&target).await?;
        if !rules.allows(url.path_and_query()) {
            return Err("robots.txt forbids it".to_owned().into());
        }
        let crawl_delay = rules.delay_ms().unwrap_or(0);
        target.pause = pause.max(Duration::from_millis(crawl_delay.into()));
        let held = self.hold(&target).await?;
        let asked_at = Instant::now();
        let result = self.request(&target).await;
        self.rest(&target, held, asked_at.elapsed().min(self.timeout))?;
        result
    }

    async fn request(&self, target: &Target<'_>) -> Result<Duration, SampleError> {
        let to = SocketAddr::new(target.address, target.url.port());
        let url = target.url.as_str();
        let under_way = self.activity_log.begin(Activity::Probe, url, target.address);
        let asking = timeout(self.timeout, self.fetcher.head_round_trip(target.url, to)).await;
        let problem = match asking {
            Ok(Ok(rtt)) => {
                under_way.end("head", 0, lasted(rtt));
                return Ok(rtt);
            }
            Ok(Err(Problem::Withheld(_))) => {
                under_way.withheld();
                return Err(SampleError::Withheld);
            }
            Ok(Err(problem)) => Some(problem),
            Err(_) => None,
        };
        let reason = match &problem {
            Some(problem) => error_line::of(problem),
            None => NO_ANSWER.to_owned(),
        };
        under_way.end(&format!("head: {reason}"), 0, lasted(Duration::ZERO));
        let is_owners = problem.is_some_and(|problem| problem.is_owners());
        Err(if is_owners { SampleError::Withheld } else { reason.into() })
    }

    /// The host's rules: those that the crawl has, else those of an earlier probe, else new ones.
    async fn rules(&self, target: &Target<'_>) -> Result<Robots, SampleError> {
        if let Some(host) = target.host
            && let Some(rules) = self.rules_of_crawl(host, clock::now()).await?
        {
            return Ok(rules);
        }
        let key = target.url.host_key().to_string();
        if let Some(rules) = self.rules.get(&key) {
            return Ok(rules);
        }
        let rules = self.ask_robots(target).await?;
        self.rules.insert(key, rules.clone());
        Ok(rules)
    }

    async fn rules_of_crawl(
        &self,
        host: HostNumber,
        now: UnixMillis,
    ) -> Result<Option<Robots>, String> {
        let snapshot = self.store.snapshot(host).await;
        let snapshot = snapshot.map_err(|error| error.to_string())?;
        Ok(match snapshot.and_then(|snapshot| snapshot.robots).as_deref() {
            Some(RobotsState::Known { robots, until }) if now < *until => Some(robots.clone()),
            _ => None,
        })
    }

    async fn ask_robots(&self, target: &Target<'_>) -> Result<Robots, SampleError> {
        let url = target.url.robots();
        let held = self.hold(target).await?;
        let under_way = self.activity_log.begin(Activity::Robots, url.as_str(), target.address);
        let asking = self.fetcher.get(&url, target.address, |_| Some(RobotsBody::default()));
        let Ok(result) = timeout(self.timeout, asking).await else {
            under_way.end(NO_ANSWER, 0, lasted(self.timeout));
            self.rest(target, held, self.timeout)?;
            return Err(no_robots(NO_ANSWER));
        };
        fetch::note_end(under_way, &result);
        self.rest(target, held, fetch::duration_of(&result))?;
        let Answer { head, sink, memory: _until_parsed, .. } = match result {
            Ok(answer) => answer,
            Err(FetchError { problem, .. }) if problem.is_owners() => {
                return Err(SampleError::Withheld);
            }
            Err(FetchError { problem, .. }) => return Err(no_robots(&error_line::of(&problem))),
        };
        let body = sink.map(RobotsBody::into_bytes).unwrap_or_default();
        match answer::meaning(head.status, head.location.as_deref(), &body, 0) {
            Meaning::Rules(rules) => Ok(rules),
            // Following it costs more requests than a probe is worth.
            Meaning::Moved(_) => Err("robots.txt is at another URL".to_owned().into()),
            Meaning::Unreachable(reason) => Err(reason.into()),
        }
    }

    /// Waits until the target may be contacted, unless that is too far away: after failures, or
    /// because the host asked for it.
    async fn hold(&self, target: &Target<'_>) -> Result<HeldTarget, String> {
        // A host that answers slowly rests for longer than `pause`; one that takes longer than the
        // time limit of a probe need not be asked.
        let rest = self.rest_of(target).await?;
        if rest > target.pause.max(after_answer(target.pause, self.timeout)) {
            return Err("the host is not to be asked for a while".into());
        }
        // It is reserved just before the crawl would take it.
        tokio::time::sleep(rest.saturating_sub(target.pause)).await;
        let holding = self.schedule.hold_target(target.host, target.address, target.pause);
        let longest = self.timeout * 10 + target.pause;
        timeout(longest, holding).await.map_err(|_| "the host was busy".to_owned())
    }

    /// How long the target is to be left alone, if it is the agent's host.
    async fn rest_of(&self, target: &Target<'_>) -> Result<Duration, String> {
        let Some(host) = target.host else { return Ok(Duration::ZERO) };
        let snapshot = self.store.snapshot(host).await.map_err(|error| error.to_string())?;
        Ok(snapshot.map_or(Duration::ZERO, |snapshot| clock::until_stored(snapshot.record.due)))
    }

    /// Lets the target rest after a request that took so long, also across a restart if it is the
    /// agent's.
    fn rest(&self, target: &Target<'_>, held: HeldTarget, took: Duration) -> Result<(), String> {
        let pause = target.pause.max(after_answer(target.pause, took));
        if let Some(host) = target.host {
            let due = clock::now().plus(pause);
            let asked = self.store.apply(Change::Asked { host, due });
            asked.map_err(|error| error.to_string())?;
        }
        held.end(pause);
        Ok(())
    }
}

fn no_robots(reason: &str) -> SampleError {
    format!("robots.txt could not be fetched: {reason}").into()
}

impl KnownRules {
    fn get(&self, host: &str) -> Option<Robots> {
        let known = lock(&self.0);
        let (since, rules) = known.get(host)?;
        (since.elapsed() < KEEP_RULES).then(|| rules.clone())
    }

    fn insert(&self, host: String, rules: Robots) {
        let mut known = lock(&self.0);
        if known.len() >= MAX_HOSTS {
            // Rules are asked for again; that is rare enough to need no better choice.
            known.clear();
        }
        known.insert(host, (Instant::now(), rules));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{activity_log, config::Limits, frontier::Frontier, owner::gate::Gate};

    #[tokio::test]
    async fn requests_that_the_owner_withholds_are_not_in_the_activity_log() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _failure) =
            FrontierHandle::start(Frontier::open(dir.path(), 1).unwrap()).unwrap();
        let gate = Gate::of("[budget]\npages_per_day = 1");
        gate.request().unwrap();
        let log_dir = dir.path().join("activity");
        let prober = HeadProber {
            timeout: Duration::from_secs(5),
            store,
            schedule: Schedule::new(1),
            fetcher: Arc::new(Fetcher::new(Limits::default(), "test".into(), None, None, gate)),
            activity_log: ActivityLog::start(&log_dir, 9).unwrap(),
            rules: KnownRules::default(),
        };
        let url = CrawlUrl::parse("http://h.example/").unwrap();
        let mut withheld = 0;
        for rules in [None, Some(Robots::allow_all())] {
            if let Some(rules) = rules {
                prober.rules.insert(url.host_key().to_string(), rules);
            }
            let result = prober.round_trip(&url, [192, 0, 2, 1].into(), Duration::ZERO).await;
            withheld += u32::from(matches!(result, Err(SampleError::Withheld)));
        }
        assert_eq!(withheld, 2, "robots.txt and the start page");
        prober.activity_log.flush(Duration::from_secs(30));
        assert_eq!(activity_log::entries(&log_dir, None).unwrap().count(), 0);
    }
}
