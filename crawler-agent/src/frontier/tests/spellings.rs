//! Redirects between spellings of one URL, and to URLs that were visited before.

use super::*;

/// Pages that the host has accepted, and URLs in all queues.
fn counts(world: &World) -> (u32, u64) {
    let snapshot = world.frontier().snapshot(world.host("http://a.org")).unwrap().unwrap();
    (snapshot.record.accepted, world.frontier().counts().unwrap().queued)
}

#[test]
fn a_redirect_to_another_spelling_of_the_url_is_followed() {
    for (from, to) in [
        ("http://a.org/p?utm_source=rss", "http://a.org/p"),
        ("http://a.org/p", "http://a.org/p;jsessionid=0123456789abcdef"),
        ("http://a.org/%7Ejoe/", "http://a.org/~joe/"),
    ] {
        let mut world = World::new();
        world.route(1, from);
        let item = world.next("http://a.org").unwrap();
        let effect = world.finish(&item, redirect(to), &[]);
        assert!(effect.has_queued && effect.ready == [(item.host, NOW.plus_ms(1_000))], "{from}");
        world.restart();
        let target = world.next("http://a.org").unwrap();
        assert_eq!((target.url.as_str(), target.redirects, target.depth), (to, 1, 0));
        assert_eq!(counts(&world), (1, 1), "{from}");
        world.finish(&target, other(), &[from, to]);
        assert_eq!(counts(&world), (0, 0), "both are known, and have ended");
    }
}

#[test]
fn redirects_between_spellings_end() {
    let world = World::new();
    world.route(1, "http://a.org/p");
    for hop in 0..=5 {
        let item = world.next("http://a.org").unwrap();
        assert_eq!(item.redirects, hop);
        let session = format!("http://a.org/p;jsessionid=0123456789abcde{hop}");
        world.finish(&item, redirect(&session), &[]);
    }
    assert_eq!(world.next("http://a.org"), None);
    world.route(2, "http://a.org/same");
    let item = world.next("http://a.org").unwrap();
    world.finish(&item, redirect("http://a.org/same"), &[]);
    assert_eq!(world.next("http://a.org"), None);
}

#[test]
fn a_page_gives_its_place_to_the_spelling_that_it_is_redirected_to() {
    let world = World::new();
    world.route(1, "http://a.org/p?utm_source=rss");
    let record = |path: &str| Some(PageRecord::without_content(path.into(), 0));
    let item = world.next("http://a.org").unwrap();
    let old = record("/p?utm_source=rss");
    world.apply(done_at(NOW, &item, other(), old.clone(), &[], BOUNDS));
    let next_page = || world.frontier().snapshot(item.host).unwrap().unwrap().next_page;
    let page = next_page().unwrap();
    let to = Outcome::Redirect { status: 302, location: "http://a.org/p".into() };
    world.apply(done_at(NOW, &page, to, old, &[], BOUNDS));
    assert_eq!((counts(&world), next_page()), ((1, 1), None));
    let target = world.next("http://a.org").unwrap();
    world.apply(done_at(NOW, &target, other(), record("/p"), &[], BOUNDS));
    let page = next_page().unwrap();
    assert_eq!((counts(&world), page.url.as_str()), ((1, 0), "http://a.org/p"));
}

#[test]
fn a_site_that_moves_back_to_its_old_address_is_fetched_there() {
    let mut world = World::new();
    let visit = |world: &World, key: &str, outcome, page: Option<&str>| {
        let snapshot = world.frontier().snapshot(world.host(key)).unwrap().unwrap();
        let item = snapshot.next.or(snapshot.next_page).unwrap();
        let page = page.map(|path| PageRecord::without_content(path.into(), 0));
        world.apply(done_at(NOW, &item, outcome, page, &[], BOUNDS))
    };
    world.route(1, "http://www.a.org/");
    world.route(2, "http://a.org/");
    visit(&world, "http://www.a.org", redirect("http://a.org/"), None);
    let found = Outcome::Other { status: 200, media_type: None };
    visit(&world, "http://a.org", found.clone(), Some("/"));
    assert_eq!(counts(&world).1, 0);
    world.restart();
    let effect = visit(&world, "http://a.org", redirect("http://www.a.org/"), None);
    assert_eq!(effect.ready, [(world.host("http://www.a.org"), NOW.plus_ms(1_000))]);
    world.restart();
    let target = world.next("http://www.a.org").unwrap();
    assert_eq!((target.url.as_str(), target.redirects), ("http://www.a.org/", 1));
    // Once it is a page, redirects to it queue it no more.
    visit(&world, "http://www.a.org", found.clone(), Some("/"));
    world.route(3, "http://a.org/old");
    visit(&world, "http://a.org", found, Some("/old"));
    visit(&world, "http://a.org", redirect("http://www.a.org/?utm_source=old"), None);
    assert_eq!(counts(&world).1, 0);
}

#[test]
fn a_page_that_may_have_moved_back_brings_the_old_address_back_once() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let item = world.next("http://a.org").unwrap();
    world.finish(&item, redirect("http://a.org/new"), &[]);
    let item = world.next("http://a.org").unwrap();
    let bare = PageRecord::without_content("/new".into(), 0);
    let page = PageRecord { sha256: Some([1; 32]), ..bare.clone() };
    world.apply(done_at(NOW, &item, other(), Some(page), &[], BOUNDS));
    for is_queued in [true, false] {
        let snapshot = world.frontier().snapshot(item.host).unwrap().unwrap();
        let page = snapshot.next_page.unwrap();
        let back = redirect("http://a.org/");
        world.apply(done_at(NOW, &page, back, Some(bare.clone()), &[], BOUNDS));
        let target = world.next("http://a.org");
        assert_eq!(target.is_some(), is_queued);
        if let Some(target) = target {
            world.finish(&target, redirect("http://a.org/new"), &[]);
        }
    }
}
