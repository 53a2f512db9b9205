//! Probes: measures a round trip to an address, within the owner's rules.
//!
//! Guard (name, address, port), allowed methods and the budget of new targets are checked before
//! any packet is sent. The methods are tried in the sequence of the order until one brings an
//! answer; the smallest of its samples counts, because delays in queues only ever add time.

mod budget;
mod head;
mod icmp;
mod target;

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use model::{CrawlUrl, ProbeMethod};
use protocol::{ProbeOrder, ProbeResult};
use tokio::time::{timeout, timeout_at};

use crate::{
    activity_log::{Activity, ActivityLog, UnderWay, lasted},
    config::ProbeRules,
    fetch::connect_tcp,
    guard::Refusal,
    lock::lock,
    owner::gate::Gate,
    resolve::Resolver,
};
use budget::{Budget, Grant, LONGEST_WAIT};
use icmp::Icmp;

pub use head::{HeadProber, KnownRules};
pub use icmp::is_allowed as icmp_is_allowed;

/// Most HEAD requests of one order. They load the host like any request, so its delay lies between
/// them.
const MAX_HEAD_SAMPLES: u8 = 2;

/// Samples without any answer after which a method is given up. After a HEAD request the host would
/// rest for twice the time limit before the next one, and the order would expire.
const fn max_failed_samples(method: ProbeMethod) -> u8 {
    match method {
        ProbeMethod::Head => 1,
        ProbeMethod::Icmp | ProbeMethod::Tcp => 2,
    }
}

/// Bytes that count for an echo or a TCP connection: a few small packets each way.
const SAMPLE_BYTES: u64 = 200;

/// Measures round trips; one for the whole agent.
pub struct Prober {
    rules: ProbeRules,
    bind: Option<IpAddr>,
    resolver: Arc<Resolver>,
    head: HeadProber,
    activity_log: ActivityLog,
    icmp: Icmp,
    budget: Mutex<Budget>,
    gate: Arc<Gate>,
    started: Instant,
}

/// What an order measures, once it has passed the guard.
struct Target<'a> {
    /// Start page of the host.
    url: &'a CrawlUrl,
    address: IpAddr,
    /// The address, for the activity log.
    text: &'a str,
    /// Least time between two requests to a host.
    pause: Duration,
}

/// What came of the methods of an order.
struct Attempt {
    /// The first that measured.
    measured: Option<Measured>,
    /// Why those before it did not, in one line.
    reason: String,
}

/// A round trip with the number of samples that were answered.
#[derive(Clone, Copy)]
struct Measured {
    method: ProbeMethod,
    rtt: Duration,
    samples: u8,
}

/// Why a sample brought no time.
enum SampleError {
    /// The owner's hours or budgets let nothing be sent now, which says nothing about the address.
    Withheld,
    /// The target did not answer, or may not be asked; the reason in one line.
    Failed(String),
}

impl From<String> for SampleError {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Notes in the activity log what came of the samples without HTTP. Each HEAD request has an entry
/// of its own there.
fn note_end(under_way: UnderWay<'_>, attempt: &Attempt) {
    let (outcome, duration) = match attempt.measured {
        Some(Measured { method, rtt, .. }) if method != ProbeMethod::Head => (method.as_str(), rtt),
        _ => (attempt.reason.as_str(), Duration::ZERO),
    };
    under_way.end(outcome, 0, lasted(duration));
}

impl Prober {
    /// A prober that sends from the source address `bind`, as far as `gate` permits.
    pub fn new(
        rules: ProbeRules,
        bind: Option<IpAddr>,
        resolver: Arc<Resolver>,
        head: HeadProber,
        activity_log: ActivityLog,
        gate: Arc<Gate>,
    ) -> Self {
        let budget = Mutex::new(Budget::new(rules.new_targets_per_minute));
        let icmp = Icmp::new(bind);
        let started = Instant::now();
        Self { rules, bind, resolver, head, activity_log, icmp, budget, gate, started }
    }

    /// Carries an order out; none where the owner's hours or budgets let nothing be sent now, or no
    /// new target before `latest`. `pause` is the least time between two requests to a host.
    pub async fn measure(
        &self,
        order: &ProbeOrder,
        pause: Duration,
        latest: tokio::time::Instant,
    ) -> Option<ProbeResult> {
        let address = order.address.to_canonical();
        let (methods, url) = match self.allowed(order, address) {
            Ok(allowed) => allowed,
            Err(reason) => return Some(ProbeResult::Refused { reason }),
        };
        match timeout_at(latest, self.await_budget(address)).await.ok()? {
            Ok(()) => {}
            Err(SampleError::Withheld) => return None,
            Err(SampleError::Failed(reason)) => return Some(ProbeResult::Refused { reason }),
        }
        let text = address.to_string();
        let target = Target { url: &url, address, text: &text, pause };
        let mut under_way = None;
        // What was sent before a method was withheld is in the log as cut off.
        let attempt = self.try_methods(methods, order.samples, &target, &mut under_way).await?;
        if let Some(under_way) = under_way {
            note_end(under_way, &attempt);
        }
        Some(match attempt.measured {
            Some(Measured { method, rtt, samples }) => {
                // On loopback a round trip can be too short for the clock, and zero would be
                // invalid.
                let rtt_us = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX).max(1);
                ProbeResult::Measured { method, rtt_us, samples }
            }
            None => ProbeResult::Unreachable { reason: attempt.reason },
        })
    }

    /// Tries one method after the other until one measures; none where one is withheld.
    async fn try_methods<'a>(
        &'a self,
        methods: Vec<ProbeMethod>,
        samples: u8,
        target: &Target<'a>,
        under_way: &mut Option<UnderWay<'a>>,
    ) -> Option<Attempt> {
        let mut reasons = Vec::new();
        let mut measured = None;
        for method in methods {
            match self.measure_with(method, samples, target, under_way).await {
                Ok((rtt, samples)) => {
                    measured = Some(Measured { method, rtt, samples });
                    break;
                }
                Err(SampleError::Withheld) => return None,
                Err(SampleError::Failed(reason)) => {
                    reasons.push(format!("{}: {reason}", method.as_str()));
                }
            }
        }
        let reason = reasons.join("; ").replace(['\n', '\r'], " ");
        Some(Attempt { measured, reason })
    }

    /// The ordered methods that the owner allows and the start page of the host, or why none is
    /// allowed.
    fn allowed(
        &self,
        order: &ProbeOrder,
        address: IpAddr,
    ) -> Result<(Vec<ProbeMethod>, CrawlUrl), String> {
        let refused = |refusal: Refusal| refusal.to_string();
        self.resolver.check(address, None).map_err(refused)?;
        let url = target::start_page(&order.host, address, order.port)
            .map_err(|error| error.to_string())?;
        // The owner wants no traffic to the host by any method.
        self.resolver.check_host(url.host()).map_err(refused)?;
        if self.bind.is_some_and(|bind| bind.is_ipv4() != address.is_ipv4()) {
            return Err(format!("{address} cannot be reached from this agent's address"));
        }
        let port = self.resolver.check(address, Some(order.port));
        let wanted =
            order.methods.iter().copied().filter(|method| self.rules.methods.contains(method));
        // ICMP has no ports, so a forbidden port excludes the other methods only.
        let mut allowed: Vec<ProbeMethod> =
            wanted.filter(|method| *method == ProbeMethod::Icmp || port.is_ok()).collect();
        allowed.dedup();
        match (allowed.is_empty(), port) {
            (false, _) => Ok((allowed, url)),
            (true, Err(refusal)) => Err(refusal.to_string()),
            (true, Ok(())) => Err("the owner allows none of the methods that were ordered".into()),
        }
    }

    /// Waits until the owner's budget allows the target; an error where that takes too long, or
    /// where it allows none.
    async fn await_budget(&self, address: IpAddr) -> Result<(), SampleError> {
        let granted = {
            let mut budget = lock(&self.budget);
            budget.request(address, self.started.elapsed())
        };
        match granted {
            Grant::After(wait) => {
                tokio::time::sleep(wait).await;
                Ok(())
            }
            Grant::NotNow => {
                // Otherwise the coordinator would repeat the order at once, again and again.
                tokio::time::sleep(LONGEST_WAIT).await;
                Err(SampleError::Withheld)
            }
            Grant::Never => Err("the owner allows no new targets".to_owned().into()),
        }
    }

    /// Takes samples. `under_way` is in the log from the first that is sent.
    async fn measure_with<'a>(
        &'a self,
        method: ProbeMethod,
        samples: u8,
        target: &Target<'a>,
        under_way: &mut Option<UnderWay<'a>>,
    ) -> Result<(Duration, u8), SampleError> {
        let wanted = samples.clamp(1, 10);
        let mut best = None;
        let mut answered = 0;
        let mut last_error = None;
        let samples =
            if method == ProbeMethod::Head { wanted.min(MAX_HEAD_SAMPLES) } else { wanted };
        for sample in 0..samples {
            match self.sample(method, target, under_way).await {
                Ok(rtt) => {
                    best = best.min(Some(rtt)).or(Some(rtt));
                    answered += 1;
                }
                // What was measured before counts.
                Err(SampleError::Withheld) if answered > 0 => break,
                Err(SampleError::Withheld) => return Err(SampleError::Withheld),
                Err(SampleError::Failed(reason)) => last_error = Some(reason),
            }
            // A silent target would cost the full time limit for each further sample.
            if answered == 0 && sample + 1 >= max_failed_samples(method) {
                break;
            }
        }
        best.map(|rtt| (rtt, answered))
            .ok_or_else(|| last_error.unwrap_or_else(|| "no sample was taken".into()).into())
    }

    async fn sample<'a>(
        &'a self,
        method: ProbeMethod,
        target: &Target<'a>,
        under_way: &mut Option<UnderWay<'a>>,
    ) -> Result<Duration, SampleError> {
        let Target { url, address, text, pause } = *target;
        // The fetcher counts HEAD requests itself.
        if method != ProbeMethod::Head {
            self.gate.request().map_err(|_| SampleError::Withheld)?;
            self.gate.count(SAMPLE_BYTES);
            let begin = || self.activity_log.begin(Activity::Probe, text, address);
            under_way.get_or_insert_with(begin);
        }
        match method {
            ProbeMethod::Icmp => Ok(self.icmp.echo(address, self.rules.timeout).await?),
            ProbeMethod::Tcp => Ok(self.tcp(SocketAddr::new(address, url.port())).await?),
            ProbeMethod::Head => self.head.round_trip(url, address, pause).await,
        }
    }

    async fn tcp(&self, target: SocketAddr) -> Result<Duration, String> {
        match timeout(self.rules.timeout, connect_tcp(self.bind, target)).await {
            Ok(Ok((_, round_trip))) => Ok(round_trip),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no connection in time".into()),
        }
    }
}
