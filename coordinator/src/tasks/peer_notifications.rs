//! Exchanges hints with the other coordinators on the same database, by NOTIFY.
//!
//! Only the leader decides, but agents and admins talk to any coordinator. Hints make a second
//! coordinator as quick as the first (see [`crate::runtime::peer_hints`]).

use std::sync::Arc;
use std::time::Duration;

use store::{Listener, StoreError, notify};

use crate::runtime::events::Event;
use crate::runtime::lost_database::repeat;
use crate::runtime::peer_hints::Hints;
use crate::tasks::coordinator::Coordinator;
use crate::tasks::driver::TaskSet;

/// The NOTIFY channel.
const CHANNEL: &str = "nearcrawl_peer_hints";
/// How long hints are collected before they are sent together.
const COLLECT: Duration = Duration::from_millis(20);

/// Sends and receives until the coordinator stops.
pub async fn run(coordinator: Arc<Coordinator>, tasks: Arc<TaskSet>) {
    let this = rand::random();
    let Coordinator { store, stop, .. } = &*coordinator;
    tokio::join!(
        repeat(store, stop, || send(&coordinator, this)),
        repeat(store, stop, || receive(&coordinator, &tasks, this)),
    );
}

async fn send(coordinator: &Coordinator, this: u64) -> StoreError {
    loop {
        coordinator.peer_hints.added().await;
        tokio::time::sleep(COLLECT).await;
        for message in coordinator.peer_hints.take().messages(this) {
            if let Err(error) = notify(&coordinator.store, CHANNEL, &message).await {
                return error;
            }
        }
    }
}

async fn receive(coordinator: &Coordinator, tasks: &TaskSet, this: u64) -> StoreError {
    let mut listener = match Listener::open(&coordinator.store, CHANNEL).await {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    catch_up(coordinator);
    loop {
        match listener.receive().await {
            Ok(Some(message)) => {
                if let Some(hints) = Hints::parse(&message, this) {
                    follow(coordinator, tasks, &hints);
                }
            }
            Ok(None) => catch_up(coordinator),
            Err(error) => return error,
        }
    }
}

/// Hints from before the connection, or from while it was interrupted, are lost.
fn catch_up(coordinator: &Coordinator) {
    coordinator.agent_wakeups.wake_all_local();
    coordinator.events.emit(Event::AnythingChanged);
}

/// Notifies what the hints name. Only the leader notifies the leader's tasks: another coordinator
/// would send the hint on, and two of them would do so without end.
fn follow(coordinator: &Coordinator, tasks: &TaskSet, hints: &Hints) {
    coordinator.agent_wakeups.wake_local(hints.agents.iter().copied());
    for name in &hints.tasks {
        tasks.wake(name, coordinator.is_leader());
    }
}
