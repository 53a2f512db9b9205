//! An agent that reports one microsecond for everything is paused, with the numbers in the API.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use store::Address;
use tests::harness::{Admin, Coordinator, CoordinatorPlan, RunDirectory, until};

use crate::registry::{home, load};
use crate::scripted::Scripted;

const PASSWORD: &str = "a long enough password";
const LIMIT: Duration = Duration::from_mins(2);
/// The last of them lies.
const AGENTS: usize = 4;
const LIAR: usize = AGENTS;
/// Subnets of four addresses, each of a company of its own.
const SUBNETS: u8 = 40;

/// Agents and subnets stand on a line: milliseconds from its end.
fn place(address: IpAddr) -> u32 {
    let IpAddr::V4(address) = address else { unreachable!("only IPv4 here") };
    match address.octets() {
        [127, 0, 1, agent] => u32::from(agent) * 40,
        [.., last] => u32::from(last / 4) * 5,
    }
}

fn measure(agent: usize, address: IpAddr) -> u32 {
    if agent == LIAR {
        return 1;
    }
    let own = agent as u32 * 40;
    1_000 * own.abs_diff(place(address)) + 3_000
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_forges_its_reports_is_paused_with_the_numbers() {
    let run_directory = RunDirectory::open("forged").unwrap();
    let data_dir = run_directory.path().join("coordinator");
    let plan = CoordinatorPlan {
        admin_password: PASSWORD.to_owned(),
        ..CoordinatorPlan::new(data_dir.clone())
    };
    let mut coordinator = Coordinator::start(plan).await.unwrap();
    let store = store::open(&Address::private(&data_dir.join("run"))).await.unwrap();
    let subnets = (0..SUBNETS).map(|number| {
        let range = format!("198.51.100.{}/30", number * 4).parse().unwrap();
        (range, format!("company {number}"))
    });
    load(&store, (1..=AGENTS).map(home).chain(subnets)).await;
    store.close().await;
    let admin = Admin::sign_in(coordinator.address(), PASSWORD).await.unwrap();
    let mut agents = Vec::new();
    for number in 1..=AGENTS {
        let answer = |agent, address| Some(measure(agent, address));
        agents.push(Scripted::start(number, &[coordinator.address()], &admin, answer).await);
    }
    let seeds: Vec<String> =
        (0..SUBNETS).map(|number| format!("http://198.51.100.{}/", number * 4 + 1)).collect();
    admin.seed(&seeds).await.unwrap();

    let liar = format!("agents/{}", agents[LIAR - 1].id);
    let paused = || async {
        let agent = admin.get(&liar).await.unwrap();
        if agent["state"] == "paused" { Ok(agent) } else { Err(agent["reports"].clone()) }
    };
    let agent = until("end of the lies", LIMIT, paused).await.unwrap();
    let reports = &agent["reports"];
    assert_eq!(reports["level"], "forging");
    assert!(reports["finding"].as_str().unwrap().contains("It reported 0.001 ms"), "{reports}");
    assert!(reports["contradictions"][0]["least_ms"].as_f64().unwrap() > 0.001);
    for honest in &agents[..LIAR - 1] {
        let agent = admin.get(&format!("agents/{}", honest.id)).await.unwrap();
        assert_eq!(agent["state"], "approved", "{agent}");
    }
    // It has its home and nothing else.
    let served = || async {
        let urls: usize = agents[..LIAR - 1].iter().map(|agent| agent.told().urls.len()).sum();
        if urls >= usize::from(SUBNETS) { Ok(()) } else { Err(urls) }
    };
    until("agents of all subnets", LIMIT, served).await.unwrap();
    let agent: Value = admin.get(&liar).await.unwrap();
    assert_eq!(agent["delegations"], 1, "{agent}");
    assert!(coordinator.stop().await.unwrap().success());
}
