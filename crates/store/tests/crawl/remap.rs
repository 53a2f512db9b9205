//! Delegations and open searches move to the places they were given in a new generation.

use hierarchy::remap::{Claim, RangeChange, Remapping, SearchRemapping};
use hierarchy::{
    Builder, Companies, Generation, Hierarchy, Range, Record, Registry, Scope, SubnetKind,
    remap::RemapCounts,
};
use model::{AgentId, DelegationId, Reason, RegionId, Strategy};
use store::Term;
use store::constraints::{self, Kind};
use store::delegations::{self, ActiveDelegation, RemapInput};
use store::regions::{self, StoredRegion};
use store::searches::{self, NewSearch};
use store::takeovers::{self, Direction, Transfer};
use store::testing::execute;

use crate::world::{NOW, World, ip, range};

fn moved(held: &ActiveDelegation, fate: RangeChange, gets: &[&str]) -> Remapping<DelegationId> {
    let assigned = gets.iter().map(|text| range(text)).collect();
    Remapping { claim: held.claim(), change: fate, assigned, ceded: vec![] }
}

async fn held(world: &World) -> Vec<(Range, AgentId, i64, Reason)> {
    let held = delegations::list_active(world.store()).await.unwrap();
    let mut held: Vec<_> = held
        .into_iter()
        .map(|one| (one.subnet, one.agent, one.fencing_number, one.reason))
        .collect();
    held.sort();
    held
}

#[tokio::test]
async fn a_delegation_goes_where_its_range_went_and_says_why() {
    let world = World::new().await;
    let one = world.approved(1, Some("192.0.2.0/24")).await;
    let two = world.approved(2, Some("198.51.100.0/24")).await;
    let before = delegations::list_active(world.store()).await.unwrap();
    let remapped = [
        moved(&before[0], RangeChange::Split, &["192.0.2.0/25", "192.0.2.128/25"]),
        moved(&before[1], RangeChange::Same, &["198.51.100.0/24"]),
    ];
    assert_eq!(delegations::remap(world.store(), &remapped, NOW.plus_ms(1)).await.unwrap(), 1);
    let expected = [
        // The agent lives at 192.0.2.1.
        (range("192.0.2.0/25"), one, 1, Reason::Home),
        (range("192.0.2.128/25"), one, 1, Reason::Company),
        (range("198.51.100.0/24"), two, 1, Reason::Home),
    ];
    assert_eq!(held(&world).await, expected);
    let told = "UPDATE delegations SET range_change = range_change WHERE range_change = 'split' \
        AND ended_at IS NOT NULL
                AND 2 = (SELECT count(*) FROM delegations n WHERE n.remapped_from = \
                delegations.id)";
    assert_eq!(execute(world.store(), told).await.unwrap(), 1);
    // What ended already is passed over, so that doing it again changes nothing.
    assert_eq!(delegations::remap(world.store(), &remapped, NOW.plus_ms(2)).await.unwrap(), 0);
    assert_eq!(held(&world).await, expected);
}

#[tokio::test]
async fn parts_of_a_subnet_that_was_taken_over_return() {
    let world = World::new().await;
    let from = world.approved(1, Some("192.0.2.0/24")).await;
    let to = world.approved(2, None).await;
    let taken = Transfer { subnet: range("192.0.2.0/24"), fencing_number: 1, from, to };
    let move_subnet = async |transfer: &Transfer, direction, at| {
        let done = takeovers::execute(world.store(), Term::default(), transfer, direction, at);
        done.await.unwrap().unwrap();
    };
    move_subnet(&taken, Direction::Takeover, NOW).await;
    let before = delegations::list_active(world.store()).await.unwrap();
    let parts = ["192.0.2.0/25", "192.0.2.128/25"];
    let remapped = [moved(&before[0], RangeChange::Split, &parts)];
    delegations::remap(world.store(), &remapped, NOW.plus_ms(1)).await.unwrap();
    let [low, high] = parts.map(range);
    let waiting = [(low, to, 1, Reason::Takeover), (high, to, 1, Reason::Takeover)];
    assert_eq!(held(&world).await, waiting);
    let start = DelegationId::new(0);
    for (_, back) in takeovers::to_return(world.store(), &[from], start, 10).await.unwrap() {
        move_subnet(&back, Direction::Return, NOW.plus_ms(2)).await;
    }
    let returned = [(low, from, 2, Reason::Home), (high, from, 2, Reason::Company)];
    assert_eq!(held(&world).await, returned);
}

#[tokio::test]
async fn a_range_that_comes_back_counts_on() {
    let world = World::new().await;
    world.approved(1, Some("192.0.2.0/24")).await;
    for (turn, place) in (1..).zip(["192.0.0.0/16", "192.0.2.0/24"]) {
        let before = delegations::list_active(world.store()).await.unwrap();
        let remapped = [moved(&before[0], RangeChange::Vanished, &[place])];
        delegations::remap(world.store(), &remapped, NOW.plus_ms(turn)).await.unwrap();
    }
    let held = held(&world).await;
    assert_eq!((held.len(), held[0].0, held[0].2), (1, range("192.0.2.0/24"), 2));
}

#[tokio::test]
async fn one_that_yields_ends_and_the_other_stays() {
    let world = World::new().await;
    world.approved(1, Some("192.0.2.0/24")).await;
    world.approved(2, Some("192.0.0.0/16")).await;
    let before = delegations::list_active(world.store()).await.unwrap();
    let Claim { key, range: around, .. } = before[1].claim();
    let yields =
        Remapping { ceded: vec![(around, key)], ..moved(&before[0], RangeChange::Vanished, &[]) };
    let remapped = [yields, moved(&before[1], RangeChange::Same, &["192.0.0.0/16"])];
    assert_eq!(RemapCounts::of(&remapped).yielded, 1);
    delegations::remap(world.store(), &remapped, NOW.plus_ms(1)).await.unwrap();
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
    searches::open(world.store(), &searches, Strategy::Threshold, 50_000, NOW).await.unwrap();
    let open = delegations::open_search_claims(world.store()).await.unwrap();
    assert_eq!(
        (open.len(), open[0].range, open[0].target),
        (3, range("198.51.100.0/24"), ip("198.51.100.7"))
    );
    let followed = [
        // The two trade places: for a moment both want the same.
        (open[0], "198.51.101.0/24", false),
        (open[1], "198.51.100.0/24", false),
        (open[2], "192.0.2.0/24", true),
    ];
    let followed = followed.map(|(search, subnet, redundant)| SearchRemapping {
        search,
        change: RangeChange::Vanished,
        subnet: range(subnet),
        redundant,
    });
    delegations::remap_searches(world.store(), &followed, NOW.plus_ms(1)).await.unwrap();
    let places = async || {
        let open = delegations::open_search_claims(world.store()).await.unwrap();
        open.iter().map(|one| one.range).collect::<Vec<_>>()
    };
    assert_eq!(places().await, [range("198.51.101.0/24"), range("198.51.100.0/24")]);
    // What was decided meanwhile is passed over.
    let late = SearchRemapping {
        subnet: range("203.0.113.0/24"),
        redundant: false,
        ..followed[2].clone()
    };
    delegations::remap_searches(world.store(), &[late], NOW.plus_ms(2)).await.unwrap();
    assert_eq!(places().await.len(), 2);
}

#[tokio::test]
async fn a_pin_follows_its_range_and_ends_where_another_has_it() {
    let world = World::new().await;
    let agent = world.approved(1, Some("192.0.2.0/24")).await;
    let ranges = ["198.51.100.0/24", "198.51.101.0/24", "203.0.113.0/24"];
    for text in ranges {
        pin(&world, agent, &Scope::Range(range(text))).await;
    }
    let tied = RemapInput::read(world.store()).await.unwrap();
    assert_eq!((tied.held.len(), tied.rules.len()), (1, 3));
    let known = [&ranges[..], &["192.0.2.0/24"]].concat();
    let old = hierarchy(&known);
    let new = hierarchy(&["198.51.100.0/23", "203.0.113.0/24"]);
    assert!(tied.fits(&old, false) && !tied.fits(&new, true));
    let plan = tied.plan(Some(&old), &new);
    constraints::remap(world.store(), &plan.constraints, NOW.plus_ms(1)).await.unwrap();
    let mut now: Vec<_> = RemapInput::read(world.store())
        .await
        .unwrap()
        .rules
        .into_iter()
        .map(|(_, rule)| rule.scope)
        .collect();
    now.sort_by_key(ToString::to_string);
    let expected = ["198.51.100.0/23", "203.0.113.0/24"].map(|text| Scope::Range(range(text)));
    assert_eq!(now, expected);
    let told = "UPDATE audit SET actor = actor WHERE (action, detail ->> 'why') IN (('pin.remap', \
        'its range merged'),
                ('pin.end', 'its range merged'))";
    assert_eq!(execute(world.store(), told).await.unwrap(), 2);
    // Doing it again changes nothing.
    let again = RemapInput::read(world.store()).await.unwrap().plan(Some(&new), &new);
    assert!(again.constraints.iter().all(Remapping::stays));
}

#[tokio::test]
async fn a_delegation_whose_range_became_a_block_needs_the_generation_before() {
    let world = World::new().await;
    world.approved(1, Some("192.0.2.0/24")).await;
    let old = hierarchy(&["192.0.2.0/24"]);
    let delegated = ["192.0.2.0/26", "192.0.2.128/26"].map(|text| (text, SubnetKind::Delegated));
    let new = hierarchy_of(&[&delegated[..], &[("192.0.2.0/24", SubnetKind::Block)]].concat());
    let tied = RemapInput::read(world.store()).await.unwrap();
    assert!(tied.fits(&old, true) && !tied.fits(&new, true));
    let plan = tied.plan(Some(&old), &new);
    assert_eq!(plan.delegations[0].change, RangeChange::Split);
    assert_eq!(plan.delegations[0].assigned, ["192.0.2.0/26", "192.0.2.128/26"].map(range));
}

#[tokio::test]
async fn a_pin_of_a_block_fits() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    pin(&world, agent, &Scope::Range(range("192.0.2.0/24"))).await;
    let tied = RemapInput::read(world.store()).await.unwrap();
    let subnets = [("192.0.2.0/24", SubnetKind::Block), ("192.0.2.0/26", SubnetKind::Delegated)];
    assert!(tied.fits(&hierarchy_of(&subnets), true));
}

#[tokio::test]
async fn a_rule_of_a_vanished_company_needs_the_generation_before_only_once() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let company = Scope::Company { registry: Registry::Arin, handle: "ORG-1".into() };
    pin(&world, agent, &company).await;
    let tied = RemapInput::read(world.store()).await.unwrap();
    let new = hierarchy(&["192.0.2.0/24"]);
    assert!(!tied.fits(&new, false) && tied.fits(&new, true));
}

async fn pin(world: &World, agent: AgentId, scope: &Scope) {
    let new = constraints::NewConstraint {
        kind: Kind::Pin,
        scope,
        agent,
        reason: "r",
        by: "a",
        expires_at: None,
    };
    constraints::create(world.store(), &new, NOW).await.unwrap();
}

#[tokio::test]
async fn a_subnet_of_a_region_stays_in_it_where_subnets_merge() {
    let world = World::new().await;
    let outside = world.approved(1, Some("192.0.2.0/24")).await;
    let member = world.approved(2, Some("192.0.3.0/24")).await;
    let old = hierarchy(&["192.0.2.0/24", "192.0.3.0/24"]);
    let new = hierarchy(&["192.0.2.0/23"]);
    let winner = async || {
        let tied = RemapInput::read(world.store()).await.unwrap();
        let plan = tied.plan(Some(&old), &new);
        let winner = plan.delegations.iter().position(|one| !one.assigned.is_empty());
        tied.held[winner.unwrap()].agent
    };
    assert_eq!(winner().await, outside, "the older of two that are at home");
    let region = StoredRegion {
        id: RegionId::new(1),
        name: "ripencc".into(),
        settings: serde_json::json!({}),
        view: vec![],
        promises: None,
        lent_until: NOW.plus_ms(86_400_000),
    };
    regions::create(world.store(), Term::default(), &region, &[member], NOW).await.unwrap();
    assert_eq!(winner().await, member);
}

/// A generation in which somebody holds these ranges.
fn hierarchy(ranges: &[&str]) -> Hierarchy {
    let subnets: Vec<_> = ranges.iter().map(|text| (*text, SubnetKind::Delegated)).collect();
    hierarchy_of(&subnets)
}

/// A generation of these subnets.
fn hierarchy_of(subnets: &[(&str, SubnetKind)]) -> Hierarchy {
    let mut builder = Builder::default();
    for (text, kind) in subnets {
        builder.add(Record {
            range: range(text),
            kind: *kind,
            registry: None,
            company: None,
            country: None,
        });
    }
    builder.build(Generation::new(1), Companies::default()).0
}
