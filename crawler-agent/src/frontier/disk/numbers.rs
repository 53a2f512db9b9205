//! Numbers of hosts by hashes of their keys, in the lists of the state.

use std::hash::{BuildHasher as _, RandomState};

use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition, WriteTransaction};

use super::Disk;
use crate::frontier::{
    FrontierError,
    state::numbers::{HashKey, HostNumbers, StoredList},
};

/// Number of a list to its entries.
const NUMBERS: TableDefinition<'_, u16, &[u8]> = TableDefinition::new("numbers");
/// The only row: the secret key of the hashes.
const HASH_KEY: TableDefinition<'_, (), HashKey> = TableDefinition::new("hash_key");

/// Creates the tables in a new file, with a secret key.
pub(super) fn make(write: &WriteTransaction) -> Result<(), FrontierError> {
    write.open_table(NUMBERS)?;
    let mut keys = write.open_table(HASH_KEY)?;
    if keys.get(())?.is_none() {
        let part = || RandomState::new().hash_one(());
        keys.insert((), (part(), part()))?;
    }
    Ok(())
}

/// Writes the lists of a checkpoint.
pub(super) fn write(write: &WriteTransaction, lists: &[StoredList]) -> Result<(), FrontierError> {
    let mut table = write.open_table(NUMBERS)?;
    for (number, entries) in lists {
        table.insert(number, entries.as_slice())?;
    }
    Ok(())
}

impl Disk {
    /// The secret key of the hashes.
    pub(in crate::frontier) fn hash_key(&self) -> Result<HashKey, FrontierError> {
        self.db.with(|db| {
            let key = db.begin_read()?.open_table(HASH_KEY)?.get(())?;
            key.map(|key| key.value()).ok_or(FrontierError::Numbers)
        })
    }

    pub(in crate::frontier) fn host_numbers(&self) -> Result<HostNumbers, FrontierError> {
        let key = self.hash_key()?;
        self.db.with(|db| {
            let table = db.begin_read()?.open_table(NUMBERS)?;
            let lists = table.range::<u16>(..)?.map(|entry| {
                let (number, entries) = entry?;
                Ok((number.value(), entries.value().to_vec()))
            });
            HostNumbers::load(key, lists.collect::<Result<Vec<_>, FrontierError>>()?)
        })
    }
}
