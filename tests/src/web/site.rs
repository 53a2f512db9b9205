//! Structure of the web: hosts, pages and links.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Mutex;

use url::Url;

use super::charset::{Charset, CharsetLocation};
use super::expected::ExpectedCrawl;
use super::href::Style;
use super::language::Language;
use super::plan::{HostPlan, WebError, WebPlan};
use super::robots::Robots;
use super::{cross, extras, reach, trees};

/// A page of the web, by the positions of its host and of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    /// Index into [`Web::hosts`].
    pub host: usize,
    /// Index among the host's pages; 0 is its root document.
    pub page: usize,
}

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// HTML with text and links; `noindex` asks search engines to leave it out.
    Document { noindex: bool },
    /// Something that is not HTML.
    File(FileKind),
    /// Leads elsewhere, with this status.
    Redirect { status: u16, to: PageId },
    /// 404, 410 or 500.
    Error { status: u16 },
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Text,
    Picture,
    Paper,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Goal {
    Page(PageId),
    /// Not a page of this web, written as it is: mail addresses, scripts, hosts that do not exist.
    Elsewhere(String),
}

/// A link in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) to: Goal,
    pub(super) style: Style,
}

/// A URL of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// Path and query as they stand in a normalised URL.
    pub(super) path: String,
    pub(super) kind: Kind,
    /// Whether robots.txt lets our crawler have it.
    pub(super) allowed: bool,
    pub(super) links: Vec<Link>,
    /// Pages that only a reader of comments and scripts would take for linked.
    pub(super) decoys: Vec<PageId>,
}

impl Page {
    pub(super) fn new(path: String, kind: Kind) -> Self {
        Self { path, kind, allowed: true, links: Vec::new(), decoys: Vec::new() }
    }
}

/// One host of the web.
#[derive(Debug)]
pub struct Host {
    pub(super) plan: HostPlan,
    pub(super) language: &'static Language,
    pub(super) charset: Charset,
    pub(super) announced: CharsetLocation,
    pub(super) robots: Robots,
    /// The first pages, as many as this, are the documents of the tree.
    pub(super) tree: usize,
    /// Number of pages of the hosts before this one.
    pub(super) first: usize,
    pub(super) pages: Vec<Page>,
    pub(super) by_path: HashMap<String, usize>,
}

impl Host {
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// Where it answers.
    pub fn address(&self) -> IpAddr {
        self.plan.address
    }

    /// Language of its documents, ISO 639-1.
    pub fn language(&self) -> &'static str {
        self.language.code
    }

    /// What robots.txt asks to wait between requests, in seconds.
    pub fn crawl_delay_s(&self) -> Option<u32> {
        self.robots.crawl_delay_s
    }

    /// Adds a page and gives its index.
    pub(super) fn add(&mut self, page: Page) -> usize {
        self.by_path.insert(page.path.clone(), self.pages.len());
        self.pages.push(page);
        self.pages.len() - 1
    }
}

/// What a path of a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    Page(usize),
    Robots,
    Sitemap,
    /// Nothing that the web has.
    Nothing,
}

/// The whole web.
#[derive(Debug)]
pub struct Web {
    pub(super) hosts: Vec<Host>,
    pub(super) seed: u64,
    pub(super) port: u16,
    seeds: usize,
    expected: ExpectedCrawl,
    by_name: HashMap<String, usize>,
    by_address: HashMap<IpAddr, usize>,
    versions: Mutex<HashMap<PageId, u32>>,
}

impl Web {
    /// Makes the web of a plan: the same for the same plan.
    pub fn generate(plan: &WebPlan) -> Result<Self, WebError> {
        plan.check()?;
        let mut hosts = trees::hosts(plan);
        for number in 0..hosts.len() {
            extras::add(&mut hosts, number, plan);
        }
        cross::tie(&mut hosts, plan);
        hosts.iter_mut().fold(0, |first, host| {
            host.first = first;
            first + host.pages.len()
        });
        let by_name =
            hosts.iter().enumerate().map(|(n, host)| (host.plan.name.clone(), n)).collect();
        // From the last to the first, so that the first host of an address stays.
        let by_address =
            hosts.iter().enumerate().rev().map(|(n, host)| (host.plan.address, n)).collect();
        let seed = plan.seed;
        let port = plan.port;
        let seeds = plan.seeds;
        let expected = reach::expected(&hosts, seeds)?;
        Ok(Self {
            hosts,
            seed,
            port,
            seeds,
            expected,
            by_name,
            by_address,
            versions: Mutex::default(),
        })
    }

    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Where a crawl starts.
    pub fn seeds(&self) -> Vec<Url> {
        (0..self.seeds)
            .filter_map(|host| Url::parse(&self.url(PageId { host, page: 0 })).ok())
            .collect()
    }

    /// What a perfectly behaved crawler fetches.
    pub fn expected(&self) -> &ExpectedCrawl {
        &self.expected
    }

    /// Names and addresses for a DNS server.
    pub fn names(&self) -> BTreeMap<String, Vec<IpAddr>> {
        self.hosts.iter().map(|host| (host.plan.name.clone(), vec![host.plan.address])).collect()
    }

    /// The port in every URL.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A page's URL, normalised.
    pub fn url(&self, id: PageId) -> String {
        let path = self.page(id).map_or("/", |page| page.path.as_str());
        format!("{}{path}", self.origin(id.host))
    }

    /// The host that answers at an address for a `Host` header; for a header that names none of
    /// ours, the first host of the address. None when the named host is at another address: whoever
    /// asks has confused two of them.
    pub fn host_for(&self, header: Option<&str>, local: IpAddr) -> Option<usize> {
        let name = header.map(|header| header.rsplit_once(':').map_or(header, |(name, _)| name));
        match name.and_then(|name| self.by_name.get(&name.to_ascii_lowercase())) {
            Some(named) => Some(*named).filter(|named| self.hosts[*named].plan.address == local),
            None => self.by_address.get(&local).copied(),
        }
    }

    /// What a request's path and query are on a host.
    pub fn what(&self, host: usize, path: &str) -> Resource {
        match path {
            "/robots.txt" => Resource::Robots,
            "/sitemap.xml" => Resource::Sitemap,
            path => {
                let page = self.hosts.get(host).and_then(|host| host.by_path.get(path));
                page.map_or(Resource::Nothing, |page| Resource::Page(*page))
            }
        }
    }

    /// Tells a page to be different from now on; false when the URL is not of this web.
    pub fn change(&self, url: &str) -> bool {
        let Some(id) = self.find(url) else { return false };
        *self.versions().entry(id).or_insert(0) += 1;
        true
    }

    /// How many times a page was told to change.
    pub(super) fn version(&self, id: PageId) -> u32 {
        self.versions().get(&id).copied().unwrap_or(0)
    }

    pub(super) fn page(&self, id: PageId) -> Option<&Page> {
        self.hosts.get(id.host)?.pages.get(id.page)
    }

    /// Scheme and authority of a host, without a slash at the end.
    pub(super) fn origin(&self, host: usize) -> String {
        let name = self.hosts.get(host).map_or("", Host::name);
        if self.port == 80 {
            format!("http://{name}")
        } else {
            format!("http://{name}:{}", self.port)
        }
    }

    fn find(&self, url: &str) -> Option<PageId> {
        let url = Url::parse(url).ok()?;
        let host = *self.by_name.get(url.host_str()?)?;
        let page = *self.hosts[host]
            .by_path
            .get(&url[url::Position::BeforePath..url::Position::AfterQuery])?;
        Some(PageId { host, page })
    }

    fn versions(&self) -> std::sync::MutexGuard<'_, HashMap<PageId, u32>> {
        self.versions.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
