//! A link graph whose pages are in the order of their URLs, cut into hosts.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use flate2::read::MultiGzDecoder;

use crate::noise::Noise;

/// Pages 0, 1, 2 and so on with their links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkGraph {
    /// End of the links of each page in `targets`.
    ends: Vec<usize>,
    targets: Vec<u32>,
}

impl LinkGraph {
    /// Reads an adjacency list: line n holds the successors of page n, separated by blanks. The
    /// file may be gzipped.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let unreadable = "cannot read the link graph";
        let plain = File::open(file).context(unreadable)?;
        let is_gzip = file.extension().is_some_and(|end| end == "gz");
        let bytes: Box<dyn Read> =
            if is_gzip { Box::new(MultiGzDecoder::new(plain)) } else { Box::new(plain) };
        let mut graph = Self { ends: Vec::new(), targets: Vec::new() };
        for (number, line) in BufReader::new(bytes).lines().enumerate() {
            for word in line.context(unreadable)?.split_ascii_whitespace() {
                let target = word.parse().with_context(|| {
                    let beginning: String = word.chars().take(32).collect();
                    format!("line {}: {beginning:?} is not the number of a page", number + 1)
                })?;
                graph.targets.push(target);
            }
            graph.ends.push(graph.targets.len());
        }
        graph.check()
    }

    fn check(self) -> anyhow::Result<Self> {
        let pages = self.len();
        ensure!(pages > 0, "there is no page");
        for page in 0..pages {
            if let Some(to) = self.links(page).iter().find(|to| **to as usize >= pages) {
                bail!("page {page} links to page {to}, and there are {pages}");
            }
        }
        Ok(self)
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no page.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Successors of a page.
    pub fn links(&self, page: usize) -> &[u32] {
        let from = page.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.targets[from..self.ends[page]]
    }

    /// Number of links to each page.
    pub fn in_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.len()];
        for target in &self.targets {
            degrees[*target as usize] += 1;
        }
        degrees
    }

    /// Pages in breadth-first order from the seeds, on one machine.
    pub fn breadth_first(&self, seeds: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.len()];
        let mut order: Vec<u32> = Vec::new();
        let mut reach = |page: u32, order: &mut Vec<u32>| {
            if !std::mem::replace(&mut seen[page as usize], true) {
                order.push(page);
            }
        };
        for seed in seeds {
            reach(*seed, &mut order);
        }
        let mut next = 0;
        while let Some(page) = order.get(next).copied() {
            next += 1;
            for target in self.links(page as usize) {
                reach(*target, &mut order);
            }
        }
        order
    }
}

/// First page of each host. URLs are in order, so the pages of a host are an interval; sizes follow
/// a Pareto distribution with exponent 1.1, as those of hosts do.
pub(super) fn hosts(pages: usize, hosts: usize, noise: Noise) -> Vec<u32> {
    let size = |host: usize| (1.0 - noise.uniform(&[host as u64])).powf(-1.0 / 1.1);
    let total: f64 = (0..hosts).map(size).sum();
    let mut firsts = vec![0];
    let mut reached = 0.0;
    for host in 0..hosts.saturating_sub(1) {
        reached += size(host);
        let first = (reached / total * pages as f64) as u32;
        // A host has at least one page.
        if firsts.last().is_some_and(|last| *last < first) && (first as usize) < pages {
            firsts.push(first);
        }
    }
    firsts
}
