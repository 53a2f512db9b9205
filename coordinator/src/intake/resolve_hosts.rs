//! Background task: looks up the addresses of hosts.
//!
//! Names whose servers are silent take seconds each, and any site can link to thousands of them.
//! They must not delay other hosts: sources (agents, admins) take turns, first lookups come before
//! repeated ones and give up earlier, repeated ones have places of their own, and
//! [`Zones`](super::zones::Zones) bounds the lookups in one zone.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use model::{CrawlUrl, HostId, UnixMillis};
use store::hosts::{self, FailedLookup, UnresolvedHost};
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument as _;
use url::Host;

use crate::intake::Intake;
use crate::intake::dns::{Dns, LookupError};
use crate::intake::zones::{Permission, zone_of};
use crate::runtime::back_off::{GIVEN_UP_MS, retry_ms};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Attempts if the DNS answers that the name has no address.
const ATTEMPTS_WITHOUT_ADDRESS: u32 = 3;
/// Pause between these. A zone that is being changed has no addresses for minutes.
const PAUSE_WITHOUT_ADDRESS_MS: i64 = 30 * 60_000;
/// After this time without any answer to a lookup, the coordinator's own name server or line may be
/// down. Then lookups without an answer do not count, for at most a day, and are repeated after
/// this pause.
const OUTAGE_MS: i64 = 60_000;
/// Time for a first lookup.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// Time for a repeated lookup.
const REPEATED_PATIENCE: Duration = Duration::from_secs(5);
/// Least time between two queries for more hosts while no lookup ends.
const REFILL: Duration = Duration::from_millis(200);
/// While no lookup ends, looking for hosts takes at most one part in this number of the time.
const REFILL_SHARE: u32 = 10;
/// Time after which a run starts no more lookups, so that its status is reported.
const RUN: Duration = Duration::from_mins(1);

/// Looks up the addresses of hosts. After a failure it tries again with growing pauses, and finally
/// gives the host up with the reason.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let mut lookups = Lookups::of(Arc::clone(&intake.dns));
    let mut busy = Busy::default();
    let mut looked_up = 0_usize;
    let started = Instant::now();
    intake.zones.lock().unwrap_or_else(PoisonError::into_inner).drop_lookups();
    loop {
        let refilled = Instant::now();
        let is_late = refilled.duration_since(started) >= RUN;
        if !is_late {
            for host in startable(intake, &mut busy).await? {
                lookups.start(host);
            }
        }
        if lookups.is_empty() {
            break;
        }
        let pause = REFILL.max(refilled.elapsed() * REFILL_SHARE);
        tokio::select! {
            () = intake.stop.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
            // Stored as they arrive: a slow name does not delay the others.
            results = lookups.ended() => {
                let results = results.context("a lookup was not finished")?;
                looked_up += results.len();
                for result in &results {
                    busy.remove(&result.host);
                    note(intake, result);
                }
                store_results(intake, results).await?;
            }
        }
    }
    if looked_up == 0 {
        return Ok(Outcome::Idle);
    }
    let done = format!("looked {} up", quantity(looked_up, "host"));
    let is_late = started.elapsed() >= RUN;
    Ok(if is_late { Outcome::More(done) } else { Outcome::Done(done) })
}

/// Hosts that are being looked up.
#[derive(Default)]
struct Busy {
    first: Vec<HostId>,
    repeated: Vec<HostId>,
}

impl Busy {
    fn of(&mut self, host: &UnresolvedHost) -> &mut Vec<HostId> {
        if host.attempts == 0 { &mut self.first } else { &mut self.repeated }
    }

    fn remove(&mut self, host: &UnresolvedHost) {
        self.of(host).retain(|id| *id != host.id);
    }

    fn all(&self) -> Vec<HostId> {
        self.first.iter().chain(&self.repeated).copied().collect()
    }
}

/// Hosts whose lookup starts now; those of silent zones, and of slow ones that are busy, are
/// deferred.
async fn startable(
    intake: &Intake,
    busy: &mut Busy,
) -> Result<Vec<UnresolvedHost>, store::StoreError> {
    let now = intake.clock.now();
    let places = intake.limits.resolving_hosts;
    // Repeated lookups have a quarter as many places, which first ones cannot take.
    let places_of = |host: &UnresolvedHost| {
        let divisor = if host.attempts == 0 { 1 } else { 4 };
        (places / divisor).max(1) as usize
    };
    let waiting = hosts::list_unresolved(&intake.store, 2 * places, &busy.all(), now).await?;
    let mut starting = Vec::new();
    let mut deferred = Vec::new();
    for host in waiting {
        let is_full = busy.of(&host).len() >= places_of(&host);
        match permission(intake, &host, is_full) {
            Permission::Start => {
                busy.of(&host).push(host.id);
                starting.push(host);
            }
            Permission::Wait => {}
            Permission::Defer(until) => deferred.push((host.id, until)),
        }
    }
    if !deferred.is_empty() {
        hosts::defer_lookups(&intake.store, &deferred).await?;
    }
    Ok(starting)
}

fn permission(intake: &Intake, host: &UnresolvedHost, is_full: bool) -> Permission {
    let Some(name) = name(&host.authority) else { return Permission::Start };
    if is_full {
        return Permission::Wait;
    }
    let mut zones = intake.zones.lock().unwrap_or_else(PoisonError::into_inner);
    zones.ask(zone_of(&name), intake.clock.now())
}

fn host_of(authority: &str) -> Option<Host<String>> {
    let url = CrawlUrl::of_host("http", authority).ok()?;
    url.host().map(|host| host.to_owned())
}

/// The name to look up; none for an address.
pub fn name(authority: &str) -> Option<String> {
    match host_of(authority)? {
        Host::Domain(name) => Some(name),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

/// A host with the answer about its name.
struct LookedUp {
    host: UnresolvedHost,
    address: Result<IpAddr, LookupError>,
    took: Duration,
}

/// Lookups in progress, each in a task of its own: it goes on, and its time ends, while the run
/// waits for the database.
struct Lookups {
    dns: Arc<Dns>,
    tasks: JoinSet<LookedUp>,
}

impl Lookups {
    fn of(dns: Arc<Dns>) -> Self {
        Self { dns, tasks: JoinSet::new() }
    }

    fn start(&mut self, host: UnresolvedHost) {
        let dns = Arc::clone(&self.dns);
        let lookup = async move {
            let started = Instant::now();
            let address = look_up(&dns, &host).await;
            LookedUp { host, address, took: started.elapsed() }
        };
        self.tasks.spawn(lookup.in_current_span());
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The lookups that have ended, at least one; none if none is in progress.
    async fn ended(&mut self) -> Result<Vec<LookedUp>, JoinError> {
        let mut next = self.tasks.join_next().await;
        let mut ended = Vec::new();
        while let Some(lookup) = next {
            ended.push(lookup?);
            next = self.tasks.try_join_next();
        }
        Ok(ended)
    }
}

async fn look_up(dns: &Dns, host: &UnresolvedHost) -> Result<IpAddr, LookupError> {
    let patience = if host.attempts == 0 { FIRST_PATIENCE } else { REPEATED_PATIENCE };
    match host_of(&host.authority) {
        Some(Host::Domain(name)) => dns.address(&name, patience).await,
        Some(Host::Ipv4(address)) => Ok(address.into()),
        Some(Host::Ipv6(address)) => Ok(IpAddr::from(address).to_canonical()),
        None => Err(LookupError::NoAddress(host.authority.clone())),
    }
}

fn note(intake: &Intake, LookedUp { host, address, took }: &LookedUp) {
    let Some(name) = name(&host.authority) else { return };
    let mut zones = intake.zones.lock().unwrap_or_else(PoisonError::into_inner);
    let now = intake.clock.now();
    match address {
        Err(LookupError::NoAnswer { .. }) => zones.unanswered(zone_of(&name), *took, now),
        Ok(_) | Err(LookupError::NoAddress(_)) => zones.answered(zone_of(&name), *took, now),
    }
}

async fn store_results(intake: &Intake, looked_up: Vec<LookedUp>) -> Result<(), store::StoreError> {
    let mut found: Vec<(HostId, IpAddr)> = Vec::new();
    let mut failed: Vec<FailedLookup> = Vec::new();
    for LookedUp { host, address, .. } in looked_up {
        match address {
            Ok(address) => found.push((host.id, address)),
            Err(error) => failed.push(failure(intake, &host, &error)),
        }
    }
    if !failed.is_empty() {
        hosts::record_failed_lookups(&intake.store, &failed).await?;
    }
    if !found.is_empty() {
        hosts::set_addresses(&intake.store, &found).await?;
        intake.events.emit(Event::HostsResolved);
    }
    Ok(())
}

fn failure(intake: &Intake, host: &UnresolvedHost, error: &LookupError) -> FailedLookup {
    let now = intake.clock.now();
    let reason = error.to_string();
    let (limit, pause) = match error {
        LookupError::NoAddress(_) => (ATTEMPTS_WITHOUT_ADDRESS, PAUSE_WITHOUT_ADDRESS_MS),
        LookupError::NoAnswer { .. } if !silence_counts(intake, host.attempts, now) => {
            let retry_at = now.plus_ms(OUTAGE_MS);
            return FailedLookup { id: host.id, reason, retry_at, counts: false, give_up: false };
        }
        LookupError::NoAnswer { .. } => (intake.limits.resolve_attempts, retry_ms(host.attempts)),
    };
    let give_up = host.attempts + 1 >= limit;
    let retry_at = now.plus_ms(if give_up { GIVEN_UP_MS } else { pause });
    FailedLookup { id: host.id, reason, retry_at, counts: true, give_up }
}

fn silence_counts(intake: &Intake, attempts: u32, now: UnixMillis) -> bool {
    let since = last_attempt(attempts, now);
    let zones = intake.zones.lock().unwrap_or_else(PoisonError::into_inner);
    since.is_none_or(|since| !zones.may_be_outage(since, now))
}

/// A lookup without an answer does not count where no lookup at all has had an answer since this
/// time, which is not after the attempt before: then the coordinator's own name server or line may
/// be down. The first attempt counts.
fn last_attempt(attempts: u32, now: UnixMillis) -> Option<UnixMillis> {
    let before = attempts.checked_sub(1)?;
    Some(now.plus_ms(-retry_ms(before).max(OUTAGE_MS)))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use hickory_proto::op::{Message, ResponseCode};
    use hickory_proto::rr::rdata::AAAA;
    use hickory_proto::rr::{RData, Record, RecordType};
    use tokio::net::UdpSocket;

    use super::*;

    /// Answers at once that names have an IPv6 address and none of IPv4.
    async fn name_server() -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        tokio::spawn(async move {
            let mut buffer = [0; 1_500];
            while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
                let question = Message::from_vec(&buffer[..length]).unwrap();
                let query = question.queries[0].clone();
                let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
                answer.metadata.response_code = ResponseCode::NoError;
                if query.query_type() == RecordType::AAAA {
                    let address = RData::AAAA(AAAA("2001:db8::1".parse().unwrap()));
                    answer.add_answer(Record::from_rdata(query.name().clone(), 60, address));
                }
                answer.add_query(query);
                socket.send_to(&answer.to_vec().unwrap(), peer).await.unwrap();
            }
        });
        address
    }

    #[tokio::test]
    async fn a_slow_database_makes_no_lookup_slow() {
        let dns = Dns::new(Some(name_server().await)).unwrap();
        let mut lookups = Lookups::of(Arc::new(dns));
        let authority = "a.example".to_owned();
        lookups.start(UnresolvedHost { id: HostId::new(1), authority, attempts: 0 });
        // The run waits for the database longer than a first lookup may take.
        let database = FIRST_PATIENCE + Duration::from_millis(100);
        tokio::time::sleep(database).await;
        let ended = lookups.ended().await.unwrap();
        assert_eq!(ended[0].address, Ok("2001:db8::1".parse().unwrap()));
        assert!(ended[0].took < FIRST_PATIENCE, "{:?}", ended[0].took);
        assert!(lookups.is_empty());
    }

    #[test]
    fn repeated_silence_counts_only_if_anything_answered_since_the_attempt_before() {
        let now = UnixMillis(1_000_000_000);
        let since = |attempts| last_attempt(attempts, now).map(|since| now.0 - since.0);
        assert_eq!(
            [0, 1, 7, 8, 12].map(since),
            [None, Some(60_000), Some(64_000), Some(128_000), Some(600_000)]
        );
    }
}
