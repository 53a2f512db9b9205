//! The smallest subnet of an IPv4 address in two reads of far memory.
//!
//! The tree is flattened: wherever the smallest subnet changes along the address line, a *segment* starts. The line is cut into
//! up to 2^20 buckets, and a segment takes four bytes: the upper two say where in its bucket it starts, the lower two whose it
//! is, as the owner's distance from the first subnet that begins in the bucket. Owners that begin long before the bucket hold
//! the address before it, too, so that they are told by how many steps they are above the subnet there.
//!
//! What does not fit (a bucket with tens of thousands of subnets) is left to the columns, see [`crate::family`].

use std::hint::select_unpredictable;

use crate::family::Family;

/// Above this the table outgrows the caches that make it worth having.
const MOST_BUCKET_BITS: u32 = 20;
/// With fewer, the start of a segment within its bucket would not fit into two bytes.
const LEAST_BUCKET_BITS: u32 = 16;
/// A bucket with fewer segments is searched without a branch.
const FEW: usize = 32;
/// Smaller codes count steps up, from the smallest on.
const NEAREST: i16 = i16::MIN + 256;
/// In the place of a bucket's owner: its segments do not tell.
const UNTOLD: u32 = u32::MAX;

/// What is written before the segments of a bucket.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Place of the first subnet that begins in the bucket or after it.
    begins: u32,
    /// The smallest subnet around the address before the bucket, which goes on until the first segment starts.
    owner: u32,
}

/// How many of fewer than [`FEW`] segments start at or before `upto`: a search by halves whose course depends on nothing that is
/// read, so that the processor, which would mostly guess wrong, goes on to what comes next while it waits for memory.
fn begun_of_few(segments: &[u32], upto: u32) -> usize {
    let mut begun = 0;
    for half in [16, 8, 4, 2, 1] {
        let more = begun + half;
        let early = segments.get(more - 1).is_some_and(|segment| *segment <= upto);
        begun = select_unpredictable(early, more, begun);
    }
    begun
}

#[derive(Debug, Clone)]
pub(crate) struct Segments {
    shift: u32,
    /// Bucket *b* is `line[starts[b]..starts[b + 1]]`.
    starts: Vec<u32>,
    /// Each bucket's [`Head`] and its segments, side by side, so that they are fetched together.
    line: Vec<u32>,
}

impl Segments {
    /// Flattens the tree; `parent` leads from a subnet's place to the one around it.
    pub(crate) fn new(family: &Family<u32>, parent: &impl Fn(usize) -> usize) -> Self {
        let bits = (family.len().ilog2()).clamp(LEAST_BUCKET_BITS, MOST_BUCKET_BITS);
        let starts = Vec::with_capacity((1 << bits) + 1);
        let segments = Self { shift: u32::BITS - bits, starts, line: vec![] };
        let mut flat = Flat {
            family,
            parent,
            segments,
            head: Head { begins: 1, owner: 0 },
            begun: 1,
            owner: 0,
            waiting: (0, 0),
        };
        let mut inside = 0;
        for place in 1..family.len() {
            let Some((first, _)) = family.bounds(place) else { break };
            flat.leave(inside, Some(first));
            flat.start(first, place);
            inside = place;
        }
        flat.leave(inside, None);
        flat.finish(1 << bits)
    }

    /// The place of the smallest subnet that holds the address; `None` where that is not told here.
    pub(crate) fn owner(&self, address: u32, parent: impl Fn(usize) -> usize) -> Option<usize> {
        let number = (address >> self.shift) as usize;
        let bucket = self.starts[number] as usize..self.starts[number + 1] as usize;
        let [begins, owner, segments @ ..] = &self.line[bucket] else { return None };
        if *owner == UNTOLD {
            return None;
        }
        let upto = (address & !(u32::MAX << self.shift)) << 16 | 0xffff;
        let begun = if segments.len() < FEW {
            begun_of_few(segments, upto)
        } else {
            segments.partition_point(|segment| *segment <= upto)
        };
        // Before the first segment the owner is the bucket's: it is zero steps above itself.
        let code = begun.checked_sub(1).map_or(i16::MIN, |latest| segments[latest] as i16);
        let near = begins.wrapping_add_signed(code.into());
        let place = select_unpredictable(code >= NEAREST, near, *owner);
        let steps = select_unpredictable(code >= NEAREST, 0, code.wrapping_sub(i16::MIN));
        Some((0..steps).fold(place as usize, |place, _| parent(place)))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        (self.starts.capacity() + self.line.capacity()) * size_of::<u32>()
    }
}

/// Segments under construction; starts come in ascending order.
struct Flat<'f, P> {
    family: &'f Family<u32>,
    parent: &'f P,
    segments: Segments,
    /// Of the latest bucket.
    head: Head,
    /// Place of the first subnet that begins in the latest bucket or after it.
    begun: usize,
    /// Whose the line is up to the segment that waits.
    owner: usize,
    /// Start and owner of the latest segment: another that starts there takes its place.
    waiting: (u32, usize),
}

impl<P: Fn(usize) -> usize> Flat<'_, P> {
    /// Walks up from a subnet to the one that holds `target` (to the root without one) and starts a segment where each left
    /// subnet's parent goes on.
    fn leave(&mut self, from: usize, target: Option<u32>) {
        let family = self.family;
        let end = |place| family.bounds(place).map_or(u32::MAX, |(_, last)| last);
        let (mut place, mut last) = (from, end(from));
        while place != 0 && target.is_none_or(|target| last < target) {
            let parent = (self.parent)(place);
            let beyond = end(parent);
            if let Some(at) = last.checked_add(1).filter(|_| last < beyond) {
                self.start(at, parent);
            }
            (place, last) = (parent, beyond);
        }
    }

    fn start(&mut self, at: u32, owner: usize) {
        if self.waiting.0 != at {
            self.settle();
        }
        self.waiting = (at, owner);
    }

    /// Writes down the segment that waits.
    fn settle(&mut self) {
        let (at, owner) = self.waiting;
        self.open((at >> self.segments.shift) as usize);
        let low = at & !(u32::MAX << self.segments.shift);
        match code(self.parent, self.head, owner) {
            Some(code) => self.segments.line.push(low << 16 | u32::from(code as u16)),
            None => self.give_up(),
        }
        self.owner = owner;
    }

    /// Leaves the latest bucket to the columns.
    fn give_up(&mut self) {
        let start = self.segments.starts.last().map_or(0, |start| *start as usize);
        self.segments.line.truncate(start);
        self.segments.line.extend([self.head.begins, UNTOLD]);
    }

    /// Begins all buckets up to and with this one.
    fn open(&mut self, bucket: usize) {
        while self.segments.starts.len() <= bucket {
            let first = (self.segments.starts.len() as u64) << self.segments.shift;
            while self.family.heads.get(self.begun).is_some_and(|head| u64::from(*head) < first) {
                self.begun += 1;
            }
            self.head = Head { begins: self.begun as u32, owner: self.owner as u32 };
            self.segments.starts.push(self.segments.line.len() as u32);
            self.segments.line.extend([self.head.begins, self.head.owner]);
        }
    }

    fn finish(mut self, buckets: usize) -> Segments {
        self.settle();
        self.open(buckets);
        self.segments.line.shrink_to_fit();
        self.segments
    }
}

/// Whose a segment is: the owner's distance from the first subnet of the bucket, else its steps above the bucket's owner.
fn code(parent: &impl Fn(usize) -> usize, bucket: Head, owner: usize) -> Option<i16> {
    let distance = owner.checked_signed_diff(bucket.begins as usize).and_then(|far| i16::try_from(far).ok());
    if let Some(near) = distance.filter(|code| *code >= NEAREST) {
        return Some(near);
    }
    let mut above = bucket.owner as usize;
    (i16::MIN..NEAREST).find(|_| {
        let there = above == owner;
        above = parent(above);
        there
    })
}
