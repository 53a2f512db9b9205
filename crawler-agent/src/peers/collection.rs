//! Collection: an agent that does not listen fetches its envelopes from the mailboxes of the
//! members that do.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use model::AgentId;
use region::envelope::Envelope;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Peers,
    listener::COLLECT,
    outgoing::{PAUSE, PeerClient},
};

/// Time limit of a collection: longer than the listener holds it.
const COLLECTION: Duration = Duration::from_secs(40);
/// Period in which it is checked whose mailboxes to collect from.
const PERIOD: Duration = Duration::from_secs(1);

/// Collects this agent's envelopes from all members that listen, unless it listens itself.
pub(super) async fn collect(peers: &Arc<Peers>) {
    let mut tasks: BTreeMap<AgentId, (Vec<String>, AbortOnDropHandle<()>)> = BTreeMap::new();
    loop {
        let mailboxes = peers.shared.outgoing.mailboxes();
        // A member that listens elsewhere now gets a new task.
        tasks.retain(|agent, (addresses, task)| {
            mailboxes.get(agent) == Some(addresses) && !task.is_finished()
        });
        for (agent, addresses) in mailboxes {
            tasks.entry(agent).or_insert_with(|| {
                let collecting = collect_from(Arc::clone(peers), agent, addresses.clone());
                let task = peers.shared.outgoing.spawn(collecting);
                (addresses, AbortOnDropHandle::new(task))
            });
        }
        tokio::time::sleep(PERIOD).await;
    }
}

async fn collect_from(peers: Arc<Peers>, agent: AgentId, addresses: Vec<String>) {
    let outgoing = &peers.shared.outgoing;
    let client = PeerClient::new(outgoing);
    for address in addresses.iter().cycle() {
        let Some(body) = outgoing.collection_from(agent) else { return };
        match client.post(address, COLLECT, body, COLLECTION).await {
            Ok(content) => {
                let envelopes: Vec<Envelope> = postcard::from_bytes(&content).unwrap_or_default();
                for envelope in &envelopes {
                    if let Err(refusal) = peers.receive(envelope) {
                        tracing::debug!(%refusal, "refused an envelope from a mailbox");
                    }
                }
            }
            Err(error) => {
                tracing::debug!(address, error, "a mailbox was not reached");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
