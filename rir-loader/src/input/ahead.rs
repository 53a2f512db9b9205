//! Unpacking on a thread of its own, so that a second core has something to do.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes handed over at a time.
const BLOCK: usize = 256 * 1024;
/// Blocks that may wait: memory is bounded however slow the reader is.
const WAITING: usize = 8;

/// A stream that is read ahead. The thread ends with the stream, or when this is dropped.
pub(super) struct Ahead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    taken: usize,
}

impl Ahead {
    /// Begins to read; the error is that of a machine that has no thread to spare.
    pub(super) fn of(stream: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(WAITING);
        thread::Builder::new()
            .name("unpack".to_owned())
            .spawn(move || handover(stream, &sender))?;
        Ok(Self { blocks, block: vec![], taken: 0 })
    }
}

fn handover(mut stream: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut block = vec![0; BLOCK];
        let outcome = match fill(&mut stream, &mut block) {
            Ok(0) => return,
            Ok(read) => {
                block.truncate(read);
                Ok(block)
            }
            Err(error) => Err(error),
        };
        let last = outcome.is_err();
        // Nobody takes it: the reader has seen enough.
        if sender.send(outcome).is_err() || last {
            return;
        }
    }
}

/// Fills the block as far as the stream goes. What was read before an error is of no use: the file
/// is refused.
fn fill(stream: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match stream.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.block.len() {
            // The sender is gone at the end of the stream.
            let Ok(next) = self.blocks.recv() else { return Ok(0) };
            self.block = next?;
            self.taken = 0;
        }
        let length = buffer.len().min(self.block.len() - self.taken);
        buffer[..length].copy_from_slice(&self.block[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_through_in_order() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 17).map(|place| place as u8).collect();
        let mut read = vec![];
        Ahead::of(io::Cursor::new(bytes.clone())).unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
    }

    #[test]
    fn an_error_comes_through_and_an_early_end_does_no_harm() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::InvalidData.into())
            }
        }
        let error = Ahead::of(Broken).unwrap().read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let mut endless = Ahead::of(io::repeat(1)).unwrap();
        assert_eq!(endless.read(&mut [0; 8]).unwrap(), 8);
    }
}
