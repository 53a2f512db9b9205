//! Pages that are visited again before others because they change more often.

use super::*;

const KEY: &str = "http://a.org";
const PERIOD_MS: i64 = 500_000;

impl World {
    /// The next URL of the host was fetched at `at`; its revisit is so much earlier than others.
    fn visit_with(&self, at: UnixMillis, changes: ChangeRate) -> Effect {
        let snapshot = self.frontier().snapshot(self.host(KEY)).unwrap().unwrap();
        let item = snapshot.next.or(snapshot.next_page).unwrap();
        let path = item.url.path_and_query().to_owned();
        let etag = Some("\"one\"".into());
        let page = PageRecord { etag, changes, ..PageRecord::without_content(path, 0) };
        self.apply(done_at(at, &item, other(), Some(page), &[], BOUNDS))
    }

    fn next_page(&self) -> (String, KnownPage) {
        let snapshot = self.frontier().snapshot(self.host(KEY)).unwrap().unwrap();
        let page = snapshot.next_page.unwrap();
        (page.url.path_and_query().to_owned(), *page.known.unwrap())
    }

    /// When the host has work, with this period.
    fn work(&self, revisit_period_ms: i64) -> Vec<UnixMillis> {
        let until = NOW.plus_ms(10 * PERIOD_MS);
        let query = DueQuery { until, most: 9, revisit_period_ms: Some(revisit_period_ms) };
        let found = self.frontier().due_hosts(query, |_| false).unwrap();
        found.hosts.iter().map(|host| host.work).collect()
    }
}

/// The end of the fetch of a sitemap that states when these pages of its host changed.
fn sitemap_of(
    world: &World,
    number: u64,
    at: UnixMillis,
    changed: &[(&str, UnixMillis)],
) -> Change {
    world.route(number, &format!("{KEY}/sitemap-{number}.xml"));
    let item = world.next(KEY).unwrap();
    let outcome = Outcome::Other { status: 200, media_type: None };
    let Change::Done(mut done) = done_at(at, &item, outcome, None, &[], BOUNDS) else { panic!() };
    let times = changed
        .iter()
        .map(|(path, at)| (CrawlUrl::parse(&format!("{KEY}{path}")).unwrap().fingerprint(), *at));
    let ages = RevisitAges { least_s: 100, longest_s: 500 };
    done.stated = Some(StatedChanges { times: times.collect(), ages });
    Change::Done(done)
}

fn in_advance(advance_s: u32) -> ChangeRate {
    ChangeRate { text_hash: Some([7; 8]), interval_s: Some(100), advance_s }
}

/// A host with a page that is visited again at the full age, and one that changes often.
fn world() -> World {
    let world = World::new();
    world.route(1, "http://a.org/steady");
    world.route(2, "http://a.org/news");
    world.visit_with(NOW, ChangeRate::default());
    world.visit_with(NOW.plus_ms(7), in_advance(400));
    world
}

#[test]
fn a_page_that_changes_often_is_visited_again_first() {
    let mut world = world();
    for _ in 0..2 {
        let (path, page) = world.next_page();
        assert_eq!((path.as_str(), page.visited()), ("/news", NOW.plus_ms(7)));
        assert_eq!(page.record.changes, in_advance(400));
        assert_eq!(world.work(PERIOD_MS), [NOW.plus_ms(7 - 400_000 + PERIOD_MS)]);
        world.restart();
        world.drop_from_memory();
    }
    // Its next visit is the same page again, until the age of the other is reached.
    let base = world.visit_with(NOW.plus_ms(100_007), in_advance(400)).revisit_base;
    assert_eq!(base, Some(NOW.plus_ms(100_007 - 400_000)));
    let base = world.visit_with(NOW.plus_ms(200_007), in_advance(0)).revisit_base;
    assert_eq!(base, Some(NOW), "of the other page");
    assert_eq!(world.frontier().bundle(world.host(KEY)).unwrap().unwrap().pages.len(), 2);
}

#[test]
fn a_page_that_changed_by_its_sitemap_is_visited_again_at_half_its_age() {
    let mut world = World::new();
    for (number, path) in [(1, "/known"), (2, "/old"), (3, "/often"), (4, "/other")] {
        world.route(number, &format!("{KEY}{path}"));
        let often = ChangeRate { interval_s: Some(180), advance_s: 320, ..ChangeRate::default() };
        world.visit_with(NOW, if path == "/often" { often } else { ChangeRate::default() });
    }
    let changed = [
        ("/known", NOW.plus_ms(1)),
        ("/old", NOW),
        ("/often", NOW.plus_ms(9)),
        ("/missing", NOW.plus_ms(9)),
        ("/sitemap-8.xml", NOW.plus_ms(9)),
    ];
    let effect = world.apply(sitemap_of(&world, 8, NOW.plus_ms(9), &changed));
    assert_eq!(effect.revisit_base, Some(NOW.plus_ms(-400_000)), "not below the shortest age");
    for _ in 0..2 {
        let pages = world.frontier().bundle(world.host(KEY)).unwrap().unwrap().pages;
        let mut advances: Vec<(String, u32)> =
            pages.iter().map(|(_, page)| (page.path.clone(), page.changes.advance_s)).collect();
        advances.sort_unstable();
        let expected = [("/known", 250), ("/often", 400), ("/old", 0), ("/other", 0)];
        assert_eq!(advances, expected.map(|(path, advance_s)| (path.to_owned(), advance_s)));
        assert!(pages.iter().all(|(visited, _)| *visited == NOW), "the visit is remembered");
        world.restart();
    }
    // The word of the sitemap alone, said again, changes nothing more.
    let effect = world.apply(sitemap_of(&world, 9, NOW.plus_ms(99), &changed));
    assert_eq!(effect.revisit_base, Some(NOW.plus_ms(-400_000)));
}

#[test]
fn a_change_of_the_period_moves_all_revisits() {
    let world = world();
    for period_ms in [PERIOD_MS, PERIOD_MS - 50_000, 2 * PERIOD_MS] {
        assert_eq!(world.work(period_ms), [NOW.plus_ms(7 - 400_000 + period_ms)]);
    }
}

#[test]
fn a_bundle_keeps_visits_and_how_often_pages_change() {
    let former = world();
    let bundle = former.frontier().bundle(former.host(KEY)).unwrap().unwrap();
    let visits: Vec<UnixMillis> = bundle.pages.iter().map(|(visited, _)| *visited).collect();
    assert_eq!(visits, [NOW.plus_ms(7), NOW]);
    let next = World::new();
    let bundle = bundle.encode().unwrap();
    let at = NOW.plus_ms(9);
    next.apply(Change::TakeOver { bundle, keeps_times: true, at });
    assert_eq!(next.next_page(), former.next_page());
    assert_eq!(next.work(PERIOD_MS), former.work(PERIOD_MS));
}

/// Salvage reads times that are not negative only.
#[test]
fn no_bundle_gives_a_page_an_impossible_time() {
    let former = world();
    let mut bundle = former.frontier().bundle(former.host(KEY)).unwrap().unwrap();
    for (visited, advance_s) in [(NOW.0, u32::MAX), (i64::MIN, 5), (i64::MAX, u32::MAX)] {
        bundle.pages.truncate(1);
        bundle.pages[0].0 = UnixMillis(visited);
        bundle.pages[0].1.changes.advance_s = advance_s;
        let next = World::new();
        let bundle = bundle.encode().unwrap();
        next.apply(Change::TakeOver { bundle, keeps_times: true, at: NOW });
        let (_, page) = next.next_page();
        assert!(page.revisit_base >= UnixMillis(0), "{page:?}");
        assert_eq!(page.visited(), UnixMillis(visited.clamp(0, NOW.0)));
    }
}
