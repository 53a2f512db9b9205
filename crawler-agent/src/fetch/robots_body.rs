//! Body of robots.txt, as far as it is parsed.

use super::{Flow, Sink};
use crate::robots::MAX_BYTES;

/// Sink that keeps the part of robots.txt that is parsed.
#[derive(Debug, Default)]
pub struct RobotsBody(Vec<u8>);

impl RobotsBody {
    /// The bytes that were kept.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl Sink for RobotsBody {
    fn write(&mut self, bytes: &[u8]) -> Flow {
        let room = MAX_BYTES - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.0.len() < MAX_BYTES { Flow::More } else { Flow::Enough }
    }

    fn takes_beginning(&self) -> Option<bool> {
        Some(true)
    }

    fn held(&self) -> usize {
        self.0.capacity()
    }
}
