//! Segments of a stretch of heads in one cache line.

use std::hint::select_unpredictable;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::SEVERAL;
use super::build::{Segment, Stretch};
use crate::segments::UNTOLD;

/// Segments may start at so many heads of a stretch, its first one apart.
pub(super) const STARTS: usize = 18;
/// Codes from here on are no distances.
const CODES: u32 = 254;
const UNTOLD_CODE: u8 = 254;
const FAR: u8 = 255;

/// Whose a head of a stretch is, in one read of memory.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub(super) struct Block {
    /// Place of the first subnet that begins in the stretch or after it: most owners are soon after
    /// that. From [`SEVERAL`] on, what a slot says where more is to be told than a block can.
    base: u32,
    /// The one owner that is not soon after, such as a subnet around the whole stretch; [`UNTOLD`]
    /// if there is none.
    far: u32,
    /// How many units after the beginning of the stretch a segment starts, ascending. Where there
    /// are fewer the rest is [`u16::MAX`].
    starts: [u16; STARTS],
    /// Whose it is before the first start, then after each: how far from the base, or [`FAR`], or
    /// [`UNTOLD_CODE`]. The last of them is repeated to the end.
    codes: [u8; STARTS + 1],
    /// A unit is `1 << unit` heads; 0 to 63.
    unit: u8,
}

impl Block {
    /// `None` if more segments start here than fit, or too far from the beginning for their units,
    /// or several owners are far.
    pub(super) fn of(stretch: &Stretch, segments: &[Segment]) -> Option<Self> {
        let (first, segments) = match segments {
            [(at, owner), rest @ ..] if *at == stretch.start => (*owner, rest),
            segments => (stretch.before, segments),
        };
        if segments.len() > STARTS {
            return None;
        }
        let unit = stretch.unit(segments);
        let mut block = Self { unit: unit as u8, ..Self::slot(stretch.begins) };
        let code = block.code(first)?;
        block.codes.fill(code);
        for (number, (at, owner)) in segments.iter().enumerate() {
            block.starts[number] = u16::try_from((at - stretch.start) >> unit).ok()?;
            let code = block.code(*owner)?;
            block.codes[number + 1..].fill(code);
        }
        Some(block)
    }

    /// In place of a slot that says this.
    pub(super) fn slot(slot: u32) -> Self {
        let (starts, codes) = ([u16::MAX; STARTS], [UNTOLD_CODE; STARTS + 1]);
        Self { base: slot, far: UNTOLD, starts, codes, unit: 0 }
    }

    /// How to say whose a segment is; `None` if another one is far already.
    fn code(&mut self, owner: u32) -> Option<u8> {
        if owner == UNTOLD {
            return Some(UNTOLD_CODE);
        }
        if let Some(near) = owner.checked_sub(self.base).filter(|near| *near < CODES) {
            return Some(near as u8);
        }
        if self.far == UNTOLD {
            self.far = owner;
        }
        (self.far == owner).then_some(FAR)
    }

    /// What a slot of its own would say of the head that lies so far in the stretch.
    // Nothing here depends on a guess that may be wrong half of the time, so that the processor
    // goes on to other lookups while it waits for memory.
    #[inline]
    pub(super) fn tell(&self, offset: u64) -> u32 {
        let upto = (offset >> (u32::from(self.unit) % u64::BITS)).min(u16::MAX.into()) as u16;
        let begun = self.starts.partition_point(|start| *start <= upto);
        let code = self.codes.get(begun).copied().unwrap_or(UNTOLD_CODE);
        if self.base >= SEVERAL {
            return self.base;
        }
        let owner = select_unpredictable(code == FAR, self.far, self.base + u32::from(code));
        if code == UNTOLD_CODE { UNTOLD } else { owner }
    }
}
