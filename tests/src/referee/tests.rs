//! Tests of the records with given times.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::records::FetchRecords;
use super::{Rules, judge};
use crate::web::{Class, HostPlan, PageId, Resource, Web, WebPlan};

const MS: Duration = Duration::from_millis(1);

fn web() -> Arc<Web> {
    let host = |number: u8| HostPlan {
        name: format!("h{number}.example"),
        address: IpAddr::from([192, 0, 2, number]),
        country: "CY".to_owned(),
        city: "Limassol".to_owned(),
    };
    let hosts = (0..6).map(host).collect();
    let plan = WebPlan {
        hosts,
        seeds: 1,
        documents: 120,
        port: 80,
        dead_names: 0,
        slow_hosts: 0,
        seed: 1,
    };
    Arc::new(Web::generate(&plan).unwrap())
}

/// A crawl of our own making, at made-up times.
struct Crawl {
    web: Arc<Web>,
    records: FetchRecords,
    now: Instant,
}

impl Crawl {
    fn start() -> Self {
        let web = web();
        let now = Instant::now();
        Self { records: FetchRecords::new(web.hosts().len(), now), web, now }
    }

    fn get(&mut self, host: usize, what: &Resource, status: u16) {
        let agent = IpAddr::from([198, 51, 100, 1]);
        self.records.begin(self.now, agent, host, what, "/?");
        self.now += 3 * MS;
        self.records.answered(host, what, status);
        self.records.end(self.now, host);
    }

    fn page(&mut self, id: PageId, status: u16) {
        self.get(id.host, &Resource::Page(id.page), status);
    }

    fn all(&mut self) {
        for host in 0..self.web.hosts().len() {
            self.get(host, &Resource::Robots, 200);
            self.now += 100 * MS;
        }
        let wanted: Vec<_> =
            self.web.expected().wanted().iter().map(|(id, class)| (*id, *class)).collect();
        for (id, class) in wanted {
            self.page(id, if class == Class::Error { 500 } else { 200 });
            self.now += 100 * MS;
        }
    }

    fn report(&self) -> super::Report {
        judge::report(&self.web, &self.records, &Rules { least_gap: 100 * MS })
    }
}

fn first(web: &Web, class: Class) -> PageId {
    *web.expected().wanted().iter().find(|(_, found)| **found == class).unwrap().0
}

#[test]
fn a_complete_and_polite_crawl_has_no_fault() {
    let mut crawl = Crawl::start();
    crawl.all();
    let report = crawl.report();
    assert_eq!(report.faults(), Vec::<String>::new());
    assert!(report.coverage.is_complete());
    assert!((report.smallest_gap.as_ref().unwrap().ms - 100.0).abs() < 0.001);
    assert!(report.to_string().starts_with("coverage 100.00 %"), "{report}");
}

#[test]
fn every_fault_is_named() {
    let mut crawl = Crawl::start();
    crawl.all();
    let web = Arc::clone(&crawl.web);
    let agent = IpAddr::from([198, 51, 100, 2]);
    let document = first(&web, Class::Document);
    let error = first(&web, Class::Error);
    let forbidden = *web.expected().forbidden().iter().next().unwrap();
    let known = |page: usize| web.expected().wanted().contains_key(&PageId { host: 0, page });
    let hidden = (0..1_000).find(|page| {
        !known(*page) && !web.expected().forbidden().contains(&PageId { host: 0, page: *page })
    });
    let faults = |change: &dyn Fn(&mut Crawl)| {
        let mut crawl = Crawl::start();
        crawl.all();
        change(&mut crawl);
        crawl.report().faults().join("\n")
    };
    assert!(faults(&|c| c.page(document, 200)).contains("fetched twice"));
    assert!(
        !faults(&|c| {
            c.now += 100 * MS;
            c.page(error, 500);
        })
        .contains("fetched twice"),
        "a retry is none"
    );
    assert!(faults(&|c| c.page(forbidden, 200)).contains(&web.url(forbidden)));
    assert!(
        faults(&|c| c.page(PageId { host: 0, page: hidden.unwrap() }, 200)).contains("made up")
    );
    assert!(faults(&|c| c.get(2, &Resource::Nothing, 404)).contains("made up"));
    assert!(faults(&|c| c.get(2, &Resource::Robots, 200)).contains("robots.txt again"));
    assert!(
        faults(&|c| {
            c.page(error, 500);
            c.page(error, 500);
        })
        .contains("hurried")
    );
    let twice = faults(&|c| {
        c.records.begin(c.now, agent, 1, &Resource::Robots, "/robots.txt");
        c.records.begin(c.now, agent, 1, &Resource::Robots, "/robots.txt");
    });
    assert!(twice.contains("several requests at once"), "{twice}");
    let empty = Crawl::start().report().faults().join("\n");
    assert!(
        empty.contains("expected URLs were not fetched, such as http://h0.example/"),
        "{empty}"
    );
}

#[test]
fn a_page_without_a_look_at_robots_is_a_fault() {
    let mut crawl = Crawl::start();
    crawl.page(PageId { host: 0, page: 0 }, 200);
    assert_eq!(crawl.report().without_robots, ["h0.example"]);
}
