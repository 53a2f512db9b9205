//! Block → entries, from bytes that may come from a dishonest agent: every column may be too short,
//! and a small block must not inflate to large entries.

use std::slice::Iter;

use model::{ErrorKind, UnixMillis, url::MAX_BYTES};

use super::columns::{DifferenceReader, SortedReader, TextReader};
use super::{Block, BlockError, Discoveries, Fetches, OutcomeKind, Pages, Timings};
use super::{TrendKind, flag};
use crate::limits;
use crate::page::{
    ContentHash, DisallowedBy, Discovered, Entry, Failure, Fetch, Link, Outcome, Page, Timing,
    Trend,
};

/// The entries of the block that is `bytes`, in their order. `budget` is the memory that they may
/// take, and is reduced by what they take.
pub(in crate::package) fn decode(bytes: &[u8], budget: &mut u64) -> Result<Vec<Entry>, BlockError> {
    let mut entries = Vec::new();
    let mut add = |entry: Entry| {
        if !entry.charge(budget) {
            return Err(BlockError::Expands);
        }
        entries.push(entry);
        Ok(())
    };
    let (block, rest) = postcard::take_from_bytes(bytes).map_err(BlockError::Format)?;
    if !rest.is_empty() {
        return Err(BlockError::Column);
    }
    // The values of an entry take far more memory than its bytes in the columns.
    let count = count(&block);
    if count > limits::PACKAGE_ENTRIES as usize {
        return Err(BlockError::Entries(count));
    }
    match block {
        Block::Fetches(block) => {
            // Each link within the host takes its length, and the links of a page are in memory
            // before the budget counts them.
            if block.host.len() > MAX_BYTES {
                return Err(BlockError::Host(block.host.len()));
            }
            let mut reader = FetchReader::new(&block);
            while let Some(fetch) = reader.take()? {
                add(Entry::Fetch(Box::new(fetch)))?;
            }
        }
        Block::Discovered(block) => discovered(&block, add)?,
    }
    Ok(entries)
}

/// Entries of a block, by the column that marks its end.
fn count(block: &Block) -> usize {
    match block {
        Block::Fetches(fetches) => fetches.outcomes.len(),
        Block::Discovered(found) => found.redirects.len(),
    }
}

fn discovered(
    block: &Discoveries,
    mut add: impl FnMut(Entry) -> Result<(), BlockError>,
) -> Result<(), BlockError> {
    let mut urls = block.urls.reader();
    if block.redirects.len() != block.handed_back.len() {
        return Err(BlockError::Column);
    }
    for (redirects, handed_back) in block.redirects.iter().zip(&block.handed_back) {
        let url = urls.take()?.to_owned();
        let found = Discovered { url, redirects: *redirects, handed_back: *handed_back };
        add(Entry::Discovered(found))?;
    }
    Ok(())
}

/// Reads the fetches of a block.
struct FetchReader<'a> {
    block: &'a Fetches,
    paths: SortedReader<'a>,
    fetched_at: DifferenceReader<'a>,
    address: Iter<'a, u32>,
    wire_bytes: Iter<'a, u64>,
    has_timing: Iter<'a, bool>,
    timings: TimingReader<'a>,
    outcomes: Iter<'a, OutcomeKind>,
    status: Iter<'a, u16>,
    causes: Iter<'a, ErrorKind>,
    trends: Iter<'a, TrendKind>,
    slowdowns: Iter<'a, f64>,
    details: TextReader<'a>,
    pages: PageReader<'a>,
}

impl<'a> FetchReader<'a> {
    fn new(block: &'a Fetches) -> Self {
        Self {
            block,
            paths: block.paths.reader(),
            fetched_at: block.fetched_at.reader(),
            address: block.address.iter(),
            wire_bytes: block.wire_bytes.iter(),
            has_timing: block.has_timing.iter(),
            timings: TimingReader::new(&block.timings),
            outcomes: block.outcomes.iter(),
            status: block.status.iter(),
            causes: block.causes.iter(),
            trends: block.trends.iter(),
            slowdowns: block.slowdowns.iter(),
            details: block.details.reader(),
            pages: PageReader::new(&block.pages, &block.host),
        }
    }

    /// The next fetch; none at the end of the block, which its outcomes mark.
    fn take(&mut self) -> Result<Option<Fetch>, BlockError> {
        let Some(kind) = self.outcomes.next() else { return Ok(None) };
        let address = match next(&mut self.address)? {
            0 => None,
            number => Some(at(&self.block.addresses, number - 1)?),
        };
        let timing = next(&mut self.has_timing)?.then(|| self.timings.take()).transpose()?;
        Ok(Some(Fetch {
            url: format!("{}{}", self.block.host, self.paths.take()?),
            fetched_at: UnixMillis(self.fetched_at.take()?),
            address,
            timing,
            wire_bytes: next(&mut self.wire_bytes)?,
            outcome: self.outcome(*kind)?,
            trend: self.trend()?,
        }))
    }

    fn outcome(&mut self, kind: OutcomeKind) -> Result<Outcome, BlockError> {
        Ok(match kind {
            OutcomeKind::Page => Outcome::Page(self.pages.take()?),
            OutcomeKind::Redirect => {
                Outcome::Redirect { status: self.status()?, location: self.detail()? }
            }
            OutcomeKind::Untyped => Outcome::Other { status: self.status()?, media_type: None },
            OutcomeKind::Other => {
                Outcome::Other { status: self.status()?, media_type: Some(self.detail()?) }
            }
            OutcomeKind::RobotsTxt => Outcome::Disallowed { by: DisallowedBy::RobotsTxt },
            OutcomeKind::NoIndex => Outcome::Disallowed { by: DisallowedBy::NoIndex },
            OutcomeKind::Unchanged => Outcome::Unchanged { status: self.status()? },
            OutcomeKind::Failed => {
                Outcome::Failed(Failure { cause: next(&mut self.causes)?, reason: self.detail()? })
            }
        })
    }

    fn status(&mut self) -> Result<u16, BlockError> {
        next(&mut self.status)
    }

    fn detail(&mut self) -> Result<String, BlockError> {
        self.details.take().map(str::to_owned)
    }

    fn trend(&mut self) -> Result<Option<Trend>, BlockError> {
        Ok(match next(&mut self.trends)? {
            TrendKind::None => None,
            TrendKind::Usual => Some(Trend::Usual),
            TrendKind::Slow => Some(Trend::Slow),
            TrendKind::Slower => Some(Trend::Slower { ratio: next(&mut self.slowdowns)? }),
        })
    }
}

/// Reads the durations of fetches.
struct TimingReader<'a> {
    connect: Iter<'a, u32>,
    tcp: DifferenceReader<'a>,
    first_byte: Iter<'a, u32>,
    rest: Iter<'a, i64>,
}

impl<'a> TimingReader<'a> {
    fn new(timings: &'a Timings) -> Self {
        Self {
            connect: timings.connect.iter(),
            tcp: timings.tcp.reader(),
            first_byte: timings.first_byte.iter(),
            rest: timings.rest.iter(),
        }
    }

    fn take(&mut self) -> Result<Timing, BlockError> {
        let micros = |value: i64| u32::try_from(value).map_err(|_| BlockError::Column);
        let first_byte_us = next(&mut self.first_byte)?;
        let rest = next(&mut self.rest)?;
        let total = rest.checked_add(first_byte_us.into()).ok_or(BlockError::Column)?;
        Ok(Timing {
            connect_us: next(&mut self.connect)?,
            tcp_us: micros(self.tcp.take()?)?,
            first_byte_us,
            total_us: micros(total)?,
        })
    }
}

/// Reads the content of pages.
struct PageReader<'a> {
    /// Scheme and authority of links within the host.
    host: &'a str,
    status: Iter<'a, u16>,
    media_types: TextReader<'a>,
    charsets: TextReader<'a>,
    languages: TextReader<'a>,
    sha256: Iter<'a, [u8; 32]>,
    titles: TextReader<'a>,
    canonical: TextReader<'a>,
    max_snippet: Iter<'a, Option<u32>>,
    link_count: Iter<'a, u32>,
    link_flags: Iter<'a, u8>,
    link_targets: TextReader<'a>,
    anchors: TextReader<'a>,
    texts: TextReader<'a>,
    headings: TextReader<'a>,
}

impl<'a> PageReader<'a> {
    fn new(pages: &'a Pages, host: &'a str) -> Self {
        Self {
            host,
            status: pages.status.iter(),
            media_types: pages.media_types.reader(),
            charsets: pages.charsets.reader(),
            languages: pages.languages.reader(),
            sha256: pages.sha256.iter(),
            titles: pages.titles.reader(),
            canonical: pages.canonical.reader(),
            max_snippet: pages.max_snippet.iter(),
            link_count: pages.link_count.iter(),
            link_flags: pages.link_flags.iter(),
            link_targets: pages.link_targets.reader(),
            anchors: pages.anchors.reader(),
            texts: pages.texts.reader(),
            headings: pages.headings.reader(),
        }
    }

    fn take(&mut self) -> Result<Page, BlockError> {
        let optional = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Ok(Page {
            status: next(&mut self.status)?,
            media_type: self.media_types.take()?.to_owned(),
            charset: self.charsets.take()?.to_owned(),
            lang: optional(self.languages.take()?),
            title: self.titles.take()?.to_owned(),
            headings: self.headings.take()?.to_owned(),
            text: self.texts.take()?.to_owned(),
            sha256: ContentHash(next(&mut self.sha256)?),
            canonical: optional(self.canonical.take()?),
            max_snippet: next(&mut self.max_snippet)?,
            links: self.links()?,
        })
    }

    fn links(&mut self) -> Result<Vec<Link>, BlockError> {
        let count = next(&mut self.link_count)?;
        if count > limits::PAGE_LINKS {
            return Err(BlockError::Links(count));
        }
        (0..count).map(|_| self.link()).collect()
    }

    fn link(&mut self) -> Result<Link, BlockError> {
        let flags = next(&mut self.link_flags)?;
        let host = if flags & flag::SAME_HOST == 0 { "" } else { self.host };
        Ok(Link {
            url: format!("{host}{}", self.link_targets.take()?),
            anchor: self.anchors.take()?.to_owned(),
            nofollow: flags & flag::NOFOLLOW != 0,
            ugc: flags & flag::UGC != 0,
            sponsored: flags & flag::SPONSORED != 0,
        })
    }
}

fn next<T: Copy>(column: &mut Iter<'_, T>) -> Result<T, BlockError> {
    column.next().copied().ok_or(BlockError::Column)
}

fn at<T: Copy>(column: &[T], number: u32) -> Result<T, BlockError> {
    column.get(number as usize).copied().ok_or(BlockError::Column)
}

#[cfg(test)]
mod tests {
    use super::super::blocks;
    use super::*;

    #[test]
    fn the_entries_of_a_package_take_bounded_memory() {
        let url = "http://a.example/".to_owned();
        let entry = Entry::Discovered(Discovered { url, redirects: 0, handed_back: false });
        let size = entry.size() as u64;
        let block = &blocks(&[entry.clone(), entry.clone()])[0];
        let mut budget = 2 * size;
        assert_eq!(decode(block, &mut budget).unwrap(), [entry.clone(), entry]);
        assert_eq!(budget, 0);
        let mut budget = 2 * size - 1;
        assert!(matches!(decode(block, &mut budget), Err(BlockError::Expands)));
    }

    #[test]
    fn a_block_with_more_entries_than_a_package_is_refused() {
        let most = limits::PACKAGE_ENTRIES as usize;
        let bytes = |entries| {
            let outcomes = vec![OutcomeKind::RobotsTxt; entries];
            let block = Block::Fetches(Box::new(Fetches { outcomes, ..Fetches::default() }));
            postcard::to_allocvec(&block).unwrap()
        };
        let refusal = |entries| decode(&bytes(entries), &mut 0).unwrap_err();
        assert!(matches!(refusal(most), BlockError::Column), "the other columns are missing");
        assert!(matches!(refusal(most + 1), BlockError::Entries(found) if found == most + 1));
    }
}
