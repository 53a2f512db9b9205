//! Coordinators hear which subnets changed hands, whichever of them did it.
//!
//! It is said in the transaction that does it, so that it is said exactly when it is done, also by
//! a coordinator that dies right after. What is heard says where to look and nothing else: the
//! store is asked how it stands there.

use hierarchy::Range;
use sqlx::PgConnection;

use crate::{Listener, Store, StoreError, listen};

/// The NOTIFY channel.
const CHANNEL: &str = "nearcrawl_delegations";

/// Says, when the transaction is committed, that a subnet changed hands; with none, that any may
/// have.
pub(crate) async fn notify(
    db: &mut PgConnection,
    subnet: Option<&Range>,
) -> Result<(), StoreError> {
    let what = subnet.map_or_else(String::new, Range::to_string);
    let said = listen::notify_in(db, CHANNEL, &what).await;
    said.map_err(StoreError::doing("tell the coordinators who has a subnet"))
}

/// The word before subnets that searches decided about.
const DECIDED: &str = "decided";
/// Bytes of subnets in one message, which must have less than 8,000.
const MESSAGE: usize = 7_000;

/// Says, when the transaction is committed, that searches decided who gets these subnets.
pub(crate) async fn notify_decided(
    db: &mut PgConnection,
    subnets: impl Iterator<Item = Range>,
) -> Result<(), StoreError> {
    for message in decided(subnets) {
        let said = listen::notify_in(&mut *db, CHANNEL, &message).await;
        said.map_err(StoreError::doing("tell the coordinators who has a subnet"))?;
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

/// What was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelegationChange {
    /// A subnet changed hands outside of a search.
    Changed(Range),
    /// Searches decided who gets these.
    Decided(Vec<Range>),
    /// Any subnet may have changed hands: it was said so, something may have been missed, or
    /// another version said what we do not understand.
    Anything,
}

impl DelegationChange {
    fn of(message: &str) -> Self {
        let subnet = |word: &str| word.parse().ok();
        let heard = match message.strip_prefix(DECIDED) {
            Some(subnets) => {
                subnets.split(',').map(subnet).collect::<Option<_>>().map(Self::Decided)
            }
            None => subnet(message).map(Self::Changed),
        };
        heard.unwrap_or(Self::Anything)
    }
}

/// Hears which subnets change hands.
#[derive(Debug)]
pub struct DelegationListener(Listener);

impl DelegationListener {
    /// Listens from now on.
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(Listener::open(store, CHANNEL).await?))
    }

    /// Waits until subnets change hands.
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
    fn what_is_not_understood_may_be_anything() {
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
    fn what_was_decided_is_heard_in_messages_that_postgres_takes() {
        let range = |low: u128| {
            let first = u128::MAX - 2 * low - 1;
            let last = u128::MAX - low;
            Range::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into()).unwrap()
        };
        for many in [0, 1, 2, 87, 88, 1_000] {
            let subnets: Vec<Range> = (1..=many).map(range).collect();
            let messages = decided(subnets.iter().copied());
            assert!(messages.iter().all(|message| message.len() < 8_000), "{many}");
            let heard: Vec<Range> = messages
                .iter()
                .flat_map(|message| match DelegationChange::of(message) {
                    DelegationChange::Decided(subnets) => subnets,
                    other => panic!("{other:?} of {message}"),
                })
                .collect();
            assert_eq!(heard, subnets);
        }
    }
}
