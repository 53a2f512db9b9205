//! The owner's limits: keeps what was used of budgets on disk, and rests while others use the
//! machine.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{AgentError, readiness::ReadinessSignal};
use crate::{
    config::IdleRules,
    error_line,
    owner::{
        gate::Gate,
        machine::IdleWatch,
        readings::{Counters, MachineReader, ReadingError},
    },
};

/// Period in which what was used is written.
const WRITE_PERIOD: Duration = Duration::from_secs(1);
/// Writes of which one is synced: every five seconds.
const WRITES_PER_SYNC: u32 = 5;
/// Period of readings of the machine.
const READING_PERIOD: Duration = Duration::from_secs(5);

/// Task that writes what was used of the budgets.
pub(super) async fn keep_usage(gate: Arc<Gate>) -> Result<(), AgentError> {
    let mut tick = tokio::time::interval(WRITE_PERIOD);
    let mut writes = 0;
    loop {
        tick.tick().await;
        writes += 1;
        write(Arc::clone(&gate), writes % WRITES_PER_SYNC == 0).await;
    }
}

/// Writes what was used of the budgets, and syncs it if `durably`.
pub(super) async fn write(gate: Arc<Gate>, durably: bool) {
    // The error of a thread that panicked is in the log already.
    let written = tokio::task::spawn_blocking(move || gate.write(durably)).await;
    if let Ok(Err(error)) = written {
        tracing::error!(%error, "what was used of the budgets cannot be written");
    }
}

/// Watches whether other programs use the machine.
pub(super) struct MachineWatch {
    reader: MachineReader,
    watch: IdleWatch,
    before: Counters,
}

impl MachineWatch {
    /// A watch of this machine; none where the owner does not want it, an error where the machine
    /// does not offer the readings.
    pub(super) fn new(rules: &IdleRules) -> Result<Option<Self>, ReadingError> {
        if rules.are_off() {
            return Ok(None);
        }
        let reader = MachineReader::new(Path::new("/"), rules.clone());
        let before = reader.read()?;
        Ok(Some(Self { reader, watch: IdleWatch::new(rules.clone()), before }))
    }

    /// Task that notices when others use the machine, and when they no longer do.
    pub(super) async fn run(mut self, readiness: ReadinessSignal) -> Result<(), AgentError> {
        let started = Instant::now();
        let mut tick = tokio::time::interval(READING_PERIOD);
        loop {
            tick.tick().await;
            match self.reader.read() {
                Ok(counters) => {
                    let readings = counters.since(&self.before);
                    self.before = counters;
                    let busy = self.watch.update(&readings, started.elapsed());
                    readiness.change(|readiness| readiness.busy = busy);
                }
                Err(error) => {
                    let error = error_line::of(&error);
                    tracing::warn!(error, "the use of the machine cannot be read");
                }
            }
        }
    }
}
