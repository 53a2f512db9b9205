//! Notifies all coordinators of subnets whose delegation changed.
//!
//! A notification is part of the transaction that changes the delegation, so it is sent exactly
//! when the change is committed, even if the coordinator dies right after. It names the subnets
//! only; the receiver reads their state from the store.

use hierarchy::Range;
use sqlx::PgConnection;

use crate::{Listener, Store, StoreError, listen};

/// The NOTIFY channel.
const CHANNEL: &str = "nearcrawl_delegations";

/// Announces, on commit, that the delegation of a subnet changed; with none, that any may have
/// changed.
pub(crate) async fn notify(
    db: &mut PgConnection,
    subnet: Option<&Range>,
) -> Result<(), StoreError> {
    let what = subnet.map_or_else(String::new, Range::to_string);
    let sent = listen::notify_in(db, CHANNEL, &what).await;
    sent.map_err(StoreError::doing("announce a change of delegations"))
}

/// Prefix of messages about subnets that searches decided.
const DECIDED: &str = "decided";
/// Most bytes of subnets in one message; Postgres takes fewer than 8,000.
const MESSAGE: usize = 7_000;

/// Announces, on commit, that searches decided these subnets.
pub(crate) async fn notify_decided(
    db: &mut PgConnection,
    subnets: impl Iterator<Item = Range>,
) -> Result<(), StoreError> {
    for message in decided(subnets) {
        let sent = listen::notify_in(&mut *db, CHANNEL, &message).await;
        sent.map_err(StoreError::doing("announce a change of delegations"))?;
    }
    Ok(())
}

fn decided(subnets: impl Iterator<Item = Range>) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for subnet in subnets {
        let subnet = subnet.to_string();
        match messages.last_mut().filter(|message| message.len() + subnet.len() < MESSAGE) {
            Some(message) => message.extend([",", &subnet]),
            None => messages.push(format!("{DECIDED} {subnet}")),
        }
    }
    messages
}

/// A change of delegations made by any coordinator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelegationChange {
    /// A subnet was assigned or released outside of a search.
    Changed(Range),
    /// Searches decided these subnets.
    Decided(Vec<Range>),
    /// Any subnet may have changed: the sender said so, a message may be lost, or a message of
    /// another version was not understood.
    Anything,
}

impl DelegationChange {
    fn of(message: &str) -> Self {
        let subnet = |word: &str| word.parse().ok();
        let change = match message.strip_prefix(DECIDED) {
            Some(subnets) => {
                subnets.split(',').map(subnet).collect::<Option<_>>().map(Self::Decided)
            }
            None => subnet(message).map(Self::Changed),
        };
        change.unwrap_or(Self::Anything)
    }
}

/// Receives the changes of delegations.
#[derive(Debug)]
pub struct DelegationListener(Listener);

impl DelegationListener {
    /// Subscribes to the channel.
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(Listener::open(store, CHANNEL).await?))
    }

    /// Waits for the next change.
    pub async fn receive(&mut self) -> Result<DelegationChange, StoreError> {
        Ok(self
            .0
            .receive()
            .await?
            .map_or(DelegationChange::Anything, |message| DelegationChange::of(&message)))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    #[test]
    fn unknown_messages_mean_any_change() {
        for message in
            ["", "decided", "decided 10.0.0.0/8,ten", "10.0.0.0/8,10.0.0.0/9", "undone 10.0.0.0/8"]
        {
            assert_eq!(DelegationChange::of(message), DelegationChange::Anything, "{message}");
        }
        assert_eq!(
            DelegationChange::of("10.0.0.0/8"),
            DelegationChange::Changed("10.0.0.0/8".parse().unwrap())
        );
    }

    /// Ranges with the longest names there are.
    #[test]
    fn decided_subnets_are_split_into_messages_that_postgres_takes() {
        let range = |low: u128| {
            let first = u128::MAX - 2 * low - 1;
            let last = u128::MAX - low;
            Range::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into()).unwrap()
        };
        for many in [0, 1, 2, 87, 88, 1_000] {
            let subnets: Vec<Range> = (1..=many).map(range).collect();
            let messages = decided(subnets.iter().copied());
            assert!(messages.iter().all(|message| message.len() < 8_000), "{many}");
            let received: Vec<Range> = messages
                .iter()
                .flat_map(|message| match DelegationChange::of(message) {
                    DelegationChange::Decided(subnets) => subnets,
                    other => panic!("{other:?} of {message}"),
                })
                .collect();
            assert_eq!(received, subnets);
        }
    }
}
