//! Slots in which several segments start, as lists of 16-bit words.
//!
//! A list begins with the place of the first subnet that begins in its slot or after it, in two
//! words, and its [`Shape`] in one. Then come the segments, the first of them from the slot's
//! beginning on. Each says in one, two or four words where it starts and, in the low bits, whose it
//! is: the owner's distance from that place. Owners too far away for that, such as a block that
//! begins long before the slot, stand behind the segments in two words each, and their segments say
//! which of them it is. (To say how many steps above another it is would be shorter, but each step
//! up is one more read of far memory.)

use super::build::{Segment, Stretch};
use super::table::Table;

/// How wide a segment is written.
#[derive(Debug, Clone, Copy)]
struct Width {
    words: usize,
    /// The low bits that say whose it is; the others say where it starts.
    code_bits: u32,
}

const WIDTHS: [Width; 4] = [
    Width { words: 1, code_bits: 6 },
    Width { words: 1, code_bits: 8 },
    Width { words: 2, code_bits: 16 },
    Width { words: 4, code_bits: 24 },
];

impl Width {
    /// The smallest code there is: the first of the owners behind the segments.
    const fn least(self) -> i32 {
        -(1 << (self.code_bits - 1))
    }

    /// The smallest that is a distance.
    const fn nearest(self) -> i32 {
        self.least() + (1 << (self.code_bits / 2))
    }

    /// Whose a segment is: the distance if it is small enough, else which of those far away, to
    /// which it is added if it is new.
    fn code(self, owner: u32, begins: u32, far: &mut Vec<u32>) -> Option<i32> {
        let distance = owner.checked_signed_diff(begins);
        if let Some(near) = distance.filter(|code| (self.nearest()..-self.least()).contains(code)) {
            return Some(near);
        }
        let which = far.iter().position(|other| *other == owner).unwrap_or_else(|| {
            far.push(owner);
            far.len() - 1
        });
        let code = self.least() + i32::try_from(which).ok()?;
        (code < self.nearest()).then_some(code)
    }
}

/// Number of segments, width and unit of a list in one word.
#[derive(Debug, Clone, Copy)]
struct Shape(u16);

impl Shape {
    fn new(segments: usize, width: usize, unit: u32) -> Self {
        Self(segments as u16 | (width as u16) << 6 | (unit as u16) << 8)
    }

    fn segments(self) -> usize {
        usize::from(self.0 & 0x3f)
    }

    fn width(self) -> usize {
        usize::from(self.0 >> 6 & 3)
    }

    /// Segments start at multiples of `1 << unit` heads.
    fn unit(self) -> u32 {
        u32::from(self.0 >> 8)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Lists {
    words: Table<u16>,
}

impl Lists {
    /// Whose the head is that lies so far in the slot with this list;
    /// [`UNTOLD`](crate::segments::UNTOLD) where that is not told.
    pub(super) fn owner(&self, list: usize, offset: u64) -> Option<u32> {
        let [low, high, shape, words @ ..] = self.words.get(list..)? else { return None };
        let shape = Shape(*shape);
        let upto = offset >> shape.unit();
        let width = WIDTHS[shape.width().min(WIDTHS.len() - 1)];
        let (segments, far) = words.split_at_checked(shape.segments() * width.words)?;
        let code = match shape.width() {
            0 => latest(segments, upto, WIDTHS[0].code_bits, |[word]: [u16; 1]| word.into()),
            1 => latest(segments, upto, WIDTHS[1].code_bits, |[word]: [u16; 1]| word.into()),
            2 => latest(segments, upto, WIDTHS[2].code_bits, |[low, high]: [u16; 2]| {
                join(low, high).into()
            }),
            _ => latest(segments, upto, WIDTHS[3].code_bits, |[a, b, c, d]: [u16; 4]| {
                u64::from(join(a, b)) | u64::from(join(c, d)) << 32
            }),
        };
        if code >= width.nearest() {
            return Some(join(*low, *high).wrapping_add_signed(code));
        }
        let which = 2 * code.wrapping_sub(width.least()) as usize;
        Some(join(*far.get(which)?, *far.get(which + 1)?))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.words.heap_bytes()
    }
}

/// Lists in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    words: Vec<u16>,
}

impl Draft {
    /// Appends a list; `None` where it cannot be written so.
    pub(super) fn push(&mut self, slot: &Stretch, segments: &[Segment]) -> Option<usize> {
        let list = self.words.len();
        let unit = slot.unit(segments);
        let goes_on = segments.first().is_some_and(|(at, _)| *at > slot.start);
        let first = goes_on.then_some((slot.start, slot.before));
        let count = segments.len() + usize::from(goes_on);
        let mut far = Vec::new();
        for (number, width) in WIDTHS.iter().enumerate() {
            far.clear();
            self.words.extend(split(slot.begins));
            self.words.push(Shape::new(count, number, unit).0);
            let all = first.iter().chain(segments).try_for_each(|(at, owner)| {
                let code = width.code(*owner, slot.begins, &mut far)?;
                self.write(*width, (at - slot.start) >> unit, code)
            });
            if all.is_some() {
                self.words.extend(far.iter().copied().flat_map(split));
                return Some(list);
            }
            self.words.truncate(list);
        }
        None
    }

    fn write(&mut self, width: Width, start: u64, code: i32) -> Option<()> {
        let bits = 16 * width.words as u32;
        let fits = start.checked_shr(bits - width.code_bits).unwrap_or(0) == 0;
        let code = u64::from(code as u32) & !(u64::MAX << width.code_bits);
        let all = start << width.code_bits | code;
        self.words.extend((0..width.words).map(|word| (all >> (16 * word)) as u16));
        fits.then_some(())
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    pub(super) fn finish(self) -> Lists {
        Lists { words: Table::new(self.words) }
    }
}

fn join(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

fn split(place: u32) -> [u16; 2] {
    [place as u16, (place >> 16) as u16]
}

/// The code of the last segment that starts at or before `upto`; the first one does.
fn latest<const WORDS: usize>(
    words: &[u16],
    upto: u64,
    code_bits: u32,
    read: impl Fn([u16; WORDS]) -> u64,
) -> i32 {
    let (segments, _) = words.as_chunks::<WORDS>();
    let begun = segments
        .iter()
        .map(|words| read(*words))
        .take_while(|segment| segment >> code_bits <= upto);
    let code = begun.last().unwrap_or(0) as u32;
    // The code's highest bit is its sign.
    (code << (u32::BITS - code_bits)).cast_signed() >> (u32::BITS - code_bits)
}
