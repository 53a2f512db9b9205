//! Three coordinators on one database and one S3 server: the leader is killed again and again while
//! agents ship packages.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use s3_server::S3Server;
use store::packages::{InTurn, count_failed, pending};
use store::testing::{TestDatabase, most_ingestions};
use store::{Store, overview};
use tests::harness::{Admin, Coordinator, CoordinatorPlan, RunDirectory, until};

use crate::crawling::{Crawling, PAGES, WORD, enrol, host};
use crate::registry::{home, load};
use crate::scripted::now;

const PASSWORD: &str = "a long enough password";
const COORDINATORS: usize = 3;
const AGENTS: usize = 4;
/// Packages that are acknowledged between two kills.
const BETWEEN: u64 = 20;
/// Longest time until the next leader, until its searches find everything, and between two
/// acknowledgements to an agent.
const LIMIT: Duration = Duration::from_secs(10);
/// Nothing else takes longer, also when the machine is busy.
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_package_is_lost_when_the_leader_is_killed_four_times() {
    kill_leaders(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by hand: cargo nextest run -p tests --run-ignored only -E 'test(twenty_times)'"]
async fn no_package_is_lost_when_the_leader_is_killed_twenty_times() {
    kill_leaders(20).await;
}

/// The coordinators, and an admin's session at each.
struct Deployment {
    coordinators: Vec<Coordinator>,
    admins: Vec<Admin>,
}

async fn kill_leaders(kills: usize) {
    let run_directory = RunDirectory::open("failover").unwrap();
    let database = TestDatabase::new().await.unwrap();
    let s3 = S3Server::start().unwrap();
    load(database.store(), (1..=AGENTS).map(home)).await;
    let mut deployment = Deployment::start(&run_directory, &database, &s3).await;
    let agents = agents(&deployment).await;
    for kill in 1..=kills {
        until_acknowledged(&agents, acknowledged(&agents) + BETWEEN).await;
        let killed = deployment.leader(PATIENCE).await;
        deployment.coordinators[killed].kill();
        let killed_at = Instant::now();
        let next = deployment.leader(LIMIT).await;
        let elected_at = Instant::now();
        // What was acknowledged until now, by whichever coordinator, is found at each survivor.
        let pages = acknowledged(&agents) * PAGES;
        for survivor in (0..COORDINATORS).filter(|number| *number != killed) {
            let rest = LIMIT.saturating_sub(elected_at.elapsed());
            until_found(&deployment.admins[survivor], rest, pages..).await;
        }
        let election = elected_at - killed_at;
        let found = elected_at.elapsed();
        eprintln!(
            "kill {kill}: {killed}, then {next} led after {election:?}; {pages} pages found \
                   after {found:?} more"
        );
        deployment.coordinators[killed].restart().await.unwrap();
    }
    let mut packages = 0;
    for agent in agents {
        let acknowledged = agent.stop().await;
        eprintln!("longest time without an acknowledgement: {:?}", acknowledged.longest_gap);
        assert!(acknowledged.longest_gap <= LIMIT, "{acknowledged:?}");
        packages += acknowledged.packages;
    }
    eprintln!("{packages} packages acknowledged");
    deployment.assert_complete(database.store(), packages).await;
    for mut coordinator in deployment.coordinators {
        assert!(coordinator.stop().await.unwrap().success());
    }
}

impl Deployment {
    async fn start(run_directory: &RunDirectory, database: &TestDatabase, s3: &S3Server) -> Self {
        let mut coordinators = Vec::new();
        let mut admins = Vec::new();
        for number in 0..COORDINATORS {
            let plan = CoordinatorPlan {
                admin_password: PASSWORD.to_owned(),
                database_url: Some(database.url()),
                environment: s3.environment(),
                ..CoordinatorPlan::new(run_directory.path().join(format!("coordinator-{number}")))
            };
            let coordinator = Coordinator::start(plan).await.unwrap();
            admins.push(Admin::sign_in(coordinator.address(), PASSWORD).await.unwrap());
            coordinators.push(coordinator);
        }
        Self { coordinators, admins }
    }

    /// The number of the leader, once there is one.
    async fn leader(&self, limit: Duration) -> usize {
        let look = || async {
            for (number, admin) in self.admins.iter().enumerate() {
                match admin.get("tasks").await {
                    Ok(tasks) if tasks["leader"] == true => return Ok(number),
                    // It was killed, or is not the leader.
                    Ok(_) | Err(_) => {}
                }
            }
            Err("no leader")
        };
        until("leader", limit, look).await.unwrap()
    }

    /// Each page is found once at each coordinator, and counted once in the database.
    async fn assert_complete(&self, store: &Store, packages: u64) {
        for admin in &self.admins {
            until_found(admin, PATIENCE, packages * PAGES..=packages * PAGES).await;
        }
        let look = || async {
            let waiting = pending(store, &InTurn::default(), now(), 10).await.unwrap();
            if waiting.is_empty() { Ok(()) } else { Err(format!("{waiting:?}")) }
        };
        until("all packages are applied", PATIENCE, look).await.unwrap();
        assert_eq!(most_ingestions(store).await.unwrap(), 1);
        assert_eq!(count_failed(store).await.unwrap(), 0);
        let counts = overview::count(store, now(), now()).await.unwrap().packages;
        let packages = i64::try_from(packages).unwrap();
        assert_eq!((counts.received, counts.ingested), (packages, packages));
        assert_eq!(counts.pages, packages * i64::try_from(PAGES).unwrap());
    }
}

/// Waits until a search finds so many pages. Each has a URL of its own, and the total counts URLs.
async fn until_found(
    admin: &Admin,
    limit: Duration,
    expected: impl std::ops::RangeBounds<u64> + std::fmt::Debug,
) {
    let look = || async {
        let found = admin.get(&format!("search?q={WORD}&limit=1")).await;
        let total = found.map_err(|error| error.to_string())?["total"].as_u64().unwrap();
        if expected.contains(&total) { Ok(()) } else { Err(format!("{total} of {expected:?}")) }
    };
    until("all pages are found", limit, look).await.unwrap();
}

/// Agents at work, whose own machines are crawled.
async fn agents(deployment: &Deployment) -> Vec<Crawling> {
    let addresses: Vec<SocketAddr> =
        deployment.coordinators.iter().map(Coordinator::address).collect();
    let admin = &deployment.admins[0];
    let seeds: Vec<String> = (1..=AGENTS).map(host).collect();
    admin.seed(&seeds).await.unwrap();
    let mut desks = Vec::new();
    for number in 1..=AGENTS {
        // Each begins at another coordinator.
        let mut at = addresses.clone();
        at.rotate_left(number % COORDINATORS);
        desks.push((number, enrol(number, at, admin).await));
    }
    let look = || async {
        let overview = admin.get("overview").await.map_err(|error| error.to_string())?;
        let delegated = overview["hosts"]["delegated"].as_u64().unwrap();
        if delegated == AGENTS as u64 { Ok(()) } else { Err(format!("{delegated} hosts")) }
    };
    until("each agent has its host", PATIENCE, look).await.unwrap();
    desks.into_iter().map(|(number, desk)| Crawling::start(number, desk)).collect()
}

fn acknowledged(agents: &[Crawling]) -> u64 {
    agents.iter().map(|agent| agent.acknowledged().packages).sum()
}

async fn until_acknowledged(agents: &[Crawling], packages: u64) {
    let look = || {
        let seen = acknowledged(agents);
        std::future::ready(if seen >= packages { Ok(()) } else { Err(seen) })
    };
    until("acknowledged packages", PATIENCE, look).await.unwrap();
}
