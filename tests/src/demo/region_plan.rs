//! The region that the agents of a deployment form: who accepts connections, and its times.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;

use crate::harness::{PeerPlan, RunDirectory};
use crate::world::{Environment, Node};

/// The agent's port for peers.
const PEER_PORT: u16 = 8430;

/// Regions are off by default.
const SHIPPED_TIMES: &str = "[regions]
enabled = true
";

/// Times of a region in seconds instead of minutes, so that a run sees a takeover.
const SHORT_TIMES: &str = "[regions]
enabled = true
[regions.settings]
heartbeat_ms = 500
suspect_ms = 2500
term_ms = 8000
renew_ms = 1500
fetch_ms = 4000
gap_ms = 1000
linger_ms = 100
resend_ms = 1000
recovery_ms = 2000
";

/// How agents form a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionPlan {
    /// How they reach each other.
    pub paths: PeerPaths,
    /// Terms, intervals and patience of the region.
    pub times: RegionTimes,
}

/// Which agents of a region accept connections of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerPaths {
    /// All of them: messages travel directly.
    Direct,
    /// The first one: the others collect their messages there.
    Mailbox,
    /// None: messages travel through the coordinator.
    Relay,
}

/// Terms, intervals and patience of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionTimes {
    /// Those of the product.
    Shipped,
    /// Seconds instead of minutes, for faults and takeovers.
    Short,
}

impl RegionPlan {
    /// A region for faults and takeovers.
    pub fn short(paths: PeerPaths) -> Self {
        Self { paths, times: RegionTimes::Short }
    }

    /// Where an agent accepts the connections of others.
    pub(super) fn peer(self, environment: &Environment, number: usize) -> PeerPlan {
        let listens = match self.paths {
            PeerPaths::Direct => true,
            PeerPaths::Mailbox => number == 0,
            PeerPaths::Relay => false,
        };
        let address = environment.address(Node::Agent(number)).filter(|_| listens);
        PeerPlan { listen: address.map(|address| SocketAddr::new(address, PEER_PORT)) }
    }

    /// Writes the coordinator's configuration file.
    pub(super) fn rules(self, run_directory: &RunDirectory) -> anyhow::Result<PathBuf> {
        let rules = match self.times {
            RegionTimes::Shipped => SHIPPED_TIMES,
            RegionTimes::Short => SHORT_TIMES,
        };
        let path = run_directory.path().join("coordinator.toml");
        std::fs::write(&path, rules).context("cannot write the coordinator's file")?;
        Ok(path)
    }
}
