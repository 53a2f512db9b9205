//! A small web: hosts whose pages can all be reached from each page of the host, and from the first
//! page of the first host.

use std::net::IpAddr;

use model::CrawlUrl;
use region::{HostAtAddress, HostPosition};

use crate::dice::Dice;

/// A page: host and number on the host.
pub(crate) type Page = (usize, usize);

pub(crate) struct Host {
    pub(crate) placed: HostAtAddress,
    pub(crate) urls: Vec<CrawlUrl>,
}

pub(crate) struct Web {
    pub(crate) hosts: Vec<Host>,
    /// Links of each page, by host and page.
    links: Vec<Vec<Vec<Page>>>,
}

impl Web {
    pub(crate) fn new(hosts: usize, dice: &mut Dice) -> Self {
        let sizes: Vec<usize> = (0..hosts).map(|_| dice.between(5, 40) as usize).collect();
        let mut links: Vec<Vec<Vec<Page>>> = Vec::new();
        for (host, size) in sizes.iter().enumerate() {
            // Page n is linked from an earlier page, and each page links to the first.
            let mut of_host = vec![vec![(host, 0)]; *size];
            for page in 1..*size {
                of_host[dice.index(page)].push((host, page));
            }
            links.push(of_host);
        }
        for host in 1..hosts {
            let from = dice.index(host);
            let page = dice.index(sizes[from]);
            links[from][page].push((host, 0));
        }
        for _ in 0..2 * hosts {
            let from = dice.index(hosts);
            let to = dice.index(hosts);
            let page = dice.index(sizes[from]);
            links[from][page].push((to, dice.index(sizes[to])));
        }
        let hosts = sizes.iter().enumerate().map(|(host, size)| Host::new(host, *size)).collect();
        Self { hosts, links }
    }

    pub(crate) fn links(&self, page: Page) -> &[Page] {
        &self.links[page.0][page.1]
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = Page> + '_ {
        let hosts = self.hosts.iter().enumerate();
        hosts.flat_map(|(host, of)| (0..of.urls.len()).map(move |page| (host, page)))
    }

    /// The page of a URL of this web.
    pub(crate) fn page(url: &CrawlUrl) -> Page {
        let host = url.host_key_str().trim_start_matches("http://h").split('.').next().unwrap();
        let page = url.path_and_query().trim_start_matches('/');
        (host.parse().unwrap(), page.parse().unwrap())
    }
}

impl Host {
    fn new(number: usize, pages: usize) -> Self {
        let url = |page| CrawlUrl::parse(&format!("http://h{number}.test/{page}")).unwrap();
        let urls: Vec<CrawlUrl> = (0..pages).map(url).collect();
        let position = HostPosition::of(urls[0].host_key_str());
        Self { placed: HostAtAddress { position, address: address(number) }, urls }
    }
}

/// Address of a host: each has a subnet of its own.
pub(crate) fn address(host: usize) -> IpAddr {
    IpAddr::from([10, 0, host as u8, 1])
}
