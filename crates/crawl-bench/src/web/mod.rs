//! A web of many hosts, the same for the same plan.
//!
//! The pages of a host form a tree with [`FAN_OUT`] children a page, so that every page can be
//! reached from the root; [`CROSS_LINKS`] random links a page lead elsewhere on the host.

mod answer;
mod links;
mod page;
mod words;

use std::net::Ipv4Addr;

pub use answer::{Answer, Form};
pub use links::{CROSS_LINKS, FAN_OUT, Links, links};
pub use words::Vocabulary;

/// The robots.txt of every host.
pub const ROBOTS: &str = "User-agent: *\nDisallow: /private/\n";

/// Path of a page that each root links to and robots.txt forbids.
pub const FORBIDDEN: &str = "/private/index.html";

/// Addresses in each /24 that hosts have.
const HOSTS_A_NET: u32 = 250;

/// The first address of the hosts, and the address of all of them where they share one.
const FIRST: Ipv4Addr = Ipv4Addr::new(127, 16, 0, 1);

/// A web to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct WebPlan {
    /// Number of hosts
    #[arg(long)]
    pub hosts: u32,
    /// Number of pages of each host
    #[arg(long)]
    pub pages: u32,
    /// Hosts have names and share one address; otherwise each host is its address
    #[arg(long)]
    pub one_address: bool,
    /// Answers are compressed for clients that accept gzip
    #[arg(long)]
    pub gzip: bool,
}

impl WebPlan {
    /// Name of a host as URLs have it, without the port.
    pub fn host_name(&self, host: u32) -> String {
        if self.one_address { format!("h{host}.test") } else { self.address(host).to_string() }
    }

    /// Where a host answers.
    pub fn address(&self, host: u32) -> Ipv4Addr {
        let net = host / HOSTS_A_NET;
        let own = host % HOSTS_A_NET;
        let offset = if self.one_address { 0 } else { (net << 8) + own };
        Ipv4Addr::from_bits(FIRST.to_bits() + offset)
    }

    /// The root of each host.
    pub fn seeds(&self, port: u16) -> Vec<String> {
        (0..self.hosts).map(|host| format!("http://{}:{port}/", self.host_name(host))).collect()
    }

    /// Number of all pages.
    pub fn all_pages(&self) -> u64 {
        u64::from(self.hosts) * u64::from(self.pages)
    }
}

/// Path of a page of a host, by its number.
pub fn path(page: u32) -> String {
    if page == 0 { "/".to_owned() } else { format!("/pages/{page}.html") }
}

/// The page of a path; none where the web has none.
pub fn page_of(path: &[u8]) -> Option<u32> {
    if path == b"/" {
        return Some(0);
    }
    let digits = path.strip_prefix(b"/pages/")?.strip_suffix(b".html")?;
    let canonical = digits.first().is_some_and(|first| (b'1'..=b'9').contains(first));
    if !canonical || digits.len() > 9 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

/// A web with all its answers.
#[derive(Debug)]
pub struct Web {
    plan: WebPlan,
    /// Answers by host, then by page.
    answers: Vec<Answer>,
    robots: Answer,
}

impl Web {
    /// Writes all pages.
    pub fn make(plan: WebPlan) -> std::io::Result<Self> {
        let vocabulary = Vocabulary::new();
        let mut answers = Vec::with_capacity(plan.all_pages() as usize);
        for host in 0..plan.hosts {
            for page in 0..plan.pages {
                let html = page::html(&vocabulary, host, page, plan.pages);
                answers.push(Answer::new("text/html; charset=utf-8", html.as_bytes(), plan.gzip)?);
            }
        }
        let robots = Answer::new("text/plain", ROBOTS.as_bytes(), false)?;
        Ok(Self { plan, answers, robots })
    }

    /// What this web was made from.
    pub fn plan(&self) -> &WebPlan {
        &self.plan
    }

    /// The answer with a page; none where the host has no such page.
    pub fn page(&self, host: u32, page: u32) -> Option<&Answer> {
        let known = host < self.plan.hosts && page < self.plan.pages;
        let index = u64::from(host) * u64::from(self.plan.pages) + u64::from(page);
        known.then(|| self.answers.get(index as usize)).flatten()
    }

    /// The answer with robots.txt, which is the same for all hosts.
    pub fn robots(&self) -> &Answer {
        &self.robots
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PLAN: WebPlan = WebPlan { hosts: 3, pages: 700, one_address: false, gzip: false };

    /// Targets of the links of a page, as a crawler reads them.
    fn targets(html: &str) -> BTreeSet<&str> {
        html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    #[test]
    fn every_page_can_be_reached_from_the_root() {
        let vocabulary = Vocabulary::new();
        let mut reached = BTreeSet::new();
        let mut waiting = vec![0];
        while let Some(page) = waiting.pop() {
            if !reached.insert(page) {
                continue;
            }
            let html = page::html(&vocabulary, 1, page, PLAN.pages);
            for target in targets(&html) {
                match page_of(target.as_bytes()) {
                    Some(page) => waiting.push(page),
                    None => assert_eq!((page, target), (0, FORBIDDEN), "a link into nothing"),
                }
            }
        }
        assert_eq!(reached, (0..PLAN.pages).collect());
    }

    #[test]
    fn the_same_plan_makes_the_same_web() {
        let plan = WebPlan { pages: 5, ..PLAN };
        let first = Web::make(plan).unwrap();
        let second = Web::make(plan).unwrap();
        for host in 0..plan.hosts {
            for page in 0..plan.pages {
                assert_eq!(first.page(host, page), second.page(host, page));
            }
        }
        assert_ne!(first.page(0, 1), first.page(1, 1));
        assert_eq!(first.page(0, plan.pages), None);
    }

    #[test]
    fn paths_are_canonical() {
        for page in [0, 1, 9, 10, 19_999] {
            assert_eq!(page_of(path(page).as_bytes()), Some(page));
        }
        for stranger in ["", "/pages/0.html", "/pages/01.html", "/pages/x.html", "/robots.txt"] {
            assert_eq!(page_of(stranger.as_bytes()), None, "{stranger}");
        }
    }

    #[test]
    fn hosts_have_different_addresses_unless_they_share_one() {
        let plan = WebPlan { hosts: 2_000, ..PLAN };
        let addresses: BTreeSet<_> = (0..2_000).map(|host| plan.address(host)).collect();
        assert_eq!(addresses.len(), 2_000);
        assert!(addresses.iter().all(Ipv4Addr::is_loopback));
        let shared = WebPlan { one_address: true, ..plan };
        assert_eq!(shared.address(0), shared.address(1_999));
        assert_ne!(shared.host_name(0), shared.host_name(1));
    }
}
