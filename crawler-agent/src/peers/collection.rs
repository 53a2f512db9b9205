//! Collection: an agent that does not listen fetches its envelopes from the mailboxes of the
//! members that do.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use model::AgentId;
use region::{envelope::Envelope, message::Lane};
use reqwest::StatusCode;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::{Peers, delivery::MOST_PAUSE, listener::collect_path};
use crate::{backoff::Backoff, error_line};

/// Time limit of a collection: longer than the listener holds it.
const COLLECTION: Duration = Duration::from_secs(40);
/// Period in which it is checked whose mailboxes to collect from.
const PERIOD: Duration = Duration::from_secs(1);
/// Least interval of collections that bring nothing.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// Collects this agent's envelopes from all members that listen, unless it listens itself. Each
/// lane has calls of its own, so that no heartbeat waits for the end of a bundle.
pub(super) async fn collect(peers: &Arc<Peers>) {
    let mut tasks: BTreeMap<(AgentId, Lane), (Vec<String>, AbortOnDropHandle<()>)> =
        BTreeMap::new();
    loop {
        let mailboxes = peers.shared.outgoing.mailboxes();
        // A member that listens elsewhere now gets a new task.
        tasks.retain(|(agent, _), (addresses, task)| {
            mailboxes.get(agent) == Some(addresses) && !task.is_finished()
        });
        for (agent, addresses) in &mailboxes {
            for lane in Lane::ALL {
                tasks.entry((*agent, lane)).or_insert_with(|| {
                    let addresses = addresses.clone();
                    let collecting =
                        collect_from(Arc::clone(peers), *agent, addresses.clone(), lane);
                    let task = peers.shared.outgoing.spawn(collecting);
                    (addresses, AbortOnDropHandle::new(task))
                });
            }
        }
        tokio::time::sleep(PERIOD).await;
    }
}

async fn collect_from(peers: Arc<Peers>, agent: AgentId, addresses: Vec<String>, lane: Lane) {
    let outgoing = &peers.shared.outgoing;
    let client = outgoing.client();
    let mut backoff = Backoff::default();
    for address in addresses.iter().cycle() {
        let Some(body) = outgoing.collection_from(agent) else { return };
        let asked = Instant::now();
        let answer =
            client.post(address, collect_path(lane), (body, StatusCode::OK), COLLECTION).await;
        match answer.and_then(|content| read(&content)) {
            Ok(envelopes) => {
                backoff.reset();
                for envelope in &envelopes {
                    if let Err(refusal) = peers.receive(envelope) {
                        tracing::debug!(%refusal, "refused an envelope from a mailbox");
                    }
                }
                // A mailbox without envelopes holds the answer back.
                if envelopes.is_empty() {
                    tokio::time::sleep_until(asked + LEAST_INTERVAL).await;
                }
            }
            Err(error) => {
                tracing::debug!(address, error, "a mailbox was not reached");
                tokio::time::sleep(backoff.next(rand::random()).min(MOST_PAUSE)).await;
            }
        }
    }
}

/// Reads the content of a mailbox. An answer of any other server is no mailbox.
fn read(content: &[u8]) -> Result<Vec<Envelope>, String> {
    postcard::from_bytes(content).map_err(|error| error_line::of(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_other_servers_are_no_envelopes() {
        assert_eq!(read(&[0]).map(|envelopes| envelopes.len()), Ok(0));
        assert!(read(b"").is_err());
        assert!(read(b"<!DOCTYPE html><title>It works</title>").is_err());
    }
}
