//! br (RFC 7932).

use std::io;

use brotli_decompressor::{
    Allocator, BrotliDecompressStream, BrotliResult, BrotliState, HuffmanCode, SliceWrapper as _,
    StandardAlloc,
};

use super::{Decode, Step, broken};

/// Most memory for prefix codes, in bytes. A stream may define 768 of them for each block, which
/// take 3 MB; pages have far fewer.
const CODE_BYTES: usize = 1 << 20;
/// State of the decoder without window and prefix codes, in bytes.
const STATE_BYTES: usize = 128 << 10;

type State = BrotliState<StandardAlloc, StandardAlloc, CodeMemory>;

/// Decoder of br.
pub(super) struct Brotli {
    phase: Phase,
    held: usize,
}

enum Phase {
    /// The window, which the first byte tells, is not granted yet.
    Start,
    Running(Box<State>),
    Ended,
}

impl Brotli {
    pub(super) fn new() -> Self {
        Self { phase: Phase::Start, held: 0 }
    }
}

impl Decode for Brotli {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Step> {
        let state = match (&mut self.phase, input.first()) {
            (Phase::Running(state), _) => state,
            (Phase::Start, Some(first)) => {
                self.held = window(*first) + CODE_BYTES + STATE_BYTES;
                return Ok(Step::Wants);
            }
            // Nothing may follow, and what does is ignored.
            (Phase::Start | Phase::Ended, _) => {
                return Ok(Step::Moved { consumed: input.len(), produced: 0 });
            }
        };
        let mut consumed = 0;
        let mut produced = 0;
        let result = BrotliDecompressStream(
            &mut input.len(),
            &mut consumed,
            input,
            &mut output.len(),
            &mut produced,
            output,
            &mut 0,
            state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(broken("not a br stream")),
            BrotliResult::ResultSuccess => {
                self.phase = Phase::Ended;
                self.held = 0;
            }
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Step::Moved { consumed, produced })
    }

    fn grant(&mut self) {
        let codes = CodeMemory { left: CODE_BYTES, heap: StandardAlloc::default() };
        let heap = StandardAlloc::default;
        // The strict form refuses windows of more than 16 MiB, which no browser accepts.
        self.phase = Phase::Running(Box::new(State::new_strict(heap(), heap(), codes)));
    }

    fn is_complete(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    fn held(&self) -> usize {
        self.held
    }
}

/// The window of a stream that starts with this byte, in bytes (section 9.1).
fn window(first: u8) -> usize {
    let bits = match (first & 1, first >> 1 & 7, first >> 4 & 7) {
        (0, _, _) => 16,
        (_, 0, 0) => 17,
        (_, 0, low) => 8 + low,
        (_, high, _) => 17 + high,
    };
    1 << bits
}

/// Memory for prefix codes, which is bounded.
struct CodeMemory {
    /// Bytes that are free.
    left: usize,
    heap: StandardAlloc,
}

type Codes = <StandardAlloc as Allocator<HuffmanCode>>::AllocatedMemory;

impl Allocator<HuffmanCode> for CodeMemory {
    type AllocatedMemory = Codes;

    /// Memory for `codes` prefix codes; none, which the decoder reports as a failure, where the
    /// bound is exceeded.
    fn alloc_cell(&mut self, codes: usize) -> Codes {
        match self.left.checked_sub(codes.saturating_mul(size_of::<HuffmanCode>())) {
            Some(left) => {
                self.left = left;
                self.heap.alloc_cell(codes)
            }
            None => Codes::default(),
        }
    }

    fn free_cell(&mut self, codes: Codes) {
        self.left += codes.len() * size_of::<HuffmanCode>();
        self.heap.free_cell(codes);
    }
}
