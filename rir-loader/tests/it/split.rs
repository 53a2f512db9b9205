//! Virtual subnets in the current generation and in the next.

use std::time::Instant;

use hierarchy::{Hierarchy, Range, SubnetKind, SubnetSplit};
use model::{SearchId, UnixMillis};
use rir_loader::load::load;
use rir_loader::preview::{CurrentState, Preview};
use rir_loader::split::split;
use store::searches::{self, NewSearch, OpenSearchFilter, SearchKind};
use store::testing::{TestDatabase, execute};
use store::{Store, generations, subnet_splits, unregistered_subnets};

use crate::fixtures;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

/// A search in this subnet.
async fn search(store: &Store, subnet: Range) -> SearchId {
    let search = NewSearch { subnet, target: subnet.first(), host: "a.example".into(), port: 80 };
    searches::open(store, &[search], model::Strategy::Predictive, 50_000, NOW).await.unwrap();
    searches::list_open(store, OpenSearchFilter::all(SearchKind::Undelegated), SearchId::new(0), 1)
        .await
        .unwrap()[0]
        .id
}

async fn in_use(store: &Store) -> (generations::Facts, Hierarchy) {
    let facts = generations::live(store).await.unwrap().unwrap();
    let hierarchy = generations::read(store, facts.id).await.unwrap().unwrap();
    (facts, hierarchy)
}

/// A large subnet of the fixtures, in two halves.
fn halves(hierarchy: &Hierarchy) -> SubnetSplit {
    let large =
        |range: &Range| range.is_v4() && range.cidr().is_some_and(|cidr| cidr.prefix_len() <= 20);
    let leaf = |subnet: &hierarchy::Subnet<'_>| hierarchy.children(subnet.id()).next().is_none();
    let found = hierarchy.iter().filter(leaf).map(|subnet| subnet.range()).find(large).unwrap();
    let net = found.cidr().unwrap();
    let parts = net.subnets(net.prefix_len() + 1).unwrap();
    SubnetSplit {
        whole: found,
        parts: parts.map(|part| part.to_string().parse().unwrap()).collect(),
    }
}

#[tokio::test]
async fn virtual_subnets_are_added_and_stay() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let begun = Instant::now();
    assert!(split(store, begun, &|_| {}).await.unwrap().is_none(), "nothing is loaded");
    let data = fixtures::data();
    load(store, &data, false, begun, &|_| {}).await.unwrap();
    let (before, _) = in_use(store).await;
    let report = split(store, begun, &|_| {}).await.unwrap().unwrap();
    assert_eq!((report.generation, report.virtual_subnets), (before.id.get(), 0));

    let halves = halves(&data.hierarchy);
    subnet_splits::note(store, &halves, Some(search(store, halves.whole).await), NOW)
        .await
        .unwrap();
    let report = split(store, begun, &|_| {}).await.unwrap().unwrap();
    let (after, hierarchy) = in_use(store).await;
    assert_eq!((report.generation, report.virtual_subnets), (after.id.get(), 2));
    assert!(after.id > before.id);
    assert_eq!(
        (after.read_at, &after.sources),
        (before.read_at, &before.sources),
        "the data is as old as before"
    );
    let part = hierarchy.subnet(hierarchy.smallest(halves.parts[1].last()));
    assert!(part.kind() == SubnetKind::Virtual && part.range() == halves.parts[1]);

    let report = load(store, &data, false, begun, &|_| {}).await.unwrap();
    assert_eq!((report.virtual_subnets, report.subnets), (2, data.hierarchy.len() as u64 + 2));
    assert!(report.to_string().contains("2  virtual subnets added that searches found"));
    let (loaded, hierarchy) = in_use(store).await;
    assert!(loaded.read_at > after.read_at);
    assert_eq!(
        hierarchy.subnet(hierarchy.smallest(halves.parts[0].first())).range(),
        halves.parts[0]
    );
}

/// Unregistered space with a host in its first /48.
const UNREGISTERED: &str = "2a20::/44";
const HOST: &str = "INSERT INTO hosts (scheme, authority, state, address, first, last)
    VALUES ('http', 'a.example', 'resolved', '2a20::1', '2a20::',
            '2a20:0:f:ffff:ffff:ffff:ffff:ffff')";

#[tokio::test]
async fn unregistered_space_is_split_before_and_after_it_is_part_of_a_generation() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let begun = Instant::now();
    let data = fixtures::data();
    load(store, &data, false, begun, &|_| {}).await.unwrap();
    let whole: Range = UNREGISTERED.parse().unwrap();
    let parts = ["2a20::/48", "2a20:0:1::/48"].map(|part| part.parse().unwrap());
    unregistered_subnets::add(store, &[whole], NOW).await.unwrap();
    execute(store, HOST).await.unwrap();
    subnet_splits::note(store, &SubnetSplit { whole, parts: parts.into() }, None, NOW)
        .await
        .unwrap();
    let report = split(store, begun, &|_| {}).await.unwrap().unwrap();
    assert_eq!(report.virtual_subnets, 2);
    let has_all = |hierarchy: &Hierarchy| {
        [whole, parts[0], parts[1]].iter().all(|range| hierarchy.find_delegable(range).is_some())
    };
    assert!(has_all(&in_use(store).await.1));
    let again = split(store, begun, &|_| {}).await.unwrap().unwrap();
    assert_eq!((again.generation, again.virtual_subnets), (report.generation, 0));

    let preview = Preview::of(CurrentState::read(store).await.unwrap().as_ref(), &data);
    let report = load(store, &data, false, begun, &|_| {}).await.unwrap();
    assert_eq!((report.virtual_subnets, report.subnets), (2, data.hierarchy.len() as u64 + 3));
    assert_eq!((preview.subnets_before, preview.subnets_after), (report.subnets, report.subnets));
    assert!(has_all(&in_use(store).await.1));
}

#[tokio::test]
async fn unregistered_space_without_hosts_is_not_loaded() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let [used, unused]: [Range; 2] = [UNREGISTERED, "2a30::/44"].map(|text| text.parse().unwrap());
    unregistered_subnets::add(store, &[used, unused], NOW).await.unwrap();
    execute(store, HOST).await.unwrap();
    load(store, &fixtures::data(), false, Instant::now(), &|_| {}).await.unwrap();
    let (_, hierarchy) = in_use(store).await;
    assert!(hierarchy.find(&used).is_some() && hierarchy.find(&unused).is_none());
}
