//! Delegations and open searches move to the places they were given in a new generation.

use hierarchy::carry::{Carried, Claim, Fate};
use hierarchy::{Range, carry::Census};
use protocol::{AgentId, DelegationId};
use store::delegations::{self, Held};
use store::searches::{self, NewSearch};
use store::testing::execute;

use crate::world::{NOW, World, ip, range};

fn moved(held: &Held, fate: Fate, gets: &[&str]) -> Carried<DelegationId> {
    let gets = gets.iter().map(|text| range(text)).collect();
    Carried { claim: held.claim(), fate, gets, yields: vec![] }
}

async fn held(world: &World) -> Vec<(Range, AgentId, i64, String)> {
    let held = delegations::held(world.store()).await.unwrap();
    let mut held: Vec<_> =
        held.into_iter().map(|one| (one.subnet, one.agent, one.generation, one.reason)).collect();
    held.sort();
    held
}

#[tokio::test]
async fn a_delegation_goes_where_its_range_went_and_says_why() {
    let world = World::new().await;
    let one = world.approved(1, Some("192.0.2.0/24")).await;
    let two = world.approved(2, Some("198.51.100.0/24")).await;
    let before = delegations::held(world.store()).await.unwrap();
    let carried = [
        moved(&before[0], Fate::Split, &["192.0.2.0/25", "192.0.2.128/25"]),
        moved(&before[1], Fate::Same, &["198.51.100.0/24"]),
    ];
    assert_eq!(delegations::carry(world.store(), &carried, NOW.plus_ms(1)).await.unwrap(), 1);
    let expected = [
        // The agent lives at 192.0.2.1.
        (range("192.0.2.0/25"), one, 1, "home".to_owned()),
        (range("192.0.2.128/25"), one, 1, "company".to_owned()),
        (range("198.51.100.0/24"), two, 1, "home".to_owned()),
    ];
    assert_eq!(held(&world).await, expected);
    let told = "UPDATE delegations SET fate = fate WHERE fate = 'split' AND ended_at IS NOT NULL
                AND 2 = (SELECT count(*) FROM delegations n WHERE n.carried_from = delegations.id)";
    assert_eq!(execute(world.store(), told).await.unwrap(), 1);
    // What ended already is passed over, so that doing it again changes nothing.
    assert_eq!(delegations::carry(world.store(), &carried, NOW.plus_ms(2)).await.unwrap(), 0);
    assert_eq!(held(&world).await, expected);
}

#[tokio::test]
async fn a_range_that_comes_back_counts_on() {
    let world = World::new().await;
    world.approved(1, Some("192.0.2.0/24")).await;
    for (turn, place) in (1..).zip(["192.0.0.0/16", "192.0.2.0/24"]) {
        let before = delegations::held(world.store()).await.unwrap();
        let carried = [moved(&before[0], Fate::Vanished, &[place])];
        delegations::carry(world.store(), &carried, NOW.plus_ms(turn)).await.unwrap();
    }
    let held = held(&world).await;
    assert_eq!((held.len(), held[0].0, held[0].2), (1, range("192.0.2.0/24"), 2));
}

#[tokio::test]
async fn one_that_yields_ends_and_the_other_stays() {
    let world = World::new().await;
    world.approved(1, Some("192.0.2.0/24")).await;
    world.approved(2, Some("192.0.0.0/16")).await;
    let before = delegations::held(world.store()).await.unwrap();
    let Claim { key, range: around, .. } = before[1].claim();
    let yields = Carried { yields: vec![(around, key)], ..moved(&before[0], Fate::Vanished, &[]) };
    let carried = [yields, moved(&before[1], Fate::Same, &["192.0.0.0/16"])];
    assert_eq!(Census::of(&carried).yielded, 1);
    delegations::carry(world.store(), &carried, NOW.plus_ms(1)).await.unwrap();
    let held = held(&world).await;
    assert_eq!((held.len(), held[0].0), (1, around));
}

#[tokio::test]
async fn an_open_search_follows_its_target() {
    let world = World::new().await;
    world.approved(1, Some("192.0.2.0/24")).await;
    let search = |subnet: &str, target: &str| NewSearch {
        subnet: range(subnet),
        target: ip(target),
        host: "a.example".into(),
        port: 80,
    };
    let searches = [
        search("198.51.100.0/24", "198.51.100.7"),
        search("198.51.101.0/24", "198.51.101.7"),
        search("192.0.3.0/24", "192.0.3.1"),
    ];
    searches::open(world.store(), &searches, "threshold", 50_000, NOW).await.unwrap();
    let open = delegations::searched(world.store()).await.unwrap();
    assert_eq!(
        (open.len(), open[0].subnet, open[0].target),
        (3, range("198.51.100.0/24"), ip("198.51.100.7"))
    );
    let moved: Vec<_> = open
        .iter()
        .zip(["198.51.100.0/23", "198.51.100.0/23", "192.0.2.0/24"])
        .map(|(one, place)| (one.search, range(place)))
        .collect();
    delegations::carry_searches(world.store(), &moved, NOW.plus_ms(1)).await.unwrap();
    let open = delegations::searched(world.store()).await.unwrap();
    // The second found the first there, the third an agent.
    assert_eq!(open.iter().map(|one| one.subnet).collect::<Vec<_>>(), [range("198.51.100.0/23")]);
}
