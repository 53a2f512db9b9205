//! Targets that a run has to reach.

use super::{AssignmentQuality, Numbers, Outage};

/// Most memory of an agent.
const AGENT_MEMORY: u64 = 150_000_000;
/// Most memory of the coordinator, its database not counted.
const COORDINATOR_MEMORY: u64 = 600_000_000;

/// Least share of hosts at their nearest agent, and most milliseconds above it on average.
const NEAREST_SHARE: f64 = 0.92;
const EXCESS_MS: f64 = 2.0;
/// Most probes for each new subnet, everything counted.
const PROBES_PER_SUBNET: f64 = 4.5;
/// Searches from which nearness is promised: fewer do not pay for the measurements of homes.
const MIN_SEARCHES: u64 = 200;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// What was promised.
    pub what: &'static str,
    /// What was seen.
    pub seen: String,
    /// Whether it was kept.
    pub kept: bool,
}

/// All of them, judged.
pub fn promises(numbers: &Numbers) -> Vec<Promise> {
    let mut all = road(numbers);
    all.extend(nearness(numbers));
    all.extend(referee(numbers));
    all.extend(numbers.outage.iter().flat_map(outage));
    all.extend(search(numbers));
    all.extend(memory(numbers));
    all
}

fn promise(what: &'static str, seen: impl std::fmt::Display, kept: bool) -> Promise {
    Promise { what, seen: seen.to_string(), kept }
}

fn road(numbers: &Numbers) -> Vec<Promise> {
    let Numbers { counts, dealing, .. } = numbers;
    let waits = format!("{:.0} s of {:.0} s", dealing.crawl_s, dealing.random_s);
    vec![
        promise(
            "registry data is loaded",
            format!("{} subnets", numbers.subnets),
            numbers.subnets > 2,
        ),
        promise("every agent is approved", numbers.agents, numbers.agents == counts.agents as u64),
        promise(
            "every search came to an end",
            format!("{} open", numbers.searches_open),
            numbers.searches_open == 0,
        ),
        promise(
            "every host has an agent",
            format!("{} have none", dealing.without_agent),
            dealing.without_agent == 0,
        ),
        promise("less waiting than with random dealing", waits, dealing.crawl_s < dealing.random_s),
    ]
}

/// How near agents are, and what it took to know, where prediction sees measured round trips.
fn nearness(numbers: &Numbers) -> Vec<Promise> {
    if !numbers.is_promised_near || numbers.searches_decided < MIN_SEARCHES {
        return Vec::new();
    }
    let AssignmentQuality { share_nearest, mean_excess_ms, .. } = numbers.dealing;
    let probes = numbers.probes_per_subnet();
    vec![
        promise(
            "at least 92 % of hosts are at their nearest agent",
            format!("{:.1} %", share_nearest * 100.0),
            share_nearest >= NEAREST_SHARE,
        ),
        promise(
            "agents are at most 2 ms above the nearest on average",
            format!("{mean_excess_ms:.2} ms"),
            mean_excess_ms <= EXCESS_MS,
        ),
        promise(
            "a new subnet takes at most 4.5 probes, everything counted",
            format!("{probes:.2}"),
            probes <= PROBES_PER_SUBNET,
        ),
    ]
}

/// Each fault that the referee may find is a promise of its own.
fn referee(numbers: &Numbers) -> Vec<Promise> {
    let report = &numbers.referee;
    let all = report.coverage.all;
    let most = report.most_in_flight.as_ref().map_or(0, |most| most.count);
    vec![
        promise(
            "every allowed URL is fetched",
            format!("{} of {}", all.fetched, all.expected),
            all.fetched == all.expected,
        ),
        repeats(numbers),
        promise("never two requests to a host at once", most, most <= 1),
        promise(
            "no pause is too short",
            report.gaps_too_small.len(),
            report.gaps_too_small.is_empty(),
        ),
        robots(numbers),
        promise(
            "nothing forbidden is fetched",
            report.disallowed_fetched,
            report.disallowed_fetched == 0,
        ),
        promise("nothing is made up", report.beyond.len(), report.beyond.is_empty()),
    ]
}

/// A kill repeats requests in flight and those whose ends no other agent had heard of, and nothing
/// else.
fn repeats(numbers: &Numbers) -> Promise {
    let twice = numbers.referee.fetched_twice;
    match &numbers.outage {
        None => promise("no page is fetched twice", twice, twice == 0),
        Some(outage) => promise(
            "only what the killed agent began in its last 5 s is fetched twice",
            format!("{twice} pages of {} requests", outage.last_requests),
            twice <= outage.last_requests,
        ),
    }
}

/// Each agent answers for its own requests: one that goes on with a host reads robots.txt itself.
fn robots(numbers: &Numbers) -> Promise {
    let report = &numbers.referee;
    let (what, again) = match &numbers.outage {
        None => ("robots.txt is read once for each host", report.robots_again.len()),
        Some(_) => {
            ("robots.txt is read once by each agent of a host", report.robots_beyond_turns.len())
        }
    };
    let exceptions = again + report.without_robots.len();
    promise(what, format!("{exceptions} exceptions"), exceptions == 0)
}

/// Longest time without a new page while the coordinator is away: the lease of the killed agent has
/// to end before others take its hosts over.
const LONGEST_PAUSE_S: f64 = 15.0;

fn outage(outage: &Outage) -> Vec<Promise> {
    let Outage { away_s, fetched, longest_pause_s, taken_over, hosts_of_killed, .. } = outage;
    let agreed = match outage.agreed_s {
        Some(seconds) => format!("after {seconds:.1} s"),
        None => "not within a minute".to_owned(),
    };
    vec![
        promise(
            "pages are fetched while the coordinator is away",
            format!("{fetched} in {away_s:.0} s, never {longest_pause_s:.1} s without one"),
            *fetched > 0 && *longest_pause_s < LONGEST_PAUSE_S,
        ),
        promise(
            "other agents go on with the hosts of the killed one",
            format!("{taken_over} of {hosts_of_killed}"),
            *taken_over > 0,
        ),
        promise(
            "the coordinator follows the region when it returns",
            agreed,
            outage.agreed_s.is_some(),
        ),
    ]
}

fn search(numbers: &Numbers) -> Vec<Promise> {
    let packages = format!("{} of {}", numbers.packages_ingested, numbers.packages);
    let indexed = format!("{} of {}", numbers.indexed, numbers.indexable);
    let right = numbers.searches.iter().filter(|search| search.as_expected).count();
    vec![
        promise(
            "every package is ingested",
            packages,
            numbers.packages > 0 && numbers.packages_ingested == numbers.packages,
        ),
        promise("every document is searchable", indexed, numbers.indexed == numbers.indexable),
        promise(
            "searches find what they must",
            format!("{right} of {}", numbers.searches.len()),
            right == numbers.searches.len() && right >= 3,
        ),
        promise(
            "shipping is smaller than fetching",
            format!("{} of {} bytes", numbers.bytes_shipped, numbers.bytes_fetched),
            numbers.bytes_shipped < numbers.bytes_fetched,
        ),
    ]
}

fn memory(numbers: &Numbers) -> Vec<Promise> {
    let megabytes = |bytes: u64| format!("{} MB", bytes / 1_000_000);
    let agent = numbers.agent_memory;
    let coordinator = numbers.coordinator_memory;
    vec![
        promise("an agent takes less than 150 MB", megabytes(agent), agent < AGENT_MEMORY),
        promise(
            "the coordinator takes less than 600 MB",
            megabytes(coordinator),
            coordinator < COORDINATOR_MEMORY,
        ),
    ]
}
