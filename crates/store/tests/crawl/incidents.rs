//! What agents tell of slow pages, and the incidents that come of it.

use hierarchy::Scope;
use model::{AgentId, IncidentState, Phase, PinId, Reason, Strategy, UnixMillis};
use protocol::package::{Header, PackageName};
use serde_json::json;
use store::constraints::{self, CreateOutcome, Kind, NewConstraint};
use store::delegations::{self, Assignment, Cause, Decision, DelegationOutcome};
use store::host_tally::{HostTally, Trends};
use store::incidents::IncidentCause;
use store::packages::{Ingestion, ReceivedPackage};
use store::searches::{self, NewSearch, SearchKind};
use store::timing_reports::{self, PendingReports, Summary};
use store::{handovers, probes};
use store::{incidents, incidents::Incident, incidents::Outcome, incidents::Seed};

use crate::world::{NOW, World, ip, range};

const SUBNET: &str = "198.51.100.0/24";
pub(crate) const SLOW: IncidentCause<'_> =
    IncidentCause { ratio: 4.0, url: Some("http://a.example/"), path_ratio: None };

pub(crate) fn summary() -> Summary {
    Summary { reports: json!({"kept": 1}), path: json!(null), check_at: None }
}

/// A host whose subnet the first of two agents got in a search that measured both.
pub(crate) async fn world() -> (World, AgentId, AgentId) {
    let world = World::new().await;
    let near = world.approved(1, None).await;
    let next = world.approved(2, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let new = NewSearch {
        subnet: range(SUBNET),
        target: ip("198.51.100.7"),
        host: "a.example".into(),
        port: 80,
    };
    searches::open(world.store(), &[new], Strategy::Threshold, 50_000, NOW).await.unwrap();
    for (step, (agent, rtt_us)) in (1..).zip([(near, 9_000), (next, 30_000)]) {
        measure(&world, step, agent, rtt_us).await;
    }
    decide(&world, near, 9_000).await;
    (world, near, next)
}

async fn open_search(world: &World) -> searches::OpenSearch {
    let open = world.open_searches(SearchKind::Undelegated).await;
    open.into_iter().next().unwrap()
}

async fn measure(world: &World, step: u32, agent: AgentId, rtt_us: u32) {
    let search = open_search(world).await.id;
    let order = probes::NewProbe {
        search,
        step,
        agent,
        phase: Phase::Rest,
        level: range("0.0.0.0/0"),
        expected: None,
    };
    probes::ask(world.store(), &[order], NOW).await.unwrap();
    answer(world, agent, rtt_us).await;
}

/// The agent reports on everything it was asked.
pub(crate) async fn answer(world: &World, agent: AgentId, rtt_us: u32) {
    use model::ProbeMethod;
    use protocol::{ProbeReport, ProbeResult};
    for order in probes::orders(world.store(), agent, &[], 3, 10).await.unwrap() {
        let result = ProbeResult::Measured { method: ProbeMethod::Icmp, rtt_us, samples: 3 };
        let report = ProbeReport { probe: order.probe, result };
        probes::report(world.store(), agent, &[report], NOW).await.unwrap();
    }
}

async fn decide(world: &World, agent: AgentId, rtt_us: u32) {
    let search = open_search(world).await;
    let decision = Decision {
        search: search.id,
        subnet: range(SUBNET),
        agent,
        fencing_number: search.fencing_number,
        reason: Reason::Lowest,
        provisional: false,
        rtt_us: Some(rtt_us),
        moved_from: None,
        skipped: &[],
    };
    let made = delegations::decide_all(world.store(), &[decision], NOW).await.unwrap()[0];
    assert!(matches!(made, DelegationOutcome::Applied(_)));
}

/// A package of an agent tells so much of the host.
async fn tell(world: &World, agent: AgentId, usual: u32, slower: u32) {
    let page = (slower > 0).then(|| ("http://a.example/".to_owned(), 4.0));
    let trends = Trends { usual, slower, page };
    ship(world, agent, 1, HostTally { trends, ..HostTally::default() }, NOW).await;
}

/// A package of an agent has a new connection to an address.
pub(crate) async fn connect(
    world: &World,
    agent: AgentId,
    seq: u64,
    to: (&str, u32),
    now: UnixMillis,
) {
    let (address, rtt_us) = to;
    let connect = Some((ip(address), rtt_us));
    ship(world, agent, seq, HostTally { connect, ..HostTally::default() }, now).await;
}

/// A package of an agent with counts of the host; it counts once.
pub(crate) async fn ship(
    world: &World,
    agent: AgentId,
    seq: u64,
    tally: HostTally,
    now: UnixMillis,
) {
    let scheme = "http".into();
    let authority = "a.example".into();
    let tally = HostTally { scheme, authority, ..tally };
    let name = PackageName { agent, epoch: 1, seq };
    let header =
        Header { name, created: NOW, entries: 1, plain_bytes: 1, body_sha256: String::new() };
    let received = ReceivedPackage {
        header: &header,
        sha256: b"one",
        object: "there",
        bytes: 1,
        foreign_hosts: &[],
    };
    store::packages::enter(world.store(), &received, NOW).await.unwrap();
    let waiting =
        store::packages::pending(world.store(), &store::packages::InTurn::default(), NOW, 1)
            .await
            .unwrap();
    let position = waiting[0].position;
    let ingestion =
        Ingestion { position, name, received_at: NOW, hosts: vec![tally], discovered: vec![] };
    store::packages::ingest(world.store(), &ingestion, now).await.unwrap();
    store::packages::ingest(world.store(), &ingestion, now).await.unwrap();
}

pub(crate) async fn pending(world: &World) -> Vec<PendingReports> {
    timing_reports::pending(world.store(), 10).await.unwrap()
}

async fn case(world: &World) -> Incident {
    incidents::list_open(world.store()).await.unwrap().remove(0)
}

#[tokio::test]
async fn what_is_told_counts_once_and_only_from_whom_the_host_is() {
    let (world, near, next) = world().await;
    tell(&world, next, 3, 3).await;
    assert_eq!(pending(&world).await, []);
    tell(&world, near, 2, 1).await;
    let told = pending(&world).await.remove(0);
    assert_eq!(
        (told.usual, told.slower, told.ratio, told.delegated_at),
        (2, 1, Some(4.0), Some(NOW))
    );
    timing_reports::store_summary(world.store(), &told, &summary()).await.unwrap();
    assert_eq!(pending(&world).await, []);
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one scenario, step by step")]
async fn a_case_goes_through_its_states_and_each_step_counts_once() {
    let (world, near, next) = world().await;
    tell(&world, near, 0, 2).await;
    let told = pending(&world).await.remove(0);
    assert!(incidents::open(world.store(), &told, &summary(), &SLOW, NOW).await.unwrap());
    assert!(
        !incidents::open(world.store(), &told, &summary(), &SLOW, NOW).await.unwrap(),
        "one at a time"
    );
    let checking = case(&world).await;
    assert_eq!(
        (checking.state, checking.before_us, checking.ratio),
        (IncidentState::Checking, Some(9_000), 4.0)
    );
    let known = incidents::measured(world.store(), checking.delegation).await.unwrap();
    assert_eq!(known, [(near, 9_000), (next, 30_000)]);

    let target = checking.target.clone().unwrap();
    for _ in 0..2 {
        incidents::check(world.store(), &checking, next, Some(30_000), &target, NOW).await.unwrap();
    }
    assert_eq!(
        probes::orders(world.store(), next, &[], 3, 10).await.unwrap().len(),
        1,
        "asked once"
    );
    assert_eq!(case(&world).await.probe.unwrap().outcome, Outcome::Pending);
    answer(&world, next, 31_000).await;
    let measured = case(&world).await;
    assert_eq!(measured.probe.unwrap().outcome, Outcome::Measured(31_000));
    assert_eq!(measured.control_probe, Some((next, 30_000)));

    let rules = (Strategy::Threshold, 50_000);
    let searching = (IncidentState::Searching, Some(31_000));
    incidents::search(world.store(), &measured, searching, &target, &[], rules, NOW).await.unwrap();
    let former = case(&world).await.search.unwrap();
    assert!(former.1, "open");
    let other = probes::Target { address: ip("198.51.100.8"), host: "b.example".into(), port: 443 };
    assert!(searches::retarget(world.store(), former.0, &other, NOW).await.unwrap());
    let waits_for = case(&world).await.search.unwrap();
    assert!(waits_for.1 && waits_for.0 != former.0, "for the search at another address");
    assert!(open_search(&world).await.trail.is_empty(), "everybody is asked anew");
    decide(&world, next, 31_000).await;
    let searched = case(&world).await;
    let holds = searched.holds.unwrap();
    assert_eq!((holds.agent, searched.search.unwrap().1), (next, false));

    incidents::set_away(world.store(), &searched, &holds, &json!({"far": true}), NOW)
        .await
        .unwrap();
    let away = case(&world).await;
    assert_eq!(
        (away.state, away.next_agent, away.failback.clone()),
        (IncidentState::Away, Some(next), Some(json!({"far": true})))
    );
    let seeds = [Seed { agent: near, rtt_us: 9_100 }, Seed { agent: next, rtt_us: 31_000 }];
    let returning = (IncidentState::Returning, None);
    incidents::search(world.store(), &away, returning, &target, &seeds, rules, NOW).await.unwrap();
    assert_eq!(open_search(&world).await.trail.len(), 2);
    decide(&world, near, 9_100).await;
    let back = case(&world).await;
    incidents::end(world.store(), &back, (IncidentState::Returned, None), &json!({}), NOW)
        .await
        .unwrap();
    assert!(incidents::list_open(world.store()).await.unwrap().is_empty());
    let told = incidents::list(world.store(), i64::MAX, 10).await.unwrap().remove(0);
    assert_eq!(
        (told.state, told.now_us, told.moments.ended),
        (IncidentState::Returned, Some(31_000), Some(NOW))
    );
    assert!(told.moments.moved.is_some() && told.moments.returned.is_some());
    let search = back.search.unwrap().0;
    assert_eq!(incidents::of_search(world.store(), search).await.unwrap(), Some(told));
}

#[tokio::test]
async fn a_slow_server_makes_the_agent_forget_and_the_subnet_stay() {
    let (world, near, _) = world().await;
    tell(&world, near, 0, 2).await;
    let told = pending(&world).await.remove(0);
    incidents::open(world.store(), &told, &summary(), &SLOW, NOW).await.unwrap();
    let case = case(&world).await;
    let server = (IncidentState::Server, Some(9_000));
    for _ in 0..2 {
        incidents::end(world.store(), &case, server, &json!({}), NOW).await.unwrap();
    }
    let orders = handovers::open(world.store(), near, &[], 10).await.unwrap();
    assert_eq!((orders.len(), orders[0].task), (1, model::HostTask::Settle));
    let numbers = [orders[0].number];
    assert_eq!(
        handovers::confirm(world.store(), near, &numbers, NOW).await.unwrap(),
        0,
        "no host comes free"
    );
    let later: UnixMillis = NOW.plus_ms(1);
    assert!(!pending(&world).await.iter().any(|told| told.delegated_at > Some(later)));
}

/// Gives the subnet and its host to an agent by hand.
pub(crate) async fn override_to(world: &World, agent: AgentId) {
    let subnet = range(SUBNET);
    let note = "a contract";
    let assignment =
        Assignment { subnet, agent, fencing_number: 1, cause: Cause::Override, by: "ada", note };
    let made = delegations::assign(world.store(), &assignment, None, NOW).await.unwrap();
    assert!(matches!(made, DelegationOutcome::Applied(_)), "{made:?}");
    let given = format!("UPDATE hosts SET state = 'delegated', agent = {}", agent.get());
    store::testing::execute(world.store(), Box::leak(given.into_boxed_str())).await.unwrap();
}

/// Gives the subnet to an agent by hand and lets it complain; whether an incident was opened.
async fn complains_after(world: &World, agent: AgentId, cause: Cause) -> bool {
    let subnet = range(SUBNET);
    let assignment =
        Assignment { subnet, agent, fencing_number: 1, cause, by: "ada", note: "a contract" };
    let made = delegations::assign(world.store(), &assignment, None, NOW).await.unwrap();
    assert!(matches!(made, DelegationOutcome::Applied(_)), "{made:?}");
    let told = PendingReports {
        subnet,
        agent,
        usual: 0,
        slower: 2,
        ratio: Some(4.0),
        url: None,
        summary: None,
        round_trip: None,
        path: None,
        delegated_at: Some(NOW),
    };
    incidents::open(world.store(), &told, &summary(), &SLOW, NOW).await.unwrap()
}

#[tokio::test]
async fn what_was_given_by_hand_once_is_looked_at_and_what_is_pinned_is_not() {
    let (world, near, next) = world().await;
    let agent = world.approved(3, None).await;
    assert!(complains_after(&world, agent, Cause::Override).await);
    let case = case(&world).await;
    let known = incidents::measured(world.store(), case.delegation).await.unwrap();
    assert_eq!(
        (case.before_us, known),
        (None, vec![(near, 9_000), (next, 30_000)]),
        "others can tell"
    );
    assert_eq!(case.holds.unwrap().search, None, "no search has led to it");

    let (world, ..) = self::world().await;
    let scope = Scope::Range(range(SUBNET));
    let agent = world.approved(3, None).await;
    let new = NewConstraint {
        kind: Kind::Pin,
        scope: &scope,
        agent,
        reason: "r",
        by: "ada",
        expires_at: None,
    };
    let CreateOutcome::Created(pin) = constraints::create(world.store(), &new, NOW).await.unwrap()
    else {
        panic!("taken")
    };
    assert!(!complains_after(&world, agent, Cause::Pin(PinId::new(pin))).await);
}

#[tokio::test]
async fn an_agent_that_keeps_a_subnet_forgets_how_fast_its_pages_were() {
    for (state, forgets) in [(IncidentState::Stayed, 1), (IncidentState::Undecided, 0)] {
        let (world, near, _) = world().await;
        tell(&world, near, 0, 2).await;
        let told = pending(&world).await.remove(0);
        incidents::open(world.store(), &told, &summary(), &SLOW, NOW).await.unwrap();
        let case = case(&world).await;
        incidents::end(world.store(), &case, (state, None), &json!({}), NOW).await.unwrap();
        let orders = handovers::open(world.store(), near, &[], 10).await.unwrap();
        assert_eq!(orders.len(), forgets, "{state:?}");
    }
}

#[tokio::test]
async fn a_withdrawn_control_probe_does_not_count() {
    let (world, near, next) = world().await;
    tell(&world, near, 0, 2).await;
    let told = pending(&world).await.remove(0);
    incidents::open(world.store(), &told, &summary(), &SLOW, NOW).await.unwrap();
    let controls_after_probe = async || {
        let open = case(&world).await;
        let target = open.target.clone().unwrap();
        incidents::check(world.store(), &open, next, Some(30_000), &target, NOW).await.unwrap();
        case(&world).await.controls
    };
    let sleep = async |takes_probes| {
        store::testing::execute(world.store(), takes_probes).await.unwrap();
        probes::withdraw(world.store(), NOW).await.unwrap()
    };
    assert_eq!(controls_after_probe().await, 1);
    assert_eq!(sleep("UPDATE agents SET takes_probes = false").await, 1);
    assert_eq!(controls_after_probe().await, 1, "nothing was measured before");
    assert_eq!(sleep("UPDATE agents SET takes_probes = true").await, 0);
    answer(&world, next, 90_000).await;
    assert_eq!(controls_after_probe().await, 2);
    assert_eq!(sleep("UPDATE agents SET takes_probes = false").await, 1);
    assert_eq!(controls_after_probe().await, 1, "one agent must not confirm itself");
}
