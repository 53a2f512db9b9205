//! Links that lead into the endless parts of a site.

use super::*;

#[test]
fn endless_parts_of_a_site_are_left_out() {
    let world = World::new();
    world.route(1, "http://a.org/");
    let item = world.next("http://a.org").unwrap();
    let filters: Vec<String> =
        (0..900).map(|n| format!("http://a.org/shop?colour={n}&size={n}&sort={n}")).collect();
    let mut links: Vec<&str> = filters.iter().map(String::as_str).collect();
    links.extend(["http://a.org/calendar/2029/01", "http://b.org/calendar/2029/01"]);
    links.extend(["http://a.org/calendar/1970/01", "http://a.org/shop?page=1"]);
    world.finish(&item, other(), &links);
    assert_eq!(world.frontier().counts().unwrap().queued, 502);
    let reported: Vec<Entry> = world.results().into_iter().map(|(_, entry)| entry).collect();
    assert_eq!(reported.len(), 1, "the fetch alone: {reported:?}");
}

#[test]
fn a_link_that_is_on_many_pages_counts_once() {
    let world = World::new();
    let pages: Vec<(u64, String)> = (1..=600).map(|n| (n, format!("http://a.org/{n}"))).collect();
    let pages: Vec<(u64, &str)> = pages.iter().map(|(n, url)| (*n, url.as_str())).collect();
    world.apply(routes(&pages, BOUNDS));
    for _ in 0..600 {
        let item = world.next("http://a.org").unwrap();
        world.finish(&item, other(), &["http://a.org/shop?a=1&b=1&c=1"]);
    }
    let item = world.next("http://a.org").unwrap();
    world.finish(&item, other(), &["http://a.org/shop?a=2&b=2&c=2"]);
    assert_eq!(world.frontier().counts().unwrap().queued, 1);
}
