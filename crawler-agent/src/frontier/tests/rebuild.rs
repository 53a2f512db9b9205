//! Files that are damaged anywhere: they are refused by name, and what can be read of them is kept.

use std::{collections::BTreeSet, fs};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use redb::ReadableTable as _;

use super::*;

/// Damaged files that are tried.
const FILES: u64 = 80;
const HOSTS: u64 = 60;
const URLS_A_HOST: u64 = 20;
const PAGES_A_HOST: u64 = 3;

fn key(host: u64) -> String {
    format!("http://h{host}.org")
}

/// A frontier with hosts, queues, pages, rules and results, all of them in its file.
fn full_world() -> World {
    let world = World::new();
    for host in 0..HOSTS {
        let urls: Vec<String> =
            (0..URLS_A_HOST).map(|n| format!("{}/page/{n}", key(host))).collect();
        let first = host * URLS_A_HOST + 1;
        let numbered: Vec<(u64, &str)> = (first..).zip(urls.iter().map(String::as_str)).collect();
        world.apply(routes(&numbered, BOUNDS));
        for _ in 0..PAGES_A_HOST {
            let item = world.next(&key(host)).unwrap();
            let page = page(item.url.path_and_query());
            world.apply(done_at(NOW, &item, other(), Some(page), &[], BOUNDS));
        }
        let rules = Robots::parse(format!("User-agent: *\nDisallow: /{host}").as_bytes());
        let state = RobotsState::Known { robots: rules, until: NOW };
        world.apply(robots(world.host(&key(host)), state, &[], NOW));
    }
    world.frontier().checkpoint().unwrap();
    world
}

fn page(path: &str) -> PageRecord {
    PageRecord {
        path: path.to_owned(),
        depth: 0,
        etag: Some("\"1\"".to_owned()),
        last_modified: None,
        sha256: Some([7; 32]),
        past: PageHistory::default(),
        changes: ChangeRate::default(),
    }
}

/// A directory with this file of a frontier, and no log.
fn directory(file: &[u8]) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("hosts.redb"), file).unwrap();
    dir
}

/// A directory with this file and the log of another frontier.
fn directory_with_log(file: &[u8], log_of: &World) -> TempDir {
    let dir = directory(file);
    let segment = last_segment(&log_of.path());
    fs::copy(&segment, dir.path().join(segment.file_name().unwrap())).unwrap();
    dir
}

fn last_segment(dir: &Path) -> PathBuf {
    log::path(dir, log::segments(dir).unwrap().pop().unwrap())
}

/// Overwrites some bytes where there are any.
fn damage(file: &mut [u8], rng: &mut StdRng) {
    let used: Vec<usize> = (0..file.len()).step_by(64).filter(|at| file[*at] != 0).collect();
    let start = used[rng.random_range(0..used.len())];
    let length = 1 << rng.random_range(0..14);
    let end = file.len().min(start + length);
    rng.fill(&mut file[start..end]);
}

/// Everything that a frontier has of a host.
type HostUrls = (Vec<String>, Vec<String>);

/// Reads everything and changes each host.
fn use_all(frontier: &Frontier) -> Result<Vec<HostUrls>, FrontierError> {
    let mut all = Vec::new();
    for host in 0..HOSTS {
        let Some(number) = frontier.host_number(&key(host))? else { continue };
        frontier.snapshot(number)?;
        frontier.bundle(number)?;
        frontier.is_known(&CrawlUrl::parse(&format!("{}/x", key(host))).unwrap())?;
        all.push(frontier.paths(number)?);
        let due = NOW;
        frontier.apply(Change::Asked { host: number, due })?;
    }
    with_work(frontier)?;
    frontier.checkpoint()?;
    Ok(all)
}

#[test]
fn a_file_that_is_damaged_anywhere_is_refused_by_name_and_rebuilt() {
    let world = full_world();
    let intact = fs::read(world.path().join("hosts.redb")).unwrap();
    let mut refused = 0;
    let mut lost = 0;
    for seed in 0..FILES {
        let mut file = intact.clone();
        damage(&mut file, &mut StdRng::seed_from_u64(seed));
        let dir = directory_with_log(&file, &world);
        let used = Frontier::open(dir.path(), 8).and_then(|frontier| use_all(&frontier));
        if let Err(error) = used {
            assert!(error.to_string().contains("hosts.redb"), "seed {seed}: {error}");
            refused += 1;
        }
        // As the owner would: from the file as it was found.
        let dir = directory_with_log(&file, &world);
        let (frontier, rebuilt) = Frontier::rebuild(dir.path(), 9).unwrap();
        let counts = frontier.counts().unwrap();
        let urls = use_all(&frontier).unwrap();
        let queued: usize = urls.iter().map(|(queued, _)| queued.len()).sum();
        assert_eq!(queued as u64, counts.queued, "seed {seed}");
        let kept = (counts.hosts, counts.queued, counts.results);
        let said = (rebuilt.hosts.kept, rebuilt.queued.kept, rebuilt.results.kept);
        assert_eq!(kept, said, "seed {seed}");
        assert!(rebuilt.damaged.is_file(), "seed {seed}");
        lost += u64::from(counts.hosts < HOSTS);
    }
    assert!(refused > FILES / 8, "only {refused} files were refused");
    assert!(lost > 0 && lost < FILES / 2, "{lost} files lost hosts");
}

#[test]
fn an_intact_file_is_rebuilt_without_loss() {
    let mut world = full_world();
    world.route(HOSTS * URLS_A_HOST + 1, "http://logged.org/");
    let read = |frontier: &Frontier| {
        let hosts = (0..HOSTS).map(|host| frontier.host_number(&key(host)).unwrap().unwrap());
        let snapshots = hosts.map(|host| frontier.snapshot(host).unwrap().unwrap());
        (snapshots.collect::<Vec<_>>(), frontier.counts().unwrap(), frontier.epoch())
    };
    let before = read(world.frontier());
    let package = world.frontier().next_package().unwrap();
    world.frontier = None;
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    assert_eq!(read(&frontier), before);
    let whole = |kept| Salvaged { kept, lost: Some(0) };
    assert_eq!(rebuilt.hosts, whole(HOSTS));
    assert_eq!(rebuilt.queued, whole(HOSTS * (URLS_A_HOST - PAGES_A_HOST)));
    assert_eq!(rebuilt.pages, whole(HOSTS * PAGES_A_HOST));
    assert_eq!(rebuilt.results, whole(HOSTS * PAGES_A_HOST));
    assert!(!rebuilt.is_log_lost && !rebuilt.is_epoch_new);
    assert!(frontier.host_number("http://logged.org").unwrap().is_some(), "the log is replayed");
    let next = frontier.next_package().unwrap();
    assert!(next > package + 100_000, "a lost log may have used the numbers: {next}");
}

/// Bytes of a host's row that name the host; URLs of results go on with a path.
fn rename_row(file: &mut [u8], from: &str, to: &str) -> usize {
    let found = |at: &usize| {
        let rest = &file[*at..];
        rest.starts_with(from.as_bytes()) && rest.get(from.len()) != Some(&b'/')
    };
    let places: Vec<usize> = (0..file.len()).filter(found).collect();
    for at in &places {
        file[*at..*at + to.len()].copy_from_slice(to.as_bytes());
    }
    places.len()
}

#[test]
fn of_two_rows_that_name_one_host_the_one_in_the_index_is_kept() {
    for (damaged, named) in [(12, 32), (32, 12)] {
        let world = full_world();
        let mut file = fs::read(world.path().join("hosts.redb")).unwrap();
        assert!(rename_row(&mut file, &key(damaged), &key(named)) > 0);
        let dir = directory(&file);
        let (frontier, rebuilt) = Frontier::rebuild(dir.path(), 9).unwrap();
        assert_eq!(rebuilt.hosts, Salvaged { kept: HOSTS - 1, lost: Some(1) });
        assert_eq!(frontier.host_number(&key(damaged)).unwrap(), None);
        let number = frontier.host_number(&key(named)).unwrap().unwrap();
        assert_eq!(number, world.host(&key(named)), "the damaged row is kept");
    }
}

/// Closes the frontier and changes its file.
fn change_file(world: &mut World, change: impl FnOnce(&redb::WriteTransaction)) {
    world.frontier = None;
    let db = redb::Database::open(world.path().join("hosts.redb")).unwrap();
    let write = db.begin_write().unwrap();
    change(&write);
    write.commit().unwrap();
}

#[test]
fn rows_with_impossible_numbers_are_lost() {
    let mut world = full_world();
    let host = world.host(&key(7)).0;
    change_file(&mut world, |write| {
        let hosts = redb::TableDefinition::<u64, &[u8]>::new("hosts");
        let mut hosts = write.open_table(hosts).unwrap();
        let row = hosts.get(host).unwrap().unwrap().value().to_vec();
        hosts.insert(u64::MAX, row.as_slice()).unwrap();
        let queue = redb::TableDefinition::<(u64, u16, u64), &[u8]>::new("queue");
        let mut queue = write.open_table(queue).unwrap();
        let first = queue.range((host, 0, 0)..).unwrap().next().unwrap().unwrap();
        let row = first.1.value().to_vec();
        drop(first);
        queue.insert((host, 0, u64::MAX), row.as_slice()).unwrap();
    });
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    assert_eq!(rebuilt.hosts, Salvaged { kept: HOSTS, lost: Some(1) });
    assert_eq!(rebuilt.queued.lost, Some(1));
    assert_eq!(use_all(&frontier).unwrap().len() as u64, HOSTS);
}

#[test]
fn where_results_are_lost_pages_are_fetched_as_a_whole_once_more() {
    for is_lost in [false, true] {
        let mut world = full_world();
        change_file(&mut world, |write| {
            let results = redb::TableDefinition::<u64, &[u8]>::new("results");
            let mut results = write.open_table(results).unwrap();
            if is_lost {
                results.insert(u64::MAX, [0xff_u8; 5].as_slice()).unwrap();
            }
        });
        let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
        assert_eq!(rebuilt.results.lost, Some(u64::from(is_lost)));
        let host = frontier.host_number(&key(7)).unwrap().unwrap();
        let bundle = frontier.bundle(host).unwrap().unwrap();
        assert_eq!(bundle.pages.len() as u64, PAGES_A_HOST);
        let knows = |page: &PageRecord| page.sha256.is_some() && page.etag.is_some();
        assert!(bundle.pages.iter().all(|(_, page)| knows(page) != is_lost));
    }
}

#[test]
fn damaged_numbers_are_refused_by_the_name_of_the_file_and_made_again() {
    let mut world = full_world();
    change_file(&mut world, |write| {
        let numbers = redb::TableDefinition::<u16, &[u8]>::new("numbers");
        write.open_table(numbers).unwrap().insert(7, [0_u8; 13].as_slice()).unwrap();
    });
    let error = Frontier::open(&world.path(), 8).err().unwrap();
    assert!(error.to_string().contains("hosts.redb"), "{error}");
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    assert_eq!(rebuilt.hosts, Salvaged { kept: HOSTS, lost: Some(0) });
    assert_eq!(use_all(&frontier).unwrap().len() as u64, HOSTS);
}

#[test]
fn a_file_of_which_nothing_can_be_read_is_kept() {
    let dir = directory(&[0xa5; 10_000]);
    let (frontier, rebuilt) = Frontier::rebuild(dir.path(), 9).unwrap();
    assert_eq!((frontier.counts().unwrap(), frontier.epoch()), (Counts::default(), 9));
    assert_eq!(rebuilt.hosts, Salvaged { kept: 0, lost: None });
    assert!(rebuilt.is_epoch_new);
    assert_eq!(fs::read(rebuilt.damaged).unwrap(), [0xa5; 10_000]);
    let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    let expected = ["hosts.redb", "hosts.redb.damaged-9"].map(str::to_owned);
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
}

#[test]
fn without_the_totals_the_log_is_set_aside() {
    let mut world = full_world();
    let rules = RobotsState::Known { robots: Robots::allow_all(), until: NOW.plus_ms(9) };
    world.apply(robots(world.host(&key(3)), rules, &[], NOW));
    change_file(&mut world, |write| {
        let totals = redb::TableDefinition::<(), &[u8]>::new("totals");
        write.open_table(totals).unwrap().remove(()).unwrap();
    });
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    assert!(rebuilt.is_log_lost && rebuilt.is_epoch_new);
    let number = frontier.host_number(&key(3)).unwrap().unwrap();
    let kept = frontier.snapshot(number).unwrap().unwrap().robots.unwrap();
    assert!(
        matches!(&*kept, RobotsState::Known { robots, .. } if !robots.allows("/3")),
        "the rules of the file: {kept:?}"
    );
}

#[test]
fn a_log_that_cannot_be_applied_is_set_aside() {
    let world = full_world();
    let dir = directory(&fs::read(world.path().join("hosts.redb")).unwrap());
    fs::write(dir.path().join("log-0000000099"), "a letter to my mother").unwrap();
    let (frontier, rebuilt) = Frontier::rebuild(dir.path(), 9).unwrap();
    assert!(rebuilt.is_log_lost);
    assert_eq!(frontier.counts().unwrap().hosts, HOSTS);
    assert!(dir.path().join("log-0000000099.damaged-9").is_file());
}

#[test]
fn a_frontier_without_its_log_is_refused_and_rebuilt() {
    let world = full_world();
    let dir = directory(&fs::read(world.path().join("hosts.redb")).unwrap());
    let error = Frontier::open(dir.path(), 8).err().unwrap();
    let name = last_segment(&world.path()).file_name().unwrap().to_owned();
    assert!(error.to_string().contains(name.to_str().unwrap()), "{error}");
    assert!(error.to_string().contains("--rebuild"), "{error}");
    let package = world.frontier().next_package().unwrap();
    let (frontier, rebuilt) = Frontier::rebuild(dir.path(), 9).unwrap();
    assert!(rebuilt.is_log_lost && !rebuilt.is_epoch_new);
    assert_eq!(rebuilt.hosts, Salvaged { kept: HOSTS, lost: Some(0) });
    assert!(frontier.next_package().unwrap() > package + 100_000, "no number is used twice");
    drop(frontier);
    Frontier::open(dir.path(), 8).unwrap();
}

#[test]
fn of_a_damaged_log_the_changes_before_the_damage_are_kept() {
    let mut world = full_world();
    let first = HOSTS * URLS_A_HOST + 1;
    for host in 0..3 {
        world.route(first + host, &format!("http://logged{host}.org/"));
    }
    world.frontier().sync().unwrap();
    world.frontier = None;
    let segment = last_segment(&world.path());
    let mut bytes = fs::read(&segment).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&segment, &bytes).unwrap();
    let error = Frontier::open(&world.path(), 8).err().unwrap();
    assert!(matches!(error, FrontierError::Damaged { .. }), "{error}");
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    assert!(rebuilt.is_log_lost && !rebuilt.is_epoch_new);
    assert_eq!(rebuilt.hosts, Salvaged { kept: HOSTS, lost: Some(0) });
    let logged = |host| frontier.host_number(&format!("http://logged{host}.org")).unwrap();
    assert!(logged(0).is_some() && logged(1).is_some(), "they are before the damage");
    assert!(logged(2).is_none());
    let mut kept = segment.into_os_string();
    kept.push(".damaged-9");
    assert_eq!(fs::read(kept).unwrap(), bytes);
}

#[test]
fn where_a_host_is_lost_the_log_is_set_aside() {
    let mut world = full_world();
    let host = world.host(&key(7)).0;
    world.route(HOSTS * URLS_A_HOST + 1, "http://logged.org/");
    change_file(&mut world, |write| {
        let hosts = redb::TableDefinition::<u64, &[u8]>::new("hosts");
        write.open_table(hosts).unwrap().insert(host, [0xff_u8; 3].as_slice()).unwrap();
    });
    let (frontier, rebuilt) = Frontier::rebuild(&world.path(), 9).unwrap();
    assert_eq!(rebuilt.hosts, Salvaged { kept: HOSTS - 1, lost: Some(1) });
    assert!(rebuilt.is_log_lost && !rebuilt.is_epoch_new);
    assert_eq!(frontier.host_number("http://logged.org").unwrap(), None);
}
