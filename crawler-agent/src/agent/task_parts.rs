//! What single tasks are given of the parts of a running agent.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    bundle_sender::BundleSender, finish::FinishProgress, inspector::Inspector,
    leaving::LeaveProgress, metrics_server::MetricsSource, monitors::StatusWriter, parts::Parts,
    ship::Shipper, takeovers::Takeovers, updates::UpdateTask,
};
use crate::clock;

impl Parts {
    pub(super) fn inspector(&self) -> Inspector {
        Inspector { visitor: Arc::clone(&self.visitor), readiness: self.readiness.clone() }
    }

    pub(super) fn finishing(&self) -> FinishProgress {
        FinishProgress {
            schedule: Arc::clone(&self.visitor.schedule),
            store: self.visitor.store.clone(),
            readiness: self.readiness.clone(),
            pack_trigger: Arc::clone(&self.visitor.pack_trigger),
        }
    }

    pub(super) fn leaving(&self) -> LeaveProgress {
        LeaveProgress {
            client: Arc::clone(&self.client),
            schedule: Arc::clone(&self.visitor.schedule),
            store: self.visitor.store.clone(),
            pack_trigger: Arc::clone(&self.visitor.pack_trigger),
            readiness: self.readiness.clone(),
            peers: self.visitor.peers.clone(),
        }
    }

    pub(super) fn shipper(&self) -> Shipper {
        Shipper {
            outbox: Arc::clone(&self.outbox),
            client: Arc::clone(&self.client),
            host_orders: Arc::clone(&self.host_orders),
            readiness: self.readiness.clone(),
            metrics: self.visitor.metrics.clone(),
            pack_trigger: Arc::clone(&self.visitor.pack_trigger),
            age: self.config.ship.age,
        }
    }

    pub(super) fn bundle_sender(&self) -> BundleSender {
        BundleSender {
            bundles: Arc::clone(&self.bundles),
            client: Arc::clone(&self.client),
            host_orders: Arc::clone(&self.host_orders),
            readiness: self.readiness.clone(),
        }
    }

    pub(super) fn takeovers(&self) -> Takeovers {
        let client = Arc::clone(&self.client);
        Takeovers::new(client, Arc::clone(&self.visitor), self.readiness.clone())
    }

    /// None where the owner does not want updates.
    pub(super) fn updates(
        &self,
        is_launched: bool,
        restart: CancellationToken,
    ) -> Option<UpdateTask> {
        Some(UpdateTask {
            rules: self.config.update?,
            dir: self.dir.clone(),
            agent: self.id,
            is_launched,
            client: Arc::clone(&self.client),
            gate: Arc::clone(&self.gate),
            limits: self.config.limits.clone(),
            budget: self.config.budget,
            readiness: self.readiness.clone(),
            status: Arc::clone(&self.update_status),
            restart,
        })
    }

    pub(super) fn metrics_source(&self) -> MetricsSource {
        MetricsSource { status: self.status_writer(), started: clock::now() }
    }

    pub(super) fn status_writer(&self) -> StatusWriter {
        StatusWriter {
            dir: self.dir.clone(),
            agent: self.id,
            name: self.config.profile.name.clone(),
            version: self.config.profile.version.clone(),
            coordinator: self.config.coordinator.to_string(),
            visitor: Arc::clone(&self.visitor),
            gate: Arc::clone(&self.gate),
            readiness: self.readiness.clone(),
            fingerprint: self.fingerprint.clone(),
            earlier_answer: self.earlier_answer,
            update_status: Arc::clone(&self.update_status),
        }
    }
}
