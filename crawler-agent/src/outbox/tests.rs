use std::{fmt::Write as _, time::Duration};

use model::UnixMillis;
use protocol::{
    Route, package::encode_entry, package::open, page::ContentHash, page::Discovered, page::Entry,
    page::Fetch, page::Outcome, page::Page,
};
use tempfile::TempDir;

use super::*;
use crate::frontier::{Bounds, Report};

const AGENT: AgentId = AgentId::new(3);

struct World {
    dir: TempDir,
    store: FrontierHandle,
    key: Arc<AgentKey>,
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let frontier = Frontier::open(&dir.path().join("frontier"), 5).unwrap();
        let (store, _) = FrontierHandle::start(frontier).unwrap();
        Self { dir, store, key: Arc::new(AgentKey::from_seed([1; 32])) }
    }

    async fn outbox(&self, kib: u64) -> Outbox {
        let rules = ShipRules { age: Duration::from_secs(2), bytes: kib << 10 };
        let dir = self.dir.path().join("packages");
        let key = Arc::clone(&self.key);
        Outbox::open(&dir, self.store.clone(), key, AGENT, rules).await.unwrap()
    }

    /// Routes that end at once, each with a result.
    fn results(&self, seqs: std::ops::RangeInclusive<u64>) {
        let routes =
            seqs.map(|seq| Route { seq, url: format!("no url {seq}"), redirects: 0 }).collect();
        let bounds = Bounds { pages_a_host: 1, depth: 1 };
        self.store.apply(Change::Routes { routes, at: UnixMillis(1), bounds }).unwrap();
    }

    fn read(&self, outbox: &Outbox, name: PackageName) -> Vec<String> {
        let bytes = outbox.bytes(name).unwrap().unwrap();
        let package = open(&bytes, &self.key.public()).unwrap();
        assert_eq!(package.header().name, name);
        package.entries().unwrap().map(|entry| url_of(&entry.unwrap()).to_owned()).collect()
    }

    fn files(&self) -> Vec<String> {
        let dir = std::fs::read_dir(self.dir.path().join("packages")).unwrap();
        let mut names: Vec<String> =
            dir.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn url_of(entry: &Entry) -> &str {
    match entry {
        Entry::Fetch(fetch) => &fetch.url,
        Entry::Discovered(discovered) => &discovered.url,
    }
}

fn stored(order: u64, entry: &Entry) -> (u64, Arc<[u8]>) {
    (order, encode_entry(entry).into())
}

fn label(key: &AgentKey) -> build::Label<'_> {
    let name = PackageName { agent: AGENT, epoch: 1, seq: 1 };
    build::Label { name, created: UnixMillis(1), key }
}

fn page(order: u64, text: String) -> (u64, Arc<[u8]>) {
    let page = Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "UTF-8".into(),
        lang: None,
        title: String::new(),
        headings: String::new(),
        text,
        sha256: ContentHash::default(),
        canonical: None,
        max_snippet: None,
        links: Vec::new(),
    };
    let fetch = Fetch {
        url: format!("http://e.org/{order}"),
        fetched_at: UnixMillis(0),
        address: None,
        timing: None,
        wire_bytes: 0,
        outcome: Outcome::Page(page),
        trend: None,
    };
    stored(order, &Entry::Fetch(Box::new(fetch)))
}

#[tokio::test]
async fn results_are_packed_sent_and_forgotten() {
    let world = World::new();
    world.results(1..=3);
    let outbox = world.outbox(64).await;
    assert_eq!(outbox.seal_all().await.unwrap(), 1);
    assert_eq!(outbox.seal_all().await.unwrap(), 0);
    let names = outbox.waiting().await.unwrap();
    assert_eq!(names, [PackageName { agent: AGENT, epoch: 5, seq: 1 }]);
    assert_eq!(world.read(&outbox, names[0]), ["no url 1", "no url 2", "no url 3"]);
    outbox.acknowledged(names[0]).unwrap();
    assert_eq!(outbox.waiting().await.unwrap(), []);
    assert_eq!(world.files(), ["refused"]);
}

#[tokio::test]
async fn many_results_make_several_packages() {
    let world = World::new();
    world.results(1..=100);
    let outbox = world.outbox(1).await;
    assert!(outbox.seal_all().await.unwrap() > 5);
    let mut urls = HashSet::new();
    for name in outbox.waiting().await.unwrap() {
        urls.extend(world.read(&outbox, name));
    }
    assert_eq!(urls, (1..=100).map(|n| format!("no url {n}")).collect());
}

#[tokio::test]
async fn files_left_by_a_crash_are_deleted_and_packages_stay() {
    let world = World::new();
    world.results(1..=1);
    world.outbox(64).await.seal_all().await.unwrap();
    let dir = world.dir.path().join("packages");
    // One file was written, but the change that records it never happened; one is half written.
    std::fs::write(dir.join("2.ncpk"), "x").unwrap();
    std::fs::write(dir.join("3.tmp"), "x").unwrap();
    let outbox = world.outbox(64).await;
    assert_eq!(world.files(), ["1.ncpk", "refused"]);
    world.results(2..=2);
    outbox.seal_all().await.unwrap();
    let names = outbox.waiting().await.unwrap();
    assert_eq!(
        world.read(&outbox, names[1]),
        ["no url 2"],
        "the number is used for the real package"
    );
}

#[tokio::test]
async fn what_the_coordinator_refuses_is_kept_for_the_owner() {
    let world = World::new();
    world.results(1..=1);
    let outbox = world.outbox(64).await;
    outbox.seal_all().await.unwrap();
    let name = outbox.waiting().await.unwrap()[0];
    outbox.set_aside(name).unwrap();
    assert_eq!(outbox.waiting().await.unwrap(), []);
    assert!(world.dir.path().join("packages/refused/1.ncpk").exists());
    assert_eq!(outbox.bytes(name).unwrap(), None);
}

#[test]
fn pages_that_compress_like_bombs_travel_in_small_packages() {
    let key = AgentKey::from_seed([1; 32]);
    let mut entries: StoredResults = (1..=9).map(|n| page(n, "a".repeat(400 << 10))).collect();
    let mut packed = 0;
    while !entries.is_empty() {
        let (written, through) = build::package(&entries, label(&key)).unwrap();
        let package = open(&written.bytes, &key.public()).unwrap();
        packed += package.entries().unwrap().map(Result::unwrap).count();
        entries.retain(|(order, _)| *order > through);
    }
    assert_eq!(packed, 9);
}

#[test]
fn a_result_that_never_fits_is_reported_as_failed() {
    let key = AgentKey::from_seed([1; 32]);
    let huge = vec![page(7, "\u{7f}x\"".repeat(4 << 20))];
    let (written, through) = build::package(&huge, label(&key)).unwrap();
    assert_eq!(through, 7);
    let entry =
        open(&written.bytes, &key.public()).unwrap().entries().unwrap().next().unwrap().unwrap();
    let Entry::Fetch(fetch) = entry else { panic!("{entry:?}") };
    let Outcome::Failed(failure) = fetch.outcome else { panic!("{:?}", fetch.outcome) };
    assert!(failure.reason.contains("cannot be packed"), "{failure:?}");
    let discovered = Discovered { url: "http://e.org/".into(), redirects: 0, handed_back: false };
    let discovered = vec![stored(8, &Entry::Discovered(discovered))];
    assert_eq!(build::package(&discovered, label(&key)).unwrap().1, 8);
}

#[tokio::test]
async fn results_are_packed_when_there_is_no_room_for_others() {
    let world = World::new();
    let outbox = world.outbox(32 << 10).await;
    let trigger = PackTrigger::default();
    let mut number = 1_u64;
    while world.store.has_room().unwrap() {
        // A package does not grow a hundredfold when it is unpacked, so this does not compress.
        let mut url = String::from("http://h.test/");
        while url.len() < 64 << 10 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            write!(url, "{number:x}").unwrap();
        }
        let report = Report { url: url.into(), redirects: 0 };
        world.store.apply(Change::Report { reports: vec![report] }).unwrap();
        trigger.add(1);
    }
    // Longer than the time limit of the test.
    let most = Duration::from_hours(1);
    let mut age = PackAge::new(most);
    while age.after(Duration::ZERO) < most {}
    let pack = async {
        trigger.wait(&mut age, outbox.rules.bytes).await;
        outbox.seal_all().await.unwrap();
    };
    let both = async { tokio::join!(trigger.until_room(&world.store), pack) };
    let (room, ()) = tokio::time::timeout(Duration::from_mins(1), both).await.unwrap();
    room.unwrap();
    assert!(world.store.has_room().unwrap());
}
