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

#[test]
fn a_link_to_another_host_counts_once() {
    let world = World::new();
    let pages: Vec<(u64, String)> = (1..=600).map(|n| (n, format!("http://a.org/{n}"))).collect();
    let pages: Vec<(u64, &str)> = pages.iter().map(|(n, url)| (*n, url.as_str())).collect();
    world.apply(routes(&pages, BOUNDS));
    for _ in 1..600 {
        let item = world.next("http://a.org").unwrap();
        world.finish(&item, other(), &["http://b.org/shop?a=1&b=1&c=1"]);
    }
    let item = world.next("http://a.org").unwrap();
    world.finish(&item, other(), &["http://b.org/shop?a=2&b=2&c=2"]);
    let results = world.results();
    let is_report = |(_, entry): &&(u64, Entry)| matches!(entry, Entry::Discovered(_));
    assert_eq!(results.iter().filter(is_report).count(), 2);
}

#[test]
fn what_a_sitemap_lists_is_no_trap() {
    let world = World::new();
    world.route(1, "http://a.org/sitemap.xml");
    let item = world.next("http://a.org").unwrap();
    let articles: Vec<String> =
        (0..900).map(|n| format!("http://a.org/?option=content&view=article&id={n}")).collect();
    let mut listed: Vec<&str> = articles.iter().map(String::as_str).collect();
    listed.push("http://a.org/calendar/2029/01");
    world.finish(&item, Outcome::Other { status: 200, media_type: None }, &listed);
    assert_eq!(world.frontier().counts().unwrap().queued, 901);
}

#[test]
fn urls_that_end_take_no_place_of_a_page_until_there_are_five_times_as_many() {
    let world = World::new();
    let bounds = Bounds { pages_a_host: 3, depth: 1 };
    for number in 1..=40 {
        world.apply(routes(&[(number, &format!("http://a.org/{number}"))], bounds));
        let Some(item) = world.next("http://a.org") else {
            assert_eq!(number, 16);
            return;
        };
        world.apply(done(&item, other(), &[], bounds));
    }
    panic!("a site of redirects never ends");
}

#[test]
fn a_stored_url_that_the_rules_forbid_by_now_is_no_damage() {
    let mut world = World::new();
    let url = CrawlUrl::stored("http://a.org/a/a/a/a/a/a/a/a").unwrap();
    assert!(CrawlUrl::parse(url.as_str()).is_err());
    let adopted = AdoptedUrl { url: url.clone(), depth: 0, redirects: 0, is_fetched: false };
    world.apply(Change::Adopt { urls: vec![adopted], at: NOW, bounds: BOUNDS });
    world.frontier().checkpoint().unwrap();
    world.restart();
    let item = world.next("http://a.org").unwrap();
    assert_eq!(item.url, url);
    let page = PageRecord::without_content(url.path_and_query().to_owned(), 0);
    world.apply(done_at(NOW, &item, other(), Some(page), &[], BOUNDS));
    let snapshot = world.frontier().snapshot(item.host).unwrap().unwrap();
    assert_eq!(snapshot.next_page.unwrap().url, url);
}
