//! Tests of the web from a crawler's side.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use super::crawler::{crawl, unescape};
use super::site::{Kind, PageId};
use super::*;
use crate::referee::{Referee, Rules};
use crate::web_server::{Pace, Server};

const COUNTRIES: [&str; 16] = [
    "GR", "RU", "EG", "JP", "CN", "KR", "FR", "ES", "DE", "BR", "IT", "TR", "PL", "US", "CY", "GB",
];

/// A web of `hosts` hosts on loopback.
fn plan(hosts: usize, documents: usize, port: u16) -> WebPlan {
    let host = |number: usize| HostPlan {
        name: format!("host-{number}.example"),
        address: IpAddr::V4(Ipv4Addr::new(127, 77, 0, number as u8 + 1)),
        country: COUNTRIES[number % COUNTRIES.len()].to_owned(),
        city: "Nicosia".to_owned(),
    };
    let hosts = (0..hosts).map(host).collect();
    WebPlan { hosts, seeds: 2, documents, port, dead_names: 3, slow_hosts: 1, seed: 42 }
}

/// A served web.
struct ServedWeb {
    web: Arc<Web>,
    referee: Referee,
    _server: Server,
}

fn serve(hosts: usize, documents: usize, pace: Pace) -> ServedWeb {
    let addresses = plan(hosts, documents, 0).hosts.into_iter().map(|host| host.address);
    let (port, listeners) = listen::on_loopback(addresses).unwrap();
    let web = Arc::new(Web::generate(&plan(hosts, documents, port)).unwrap());
    let referee = Referee::new(Arc::clone(&web));
    let server = Server::start(Arc::clone(&web), referee.clone(), pace, listeners).unwrap();
    ServedWeb { web, referee, _server: server }
}

fn urls<'i>(web: &Web, ids: impl IntoIterator<Item = &'i PageId>) -> BTreeSet<String> {
    ids.into_iter().map(|id| web.url(*id)).collect()
}

#[tokio::test]
async fn an_honest_crawler_finds_exactly_what_is_expected() {
    let ServedWeb { web, referee, _server } = serve(24, 480, Pace::at_once());
    let seen = crawl(&web).await;
    assert_eq!(
        seen.statuses.keys().cloned().collect::<BTreeSet<_>>(),
        urls(&web, web.expected().wanted().keys())
    );
    assert_eq!(seen.forbidden, urls(&web, web.expected().forbidden()));

    let report = referee.report(&Rules { least_gap: Duration::ZERO });
    // The crawler above does not wait, but a host with a Crawl-delay notices.
    let hurried = report.faults();
    assert!(hurried.len() == 1 && hurried[0].contains("hurried"), "{hurried:?}");
    assert!(report.coverage.is_complete());
    assert_eq!(report.unique, report.coverage.all.expected);
    assert_eq!(report.fetches as usize, report.unique);
    assert_eq!(report.most_in_flight.unwrap().count, 1);
    assert_eq!(report.agents.len(), 1);
    assert!(serde_json::to_string(&referee.coverage()).unwrap().contains("\"document\""));
}

#[tokio::test]
async fn pages_are_readable_in_every_encoding() {
    let ServedWeb { web, _server, .. } = serve(24, 240, Pace::at_once());
    let seen = crawl(&web).await;
    let charsets: HashSet<_> = web.hosts.iter().map(|host| host.charset.label()).collect();
    assert!(charsets.len() >= 7, "{charsets:?}");
    for id in web.indexable() {
        let html = unescape(&seen.documents[&web.url(id)]);
        let prose = prose::write(&web, id, 0);
        assert!(html.contains(&format!("<title>{}</title>", prose.title)), "{}", web.url(id));
        assert!(
            prose.paragraphs.iter().all(|paragraph| html.contains(paragraph)),
            "{}",
            web.url(id)
        );
    }
}

#[test]
fn the_same_plan_makes_the_same_web_and_another_seed_another() {
    let one = Web::generate(&plan(20, 300, 80)).unwrap();
    let two = Web::generate(&plan(20, 300, 80)).unwrap();
    let other = Web::generate(&WebPlan { seed: 43, ..plan(20, 300, 80) }).unwrap();
    for id in one.expected().wanted().keys() {
        assert_eq!(one.url(*id), two.url(*id));
        assert_eq!(
            one.answer(id.host, &Resource::Page(id.page)),
            two.answer(id.host, &Resource::Page(id.page))
        );
    }
    assert_eq!(one.expected().wanted(), two.expected().wanted());
    let urls = |web: &Web| urls(web, web.expected().wanted().keys());
    assert!(urls(&one).intersection(&urls(&other)).count() < 100);
}

#[test]
fn a_large_web_has_all_that_was_promised() {
    let mut plan = plan(240, 4_800, 80);
    plan.seeds = 5;
    let web = Web::generate(&plan).unwrap();
    let expected = web.expected();
    let documents = expected.count(Class::Document);
    assert!((4_800..5_200).contains(&documents), "{documents} documents");
    assert!(expected.deepest() <= 20, "{} links deep", expected.deepest());
    for class in [Class::File, Class::Redirect, Class::Error] {
        assert!(expected.count(class) > 100, "{class:?}: {}", expected.count(class));
    }
    assert!(expected.forbidden().len() > 100 && expected.noindex().len() > 10);

    let largest = web.hosts.iter().map(|host| host.tree).max().unwrap();
    assert!((40..=80).contains(&largest), "the largest host has {largest} documents");
    let away =
        |page: &site::Page, host| matches!(page.kind, Kind::Redirect { to, .. } if to.host != host);
    let away = web
        .hosts
        .iter()
        .enumerate()
        .filter(|(host, it)| it.pages.iter().any(|page| away(page, *host)));
    assert!(away.count() > 50, "redirects to other hosts");
    let languages: HashSet<_> = web.hosts.iter().map(Host::language).collect();
    assert!(languages.len() >= 14, "{languages:?}");
}

#[test]
fn marks_and_urls_are_unique() {
    let web = Web::generate(&plan(100, 2_000, 80)).unwrap();
    let marks: HashSet<_> = web.indexable().map(|id| prose::write(&web, id, 0).mark).collect();
    assert_eq!(marks.len(), web.indexable().count());
    let queries = web.queries();
    assert_eq!(queries.len(), 3);
    assert!(
        queries[1].text.contains(" site:") && queries[2].text.contains(" lang:"),
        "{queries:?}"
    );
    for host in &web.hosts {
        assert_eq!(host.by_path.len(), host.pages.len(), "{} has a path twice", host.name());
    }
}

#[test]
fn a_reader_of_the_text_recognises_the_language() {
    let web = Web::generate(&plan(64, 1_280, 80)).unwrap();
    let mut right: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for id in web.indexable() {
        let prose = prose::write(&web, id, 0);
        let found = whatlang::detect_lang(&prose.paragraphs.join(" ")).map(|lang| lang.code());
        let code = web.hosts[id.host].language();
        let names = [
            ("en", "eng"),
            ("el", "ell"),
            ("ru", "rus"),
            ("ar", "ara"),
            ("ja", "jpn"),
            ("zh", "cmn"),
            ("ko", "kor"),
            ("fr", "fra"),
            ("es", "spa"),
            ("de", "deu"),
            ("pt", "por"),
            ("it", "ita"),
            ("tr", "tur"),
            ("pl", "pol"),
        ];
        let wanted = names.iter().find(|(two, _)| *two == code).map(|(_, three)| *three);
        let count = right.entry(code).or_default();
        count.0 += u32::from(found == wanted);
        count.1 += 1;
    }
    assert_eq!(right.len(), 14);
    for (code, (right, all)) in right {
        assert!(right * 10 >= all * 9, "{code}: {right} of {all}");
    }
}

#[test]
fn a_page_changes_when_told_and_only_then() {
    let web = Web::generate(&plan(4, 40, 80)).unwrap();
    let page = Resource::Page(1);
    let other = Resource::Page(2);
    let before = (web.answer(3, &page), web.answer(3, &other));
    assert!(web.change(&web.url(PageId { host: 3, page: 1 })));
    assert!(!web.change("http://host-3.example/no/such/page"));
    assert!(!web.change("not a url"));
    let after = (web.answer(3, &page), web.answer(3, &other));
    assert_ne!(before.0.body, after.0.body);
    assert_ne!(before.0.etag, after.0.etag);
    assert_eq!(before.1, after.1);
    // The same title, so that the page is still the same page to a reader.
    let title = |version| prose::write(&web, PageId { host: 3, page: 1 }, version).title;
    assert_eq!(title(0), title(1));
}

#[test]
fn impossible_plans_are_refused() {
    let refused = |change: &dyn Fn(&mut WebPlan)| {
        let mut plan = plan(4, 40, 80);
        change(&mut plan);
        Web::generate(&plan).unwrap_err().to_string()
    };
    assert!(refused(&|plan| plan.seeds = 0).contains("0 seeds"));
    assert!(refused(&|plan| plan.seeds = 5).contains("5 seeds for 4 hosts"));
    assert!(refused(&|plan| plan.documents = 15).contains("15 documents"));
    assert!(
        refused(&|plan| plan.hosts[1].name = "host-0.example".to_owned())
            .contains("host-0.example")
    );
}

#[tokio::test]
async fn conditional_compressed_and_head_requests_are_answered_as_http_wants() {
    let ServedWeb { web, referee, _server } = serve(4, 40, Pace::at_once());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let at = format!("http://127.77.0.1:{}/", web.port());
    let plain = client.get(&at).send().await.unwrap();
    let etag = plain.headers()["etag"].clone();
    let length = plain.content_length().unwrap();
    assert_eq!(plain.bytes().await.unwrap().len() as u64, length);

    let unchanged = client.get(&at).header("if-none-match", &etag).send().await.unwrap();
    assert_eq!(unchanged.status(), 304);
    let zipped = client.get(&at).header("accept-encoding", "br, gzip;q=0.5").send().await.unwrap();
    assert_eq!(zipped.headers()["content-encoding"], "gzip");
    assert!(zipped.bytes().await.unwrap().len() as u64 * 10 < length * 8);
    let head = client.head(&at).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], length.to_string().as_str());
    let posted = client.post(&at).send().await.unwrap();
    assert_eq!(posted.status(), 405);

    let report = referee.report(&Rules { least_gap: Duration::ZERO });
    assert_eq!((report.probes, report.fetches), (1, 3));
    assert_eq!(report.repeats[0].times, 3);
    assert_eq!(report.fetched_twice, 1);
}

#[test]
fn a_host_is_told_by_its_name_and_address() {
    let mut plan = plan(4, 40, 80);
    plan.hosts[3].address = plan.hosts[2].address;
    let web = Web::generate(&plan).unwrap();
    let at = |number: usize| plan.hosts[number].address;
    assert_eq!(web.host_for(Some("HOST-1.example:80"), at(1)), Some(1));
    assert_eq!(web.host_for(Some("host-3.example"), at(3)), Some(3), "two hosts at one address");
    assert_eq!(web.host_for(None, at(3)), Some(2), "the first of an address");
    assert_eq!(web.host_for(Some("127.77.0.2:8080"), at(1)), Some(1), "an address is no name");
    assert_eq!(web.host_for(Some("host-1.example"), at(0)), None, "a name at another's address");
    assert_eq!(web.host_for(None, IpAddr::V4(Ipv4Addr::LOCALHOST)), None);
}

#[tokio::test]
async fn whoever_confuses_two_hosts_is_told() {
    let ServedWeb { web, _server, .. } = serve(4, 40, Pace::at_once());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let status = async |host: &str| {
        let request = client.get(format!("http://127.77.0.1:{}/", web.port())).header("host", host);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("host-0.example").await, 200);
    assert_eq!(status("host-2.example").await, 421);
}

#[tokio::test]
async fn an_imposed_pace_delays_each_answer_by_who_asks_whom() {
    let pace = Pace::imposed(|asker, host| {
        let near = asker == IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9));
        Duration::from_millis(if near { 5 } else { 60 } + host as u64 * 20)
    });
    let ServedWeb { web, _server, .. } = serve(4, 40, pace);
    let _ = rustls::crypto::ring::default_provider().install_default();
    // The shortest of several: on a busy machine some answers come late.
    let took = async |from: [u8; 4], host: usize| {
        let client = reqwest::Client::builder()
            .no_proxy()
            .local_address(IpAddr::from(from))
            .build()
            .unwrap();
        let url = format!("http://127.77.0.{}:{}/robots.txt", host + 1, web.port());
        let mut shortest = Duration::MAX;
        for _ in 0..10 {
            let start = std::time::Instant::now();
            client.head(&url).send().await.unwrap();
            shortest = shortest.min(start.elapsed());
        }
        shortest.as_millis()
    };
    assert!((25..55).contains(&took([127, 0, 0, 9], 1).await));
    assert!((80..120).contains(&took([127, 0, 0, 8], 1).await));
}
