//! Probes: one round-trip measurement from an agent to an address (IPMicra section II).

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use model::{ProbeId, ProbeMethod};

/// An order to measure a round trip. The coordinator repeats it until the report arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeOrder {
    /// Identifier of the probe.
    pub probe: ProbeId,
    /// Address to measure. The agent's guard may still refuse it.
    pub address: IpAddr,
    /// TCP port for the methods TCP and HEAD.
    pub port: u16,
    /// Authority of the host that is measured, as in a host key, for the method HEAD; it fits
    /// address and port. The agent refuses anything else, and names that its owner denies.
    pub host: String,
    /// Methods in order of preference; the owner may allow fewer.
    pub methods: Vec<ProbeMethod>,
    /// Number of samples, 1 to 10; the smallest counts.
    pub samples: u8,
}

/// Body of `POST /api/v1/agent/reports`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reports {
    /// Reports of finished probes.
    pub probes: Vec<ProbeReport>,
}

/// Report on one [`ProbeOrder`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Identifier of the probe.
    pub probe: ProbeId,
    /// Outcome of the probe.
    pub result: ProbeResult,
}

/// Outcome of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum ProbeResult {
    /// At least one sample was answered.
    Measured {
        /// Method of the samples.
        method: ProbeMethod,
        /// Smallest round trip, in microseconds; at least 1.
        rtt_us: u32,
        /// Number of samples that were answered.
        samples: u8,
    },
    /// No sample of any method was answered.
    Unreachable {
        /// Reason for each method, in one line.
        reason: String,
    },
    /// The owner's rules forbid this address, port or method.
    Refused {
        /// The rule, in one line.
        reason: String,
    },
}
