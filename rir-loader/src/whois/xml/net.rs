//! The addresses of an ARIN net: one span, and the blocks it is made of.

use hierarchy::Range;

use crate::rejects::shown;
use crate::whois::address::{RangeFault, parse_range};
use crate::whois::fault::Fault;

/// Blocks that are kept of a net; the largest has a few dozen.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Blocks {
    outer: Ends,
    open: Ends,
    closed: Vec<Ends>,
    kind: String,
}

#[derive(Debug, Default, Clone)]
struct Ends {
    first: String,
    last: String,
}

impl Ends {
    fn set(&mut self, part: &[u8], text: &[u8]) {
        let end = match part {
            b"startAddress" => &mut self.first,
            b"endAddress" => &mut self.last,
            _ => return,
        };
        end.clear();
        end.push_str(&String::from_utf8_lossy(text));
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.last.is_empty()
    }

    fn text(&self) -> String {
        format!("{} - {}", self.first, self.last)
    }

    fn range(&self) -> Result<Range, Fault> {
        let text = self.text();
        parse_range(&text).map_err(|fault: RangeFault| Fault::Range { text: shown(text.as_bytes()), fault })
    }
}

impl Blocks {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn outer(&mut self, part: &[u8], text: &[u8]) {
        self.outer.set(part, text);
    }

    pub(super) fn part(&mut self, part: &[u8], text: &[u8]) {
        if part == b"type" && self.kind.is_empty() {
            self.kind = String::from_utf8_lossy(text).into_owned();
        }
        self.open.set(part, text);
    }

    pub(super) fn end_block(&mut self) {
        let block = std::mem::take(&mut self.open);
        if !block.is_empty() && self.closed.len() < MOST {
            self.closed.push(block);
        }
    }

    /// The span where the blocks fill it or there are none, else each block: a net with a hole is several ranges.
    pub(super) fn ranges(&self) -> Result<Vec<Range>, Fault> {
        let blocks: Vec<Range> = self.closed.iter().map(Ends::range).collect::<Result<_, _>>()?;
        if self.outer.is_empty() {
            return if blocks.is_empty() { Err(Fault::NoRange) } else { Ok(blocks) };
        }
        let outer = self.outer.range()?;
        let filled = blocks.iter().fold(0_u128, |sum, block| sum.saturating_add(block.addresses()));
        let whole = blocks.is_empty() || filled >= outer.addresses();
        Ok(if whole { vec![outer] } else { blocks })
    }

    /// The type of the first block in the words of ARIN's text form, as its stylesheet translates them.
    pub(super) fn status(&self) -> Option<&'static str> {
        Some(match self.kind.as_str() {
            "DS" | "IU" => "assignment",
            "DA" => "allocation",
            "A" => "reallocation",
            "S" => "reassignment",
            "IR" => "reserved",
            "AF" | "AP" | "AR" | "AV" | "FX" | "LN" | "LX" | "PV" | "PX" | "RN" | "RV" | "RX" => "rir",
            _ => return None,
        })
    }

    /// For a message.
    pub(super) fn shown(&self) -> String {
        if self.outer.is_empty() {
            self.closed.first().unwrap_or(&self.open).text()
        } else {
            self.outer.text()
        }
    }
}
