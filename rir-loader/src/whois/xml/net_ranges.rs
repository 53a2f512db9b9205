//! Addresses of an ARIN net: one span, and the blocks it consists of.

use hierarchy::Range;

use crate::whois::address::parse_ends;
use crate::whois::attributes::ObjectError;

/// Blocks of a net that are read; the largest net has a few dozen.
const MAX_BLOCKS: usize = 1024;

/// First and last address as written.
#[derive(Debug, Default)]
pub(super) struct WrittenRange {
    pub(super) first: String,
    pub(super) last: String,
}

/// Addresses of one net.
#[derive(Debug, Default)]
pub(super) struct NetRanges {
    /// First and last address of the net.
    pub(super) span: WrittenRange,
    /// The block that is being read.
    pub(super) block: WrittenRange,
    blocks: Vec<WrittenRange>,
    /// Type of the first block.
    block_type: String,
}

impl WrittenRange {
    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.last.is_empty()
    }

    fn text(&self) -> String {
        format!("{} - {}", self.first, self.last)
    }

    fn parse(&self) -> Result<Range, ObjectError> {
        parse_ends(&self.first, &self.last).map_err(|error| ObjectError::range(&self.text(), error))
    }
}

impl NetRanges {
    /// Sets the type of a block; that of the first block counts.
    pub(super) fn set_type(&mut self, text: &str) {
        if self.block_type.is_empty() {
            text.clone_into(&mut self.block_type);
        }
    }

    pub(super) fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if !block.is_empty() && self.blocks.len() < MAX_BLOCKS {
            self.blocks.push(block);
        }
    }

    /// The span where the blocks fill it or there are none; else each block, because a net with a
    /// hole is several ranges.
    pub(super) fn parse(&self) -> Result<Vec<Range>, ObjectError> {
        let blocks = self.blocks.iter().map(WrittenRange::parse).collect::<Result<Vec<_>, _>>()?;
        if self.span.is_empty() {
            return if blocks.is_empty() { Err(ObjectError::NoRange) } else { Ok(blocks) };
        }
        let span = self.span.parse()?;
        let filled = blocks.iter().map(Range::addresses).fold(0, u128::saturating_add);
        if blocks.is_empty() || filled >= span.addresses() { Ok(vec![span]) } else { Ok(blocks) }
    }

    /// The type in the words of ARIN's text form, as its stylesheet translates it.
    pub(super) fn status(&self) -> Option<&'static str> {
        match self.block_type.as_str() {
            "DS" | "IU" => Some("assignment"),
            "DA" => Some("allocation"),
            "A" => Some("reallocation"),
            "S" => Some("reassignment"),
            "IR" => Some("reserved"),
            "AF" | "AP" | "AR" | "AV" | "FX" | "LN" | "LX" | "PV" | "PX" | "RN" | "RV" | "RX" => {
                Some("rir")
            }
            _ => None,
        }
    }

    /// The addresses for the report of a malformed net.
    pub(super) fn text(&self) -> String {
        let ends = if self.span.is_empty() { self.blocks.first() } else { Some(&self.span) };
        ends.map(WrittenRange::text).unwrap_or_default()
    }
}
