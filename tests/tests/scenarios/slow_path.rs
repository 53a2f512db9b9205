//! The path from one agent to a subnet becomes 100 ms slower. The subnet moves within two rounds of
//! fetches, never has two agents, and returns when the path has recovered (IPMicra III.F).

use std::net::IpAddr;
use std::time::{Duration, Instant};

use hierarchy::Range;
use serde_json::{Value, json};
use tests::harness::until;
use tests::net::{Scope, Slowdown};
use tests::referee::Rules;
use tests::world::{Node, Size};

use crate::small_world::{LIMIT, SmallWorld};

/// Rounds after which every page's past is known.
const LEARNT: u32 = 8;
/// Age at which pages are visited again while their past is learnt, in seconds.
const LEARNING_S: u32 = 1;
/// The same, once rounds are counted: well above what probes, search and hand-over take.
const ROUND_S: u32 = 20;

/// A subnet with a host, and who crawls it.
struct Subject {
    subnet: Range,
    /// One of its hosts.
    host: usize,
    agent: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a TUN device"]
async fn a_subnet_leaves_a_slow_way_and_comes_back_when_it_is_healed() {
    let world =
        SmallWorld::open(Size { agents: 5, hosts: 30, countries: 8, near_ms: None }, 120).await;
    let links = world.setup.environment.links().expect("the virtual internet, not the loopback");
    world.set_rounds(LEARNING_S).await;
    world.deployment.seed(&world.setup.environment).await.unwrap();
    let subject = world.subject().await;
    let agent = world.agent(subject.agent);
    world.until_rounds(subject.host, agent, LEARNT).await;

    world.set_rounds(ROUND_S).await;
    world.until_still(subject.host).await;
    for host in world.hosts_in(&subject.subnet) {
        let scope = Scope::Addresses(agent, host);
        let slowdown = Slowdown { factor: 1.0, extra: Duration::from_millis(50) };
        links.slow(scope, slowdown).unwrap();
    }
    // Not before: a round that began while the way was as usual is none of those counted.
    world.setup.environment.referee().forget();
    let case = world.until_case(&subject.subnet, "away").await;
    eprintln!("{}", case["summary"]);
    let next_agent = world.agent_named(&case["next_agent"]);
    assert_ne!(next_agent, subject.agent);
    let next_agent = world.agent(next_agent);
    world.until_rounds(subject.host, next_agent, 1).await;
    let rounds = world.setup.environment.referee().rounds(subject.host);
    let slow_rounds = rounds.get(&agent).copied().unwrap_or(0);
    assert!(slow_rounds <= 2, "moved after {slow_rounds} rounds: {rounds:?}");
    world.assert_one_at_a_time(&subject);
    world.assert_fetched_by(&subject, next_agent).await;

    links.heal_all().unwrap();
    let case = world.until_case(&subject.subnet, "returned").await;
    eprintln!("{}", case["summary"]);
    world.setup.environment.referee().forget();
    world.until_rounds(subject.host, agent, 1).await;
    world.assert_one_at_a_time(&subject);
    world.assert_fetched_by(&subject, agent).await;
    let why = world.why(&subject.subnet).await;
    let summary = why["summary"].as_str().unwrap();
    assert!(summary.contains("It returned to"), "{summary}");
    world.deployment.dismiss().await.unwrap();
}

impl SmallWorld {
    /// Pages are visited again at this age; every agent is asked, so that the nearest gets each
    /// subnet.
    async fn set_rounds(&self, revisit_s: u32) {
        // Nobody is under the threshold: everybody is asked, and the nearest has the subnet.
        let policy = json!({
            "strategy": "threshold",
            "threshold_ms": 1,
            "revisit_s": revisit_s,
            "slowdown_percent": 200,
            "slowdown_repeats": 2, "incident_cooldown_s": 5, "incident_window_s": 4,
        });
        self.deployment.admin.set_policy(&policy).await.unwrap();
    }

    /// A subnet that one agent is nearest to, a second one less near, but nearer than 100 ms more.
    async fn subject(&self) -> Subject {
        let look = || async {
            let delegations =
                self.deployment.admin.list("delegations").await.map_err(|e| e.to_string())?;
            let mut settled = delegations.iter().filter(|found| found["reason"] != "home");
            settled
                .find_map(|found| self.is_subject(found))
                .ok_or_else(|| format!("{} delegations", delegations.len()))
        };
        until("subnet with a second best agent", LIMIT, look).await.unwrap()
    }

    fn is_subject(&self, delegation: &Value) -> Option<Subject> {
        let environment = &self.setup.environment;
        let subnet: Range = delegation["subnet"].as_str()?.parse().ok()?;
        let agent = self.agent_named(&delegation["agent"]);
        let host =
            environment.world().hosts.iter().position(|host| subnet.contains(host.address))?;
        let own = environment.world().rtt_ms(agent, host);
        let others = (0..self.deployment.agents.len()).filter(|other| *other != agent);
        let second = others
            .map(|other| environment.world().rtt_ms(other, host))
            .fold(f64::INFINITY, f64::min);
        // Far enough for the machine's own noise to be small beside it, and near enough for 100 ms
        // more to be far from usual.
        ((8.0..50.0).contains(&own) && second > 1.3 * own + 3.0 && second < own + 70.0)
            .then_some(Subject { subnet, host, agent })
    }

    fn agent(&self, number: usize) -> IpAddr {
        self.setup.environment.address(Node::Agent(number)).unwrap()
    }

    fn agent_named(&self, reference: &Value) -> usize {
        self.deployment.agent_named(reference["name"].as_str().unwrap()).unwrap()
    }

    fn hosts_in(&self, subnet: &Range) -> Vec<IpAddr> {
        let addresses = self.setup.environment.world().hosts.iter().map(|host| host.address);
        addresses.filter(|address| subnet.contains(*address)).collect()
    }

    /// Waits until an agent has asked for some page of a host so often.
    async fn until_rounds(&self, host: usize, agent: IpAddr, times: u32) {
        let look = || {
            let rounds = self.setup.environment.referee().rounds(host);
            let reached = rounds.get(&agent).is_some_and(|rounds| *rounds >= times);
            std::future::ready(if reached { Ok(()) } else { Err(format!("{rounds:?}")) })
        };
        until("number of fetch rounds", LIMIT, look).await.unwrap();
    }

    /// Waits until no page of a host is being fetched at the learning pace any more: half of such a
    /// fetch would be slow.
    async fn until_still(&self, host: usize) {
        let mut seen = self.setup.environment.referee().rounds(host);
        let mut since = Instant::now();
        let look = || {
            let rounds = self.setup.environment.referee().rounds(host);
            if rounds != seen {
                (seen, since) = (rounds, Instant::now());
            }
            let is_still = since.elapsed() > Duration::from_secs(u64::from(4 * LEARNING_S));
            std::future::ready(if is_still { Ok(()) } else { Err(format!("{seen:?}")) })
        };
        until("pause between two rounds", LIMIT, look).await.unwrap();
    }

    /// Waits until the latest case of a subnet is in this state.
    async fn until_case(&self, subnet: &Range, state: &str) -> Value {
        let look = || async {
            let cases = self.deployment.admin.list("incidents").await.map_err(|e| e.to_string())?;
            let of_subnet =
                |case: &&Value| case["subnet"].as_str() == Some(subnet.to_string().as_str());
            let latest = cases.iter().find(of_subnet).cloned().unwrap_or_default();
            if latest["state"] == state { Ok(latest) } else { Err(format!("{cases:?}")) }
        };
        until("state of the subnet's case", LIMIT, look).await.unwrap()
    }

    /// The referee saw never two requests to a host at once, and the pause between any two kept.
    fn assert_one_at_a_time(&self, subject: &Subject) {
        let rules = Rules { least_gap: Duration::from_millis(self.settings.host_delay_ms) };
        let report = self.setup.environment.referee().report(&rules);
        assert!(report.most_in_flight.is_none_or(|most| most.count == 1));
        let name = self.setup.environment.web().hosts()[subject.host].name();
        let hurried = report.gaps_too_small.iter().find(|gap| gap.host == name);
        assert!(hurried.is_none(), "{hurried:?}");
    }

    /// From now on this agent and no other fetches the subject's pages.
    async fn assert_fetched_by(&self, subject: &Subject, agent: IpAddr) {
        self.setup.environment.referee().forget();
        self.until_rounds(subject.host, agent, 1).await;
        let rounds = self.setup.environment.referee().rounds(subject.host);
        assert!(rounds.keys().eq([&agent]), "{rounds:?}");
    }

    async fn why(&self, subnet: &Range) -> Value {
        let delegations = self.deployment.admin.list("delegations").await.unwrap();
        let found = delegations
            .iter()
            .find(|found| found["subnet"] == subnet.to_string().as_str())
            .unwrap();
        self.deployment
            .admin
            .get(&format!("delegations/{}/explanation", found["id"].as_str().unwrap()))
            .await
            .unwrap()
    }
}
