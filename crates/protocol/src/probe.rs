//! Probes: one round-trip measurement from an agent to an address (IPMicra section II).

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use model::{ProbeId, ProbeMethod, UnixMillis};

/// The coordinator asks for a measurement. An order is handed out again until its report arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeOrder {
    /// Names the order in the report.
    pub probe: ProbeId,
    /// Where to. The agent's guard may still refuse.
    pub address: IpAddr,
    /// TCP port for connect and HEAD.
    pub port: u16,
    /// Value of the Host header for HEAD.
    pub host: String,
    /// Methods in order of preference; the owner may allow fewer.
    pub methods: Vec<ProbeMethod>,
    /// How many samples to take; the smallest counts. 1 to 10.
    pub samples: u8,
}

/// `POST /api/v1/agent/reports`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reports {
    /// One each for orders that are done.
    pub probes: Vec<ProbeReport>,
}

/// What became of one [`ProbeOrder`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// The order.
    pub probe: ProbeId,
    /// The agent's clock when the last sample ended.
    pub measured_at: UnixMillis,
    /// What was seen.
    pub result: ProbeResult,
}

/// The outcome of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ProbeResult {
    /// At least one sample came back.
    Measured {
        /// The method that worked.
        method: ProbeMethod,
        /// Smallest round trip, in microseconds; at least 1.
        rtt_us: u32,
        /// Samples that came back.
        samples: u8,
    },
    /// No method brought an answer.
    Unreachable {
        /// Why, per method, in one line.
        reason: String,
    },
    /// The owner's rules forbid this address, port or method.
    Refused {
        /// Which rule, in one line.
        reason: String,
    },
}
