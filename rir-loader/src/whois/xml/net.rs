//! The addresses of an ARIN net: one span, and the blocks it is made of.

use hierarchy::Range;

use super::element::End;
use crate::rejects::shown;
use crate::whois::address::{RangeFault, parse_ends};
use crate::whois::fault::Fault;

/// Blocks that are kept of a net; the largest has a few dozen.
const MOST: usize = 1024;

/// What is said of a net's addresses. It serves for all nets of a document, so that nothing is
/// allocated for most of them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    outer: Ends,
    /// The first `closed` are whole, the next is being read.
    parts: Vec<Ends>,
    closed: usize,
    kind: Vec<u8>,
    ranges: Vec<Range>,
}

#[derive(Debug, Default)]
struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Ends {
    fn clear(&mut self) {
        self.first.clear();
        self.last.clear();
    }

    fn set(&mut self, end: End, text: &[u8]) {
        let held = match end {
            End::First => &mut self.first,
            End::Last => &mut self.last,
        };
        held.clear();
        held.extend_from_slice(text);
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.last.is_empty()
    }

    fn text(&self) -> String {
        format!(
            "{} - {}",
            String::from_utf8_lossy(&self.first),
            String::from_utf8_lossy(&self.last)
        )
    }

    fn range(&self) -> Result<Range, Fault> {
        let ends = str::from_utf8(&self.first).ok().zip(str::from_utf8(&self.last).ok());
        let range = ends.ok_or(RangeFault::Text).and_then(|(first, last)| parse_ends(first, last));
        range.map_err(|fault| Fault::Range { text: shown(self.text().as_bytes()), fault })
    }
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        self.outer.clear();
        self.closed = 0;
        self.open().clear();
        self.kind.clear();
    }

    /// The block that is being read.
    fn open(&mut self) -> &mut Ends {
        if self.parts.len() == self.closed {
            self.parts.push(Ends::default());
        }
        &mut self.parts[self.closed]
    }

    pub(super) fn outer(&mut self, end: End, text: &[u8]) {
        self.outer.set(end, text);
    }

    pub(super) fn part(&mut self, end: End, text: &[u8]) {
        self.open().set(end, text);
    }

    /// The type of a block; that of the first counts.
    pub(super) fn kind(&mut self, text: &[u8]) {
        if self.kind.is_empty() {
            self.kind.extend_from_slice(text);
        }
    }

    pub(super) fn end_block(&mut self) {
        if !self.open().is_empty() && self.closed < MOST {
            self.closed += 1;
        }
        self.open().clear();
    }

    /// The span where the blocks fill it or there are none, else each block: a net with a hole is
    /// several ranges.
    pub(super) fn ranges(&mut self) -> Result<&[Range], Fault> {
        self.ranges.clear();
        for block in &self.parts[..self.closed] {
            self.ranges.push(block.range()?);
        }
        if self.outer.is_empty() {
            return if self.ranges.is_empty() { Err(Fault::NoRange) } else { Ok(&self.ranges) };
        }
        let outer = self.outer.range()?;
        let filled =
            self.ranges.iter().fold(0_u128, |sum, block| sum.saturating_add(block.addresses()));
        if self.ranges.is_empty() || filled >= outer.addresses() {
            self.ranges.clear();
            self.ranges.push(outer);
        }
        Ok(&self.ranges)
    }

    /// The type of the first block in the words of ARIN's text form, as its stylesheet translates
    /// them.
    pub(super) fn status(&self) -> Option<&'static str> {
        Some(match self.kind.as_slice() {
            b"DS" | b"IU" => "assignment",
            b"DA" => "allocation",
            b"A" => "reallocation",
            b"S" => "reassignment",
            b"IR" => "reserved",
            b"AF" | b"AP" | b"AR" | b"AV" | b"FX" | b"LN" | b"LX" | b"PV" | b"PX" | b"RN"
            | b"RV" | b"RX" => "rir",
            _ => return None,
        })
    }

    /// For a message.
    pub(super) fn shown(&self) -> String {
        if self.outer.is_empty() {
            self.parts.first().map(Ends::text).unwrap_or_default()
        } else {
            self.outer.text()
        }
    }
}
