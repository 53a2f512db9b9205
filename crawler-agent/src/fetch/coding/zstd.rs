//! zstd (RFC 8878), block by block, so that no input produces more than a block at once.

use std::io::{self, Read as _};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Decode, Step, broken};

/// Largest window, in bytes (RFC 9659).
const MAX_WINDOW_BYTES: u64 = 8 << 20;
/// Largest block, in bytes.
const BLOCK_BYTES: usize = 128 << 10;
/// Memory beside the window: a block before and after decoding, and tables.
const STATE_BYTES: usize = 3 * BLOCK_BYTES;

/// Decoder of zstd.
pub(super) struct Zstd {
    decoder: FrameDecoder,
    /// The part of the next header or block that has arrived.
    unit: Vec<u8>,
    phase: Phase,
    held: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before a frame.
    Between,
    /// The window of the frame whose header is in `unit` is not granted yet.
    Asked,
    /// The window is granted.
    Granted,
    /// Inside a frame.
    Blocks { checksum: bool },
    /// After the last block of a frame, of which some content may be left.
    Ending { checksum: bool },
    /// Inside a frame of metadata; the bytes that are left of it.
    Skipping(u32),
}

impl Zstd {
    pub(super) fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        Self { decoder, unit: Vec::new(), phase: Phase::Between, held: 0 }
    }

    /// Adds to `unit` until it has what [`needed`] says; returns the bytes that were taken, and
    /// whether it is whole.
    fn gather(
        &mut self,
        input: &[u8],
        needed: impl Fn(&[u8]) -> io::Result<usize>,
    ) -> io::Result<(usize, bool)> {
        let mut taken = 0;
        loop {
            let missing = needed(&self.unit)?.saturating_sub(self.unit.len());
            if missing == 0 {
                return Ok((taken, true));
            }
            let some = missing.min(input.len() - taken);
            if some == 0 {
                return Ok((taken, false));
            }
            self.unit.extend_from_slice(&input[taken..taken + some]);
            taken += some;
        }
    }

    /// Handles the frame header in `unit`.
    fn header(&mut self) -> io::Result<()> {
        if is_metadata(&self.unit) {
            self.phase = Phase::Skipping(number(&self.unit[4..8]) as u32);
            self.unit.clear();
            return Ok(());
        }
        let window = window(&self.unit);
        if window > MAX_WINDOW_BYTES {
            return Err(broken(format!("a window of {window} bytes is too large")));
        }
        self.phase = Phase::Asked;
        self.held = window as usize + STATE_BYTES;
        Ok(())
    }

    fn block(&mut self, checksum: bool) -> io::Result<()> {
        let one = BlockDecodingStrategy::UptoBlocks(1);
        let ended = self.decoder.decode_blocks(self.unit.as_slice(), one).map_err(broken)?;
        self.unit.clear();
        if ended {
            self.phase = Phase::Ending { checksum };
        }
        Ok(())
    }

    fn end_frame(&mut self, checksum: bool) -> io::Result<()> {
        let expected = self.decoder.get_checksum_from_data();
        if checksum && expected != self.decoder.get_calculated_checksum() {
            return Err(broken("the checksum of a zstd frame differs"));
        }
        self.phase = Phase::Between;
        Ok(())
    }
}

impl Decode for Zstd {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Step> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match self.phase {
                Phase::Between => {
                    let (taken, whole) = self.gather(rest, |unit| Ok(header_bytes(unit)))?;
                    consumed += taken;
                    if !whole {
                        return Ok(Step::Moved { consumed, produced: 0 });
                    }
                    self.header()?;
                }
                // The bytes that were taken are reported before memory is requested.
                Phase::Asked if consumed > 0 => return Ok(Step::Moved { consumed, produced: 0 }),
                Phase::Asked => return Ok(Step::Wants),
                Phase::Granted => {
                    self.decoder.init(self.unit.as_slice()).map_err(broken)?;
                    self.phase = Phase::Blocks { checksum: has_checksum(&self.unit) };
                    self.unit.clear();
                }
                Phase::Blocks { checksum } | Phase::Ending { checksum } => {
                    let produced = self.decoder.read(output)?;
                    if produced > 0 {
                        return Ok(Step::Moved { consumed, produced });
                    }
                    if matches!(self.phase, Phase::Ending { .. }) {
                        self.end_frame(checksum)?;
                        continue;
                    }
                    let (taken, whole) = self.gather(rest, |unit| block_bytes(unit, checksum))?;
                    consumed += taken;
                    if !whole {
                        return Ok(Step::Moved { consumed, produced: 0 });
                    }
                    self.block(checksum)?;
                }
                Phase::Skipping(left) => {
                    let skipped = rest.len().min(left as usize);
                    consumed += skipped;
                    let left = left - skipped as u32;
                    if left > 0 {
                        self.phase = Phase::Skipping(left);
                        return Ok(Step::Moved { consumed, produced: 0 });
                    }
                    self.phase = Phase::Between;
                }
            }
        }
    }

    fn grant(&mut self) {
        self.phase = Phase::Granted;
    }

    fn is_complete(&self) -> bool {
        self.phase == Phase::Between && self.unit.is_empty()
    }

    fn held(&self) -> usize {
        self.held
    }
}

/// Bytes of the frame header that starts with `header`, as far as they are known by it (section
/// 3.1.1.1).
fn header_bytes(header: &[u8]) -> usize {
    if is_metadata(header) {
        return 8;
    }
    let Some(descriptor) = header.get(4) else { return 5 };
    let content_size = match (descriptor >> 6, is_single(*descriptor)) {
        (0, single) => usize::from(single),
        (power, _) => 1 << power,
    };
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    5 + usize::from(!is_single(*descriptor)) + dictionary + content_size
}

/// Bytes of the block that starts with `block`, as far as they are known by it, with the checksum
/// that follows the last one (section 3.1.1.2).
fn block_bytes(block: &[u8], checksum: bool) -> io::Result<usize> {
    let Some(header) = block.get(..3) else { return Ok(3) };
    let header = number(header) as usize;
    let is_last = header & 1 == 1;
    let size = header >> 3;
    if size > BLOCK_BYTES {
        return Err(broken(format!("a zstd block of {size} bytes is too large")));
    }
    // A block of one repeated byte has only that byte.
    let body = if header >> 1 & 3 == 1 { 1 } else { size };
    Ok(3 + body + if is_last && checksum { 4 } else { 0 })
}

/// The window of a frame with this header, in bytes.
fn window(header: &[u8]) -> u64 {
    let descriptor = header[4];
    if !is_single(descriptor) {
        let base = 1_u64 << (10 + u32::from(header[5] >> 3));
        return base + base / 8 * u64::from(header[5] & 7);
    }
    let size = &header[5 + [0, 1, 2, 4][usize::from(descriptor & 3)]..];
    number(size).saturating_add(if size.len() == 2 { 256 } else { 0 })
}

/// Whether a frame holds metadata for other programs.
fn is_metadata(header: &[u8]) -> bool {
    header.first().is_some_and(|first| first >> 4 == 5) && header.get(1..4) == Some(b"\x2a\x4d\x18")
}

/// Whether the frame has no window but that of its whole content.
fn is_single(descriptor: u8) -> bool {
    descriptor & 0x20 != 0
}

fn has_checksum(header: &[u8]) -> bool {
    header[4] & 4 != 0
}

/// A number of up to eight bytes, the lowest first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
