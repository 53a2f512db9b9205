//! What a member of a region must find again after a restart, in the file `region.redb`: roster,
//! promises and loan; hosts of the region; URLs that wait for other agents; and notes on hosts that
//! this agent would take over.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use model::{CrawlPolicy, RegionId, UnixMillis};
use redb::{
    Database, ReadableDatabase as _, ReadableTable as _, TableDefinition, WriteTransaction,
};
use region::{
    HostPosition, Settings,
    effect::CopiedView,
    lease::Promises,
    message::{RoutedUrl, UrlPurpose},
    ownership::SignedView,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    disk_error::{PeersDiskError, Result},
    note_counts::NoteCounts,
};
use crate::guarded_file::Guarded;

/// Most memory of the file's page cache, in bytes.
const CACHE_BYTES: usize = 4 << 20;

/// Single values by name.
const VALUES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("values");
/// Position of a host to a [`RoutedUrl`] of it.
const HOSTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("hosts");
/// Fingerprint to a [`RoutedUrl`] that waits for another agent.
const WAITING: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("waiting");
/// (position of a host, fingerprint) to a [`Note`].
const NOTES: TableDefinition<'_, (u64, &[u8]), &[u8]> = TableDefinition::new("notes");

const VIEW: &str = "view";
const SETTINGS: &str = "settings";
const PROMISES: &str = "promises";
const COPIED: &str = "copied";
const LOAN: &str = "loan_until";
const INCARNATION: &str = "incarnation";
const POLICY: &str = "policy";

/// The file in `dir`.
pub(super) fn file(dir: &Path) -> PathBuf {
    dir.join("region.redb")
}

/// The open file.
pub(super) struct PeersDisk(Guarded<Database, PeersDiskError>);

/// What was stored of the membership.
pub(super) struct Membership {
    pub(super) view: SignedView,
    pub(super) settings: Settings,
    pub(super) promises: Option<Promises>,
    /// For what all copies of bundles had been taken.
    pub(super) copied: Option<CopiedView>,
    /// End of the loan.
    pub(super) loan_until: UnixMillis,
}

/// What still binds an agent that has left its region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FormerMembership {
    pub(super) region: RegionId,
    /// What it promised there; none if that may be lost.
    pub(super) promises: Option<Promises>,
}

impl PeersDisk {
    /// Opens the file in `dir`, or makes it.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let file = file(dir);
        let db = Guarded::open(&file, || {
            Ok(Database::builder().set_cache_size(CACHE_BYTES).create(&file)?)
        })?;
        db.with(|db| {
            let write = db.begin_write()?;
            write.open_table(VALUES)?;
            write.open_table(HOSTS)?;
            write.open_table(WAITING)?;
            write.open_table(NOTES)?;
            Ok(write.commit()?)
        })?;
        Ok(Self(db))
    }

    /// A number for this process that is larger than those of all before.
    pub(super) fn next_incarnation(&self, now: UnixMillis) -> Result<u64> {
        let last: u64 = self.value(INCARNATION)?.unwrap_or(0);
        // The time, so that it grows also where the disk was lost.
        let next = (last + 1).max(now.0.max(0).unsigned_abs() / 1_000);
        let write = self.write()?;
        write.set(INCARNATION, &next)?;
        write.commit()?;
        Ok(next)
    }

    /// The membership; none before the first roster, and after the end of the last one.
    pub(super) fn membership(&self) -> Result<Option<Membership>> {
        let (Some(view), Some(settings)) = (self.value(VIEW)?, self.value(SETTINGS)?) else {
            return Ok(None);
        };
        Ok(Some(Membership {
            view,
            settings,
            promises: self.value(PROMISES)?,
            copied: self.value(COPIED)?,
            loan_until: self.value(LOAN)?.map_or(UnixMillis(0), UnixMillis),
        }))
    }

    /// The membership that ended last, of an agent that is no member; none if it never was one.
    pub(super) fn former_membership(&self) -> Result<Option<FormerMembership>> {
        let view: Option<SignedView> = self.value(VIEW)?;
        let Some(region) = view.and_then(|view| view.alleged_region().ok()) else {
            return Ok(None);
        };
        Ok(Some(FormerMembership { region, promises: self.value(PROMISES)? }))
    }

    /// The operator's settings as the coordinator sent them last.
    pub(super) fn policy(&self) -> Result<Option<CrawlPolicy>> {
        let json: Option<Vec<u8>> = self.value(POLICY)?;
        Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// A URL of each host of the region.
    pub(super) fn hosts(&self) -> Result<Vec<RoutedUrl>> {
        self.0.with(|db| {
            let table = db.begin_read()?.open_table(HOSTS)?;
            table.iter()?.map(|row| Ok(postcard::from_bytes(row?.1.value())?)).collect()
        })
    }

    /// URLs that wait for other agents.
    pub(super) fn waiting(&self) -> Result<Vec<RoutedUrl>> {
        self.0.with(|db| {
            let table = db.begin_read()?.open_table(WAITING)?;
            table.iter()?.map(|row| Ok(postcard::from_bytes(row?.1.value())?)).collect()
        })
    }

    /// Number of notes of each host.
    pub(super) fn note_counts(&self) -> Result<NoteCounts> {
        self.0.with(|db| {
            let table = db.begin_read()?.open_table(NOTES)?;
            table.iter()?.map(|row| Ok(HostPosition(row?.0.value().0))).collect()
        })
    }

    /// Begins a transaction.
    pub(super) fn write(&self) -> Result<WriteBatch> {
        Ok(WriteBatch(self.0.begin(|db| Ok(db.begin_write()?))?))
    }

    fn value<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        self.0.with(|db| {
            let table = db.begin_read()?.open_table(VALUES)?;
            Ok(table.get(name)?.map(|row| postcard::from_bytes(row.value())).transpose()?)
        })
    }
}

/// A transaction; without [`WriteBatch::commit`] nothing is changed.
pub(super) struct WriteBatch(Guarded<WriteTransaction, PeersDiskError>);

impl WriteBatch {
    pub(super) fn commit(self) -> Result<()> {
        self.0.end(|write| Ok(write.commit()?))
    }

    /// Forgets the region with all that belongs to it, but not what the agent promised in it: that
    /// binds the agent also if it joins again. The view says which region it was.
    pub(super) fn forget_region(&self) -> Result<()> {
        self.0.with(|write| {
            let mut values = write.open_table(VALUES)?;
            for name in [SETTINGS, COPIED, LOAN] {
                values.remove(name)?;
            }
            write.open_table(HOSTS)?.retain(|_, _| false)?;
            write.open_table(WAITING)?.retain(|_, _| false)?;
            write.open_table(NOTES)?.retain(|_, _| false)?;
            Ok(())
        })
    }

    pub(super) fn set_view(&self, view: &SignedView) -> Result<()> {
        self.set(VIEW, view)
    }

    pub(super) fn set_settings(&self, settings: &Settings) -> Result<()> {
        self.set(SETTINGS, settings)
    }

    pub(super) fn set_promises(&self, promises: &Promises) -> Result<()> {
        self.set(PROMISES, promises)
    }

    /// Forgets promises that are not those of the present region.
    pub(super) fn forget_promises(&self) -> Result<()> {
        self.0.with(|write| {
            write.open_table(VALUES)?.remove(PROMISES)?;
            Ok(())
        })
    }

    pub(super) fn set_copied(&self, copied: &CopiedView) -> Result<()> {
        self.set(COPIED, copied)
    }

    pub(super) fn set_loan(&self, until: UnixMillis) -> Result<()> {
        self.set(LOAN, &until.0)
    }

    pub(super) fn set_policy(&self, policy: &CrawlPolicy) -> Result<()> {
        // Encoding into memory does not fail.
        self.set(POLICY, &serde_json::to_vec(policy).unwrap_or_default())
    }

    fn set(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let bytes = postcard::to_allocvec(value)?;
        self.0.with(|write| {
            write.open_table(VALUES)?.insert(name, bytes.as_slice())?;
            Ok(())
        })
    }

    /// Adds a host of which this is a URL.
    pub(super) fn add_host(&self, url: &RoutedUrl) -> Result<()> {
        let bytes = postcard::to_allocvec(url)?;
        self.0.with(|write| {
            write.open_table(HOSTS)?.insert(url.host.position.0, bytes.as_slice())?;
            Ok(())
        })
    }

    /// Removes a host with its notes.
    pub(super) fn remove_host(&self, host: HostPosition) -> Result<()> {
        self.0.with(|write| Ok(write.open_table(HOSTS)?.remove(host.0).map(drop)?))?;
        self.take_notes(host).map(drop)
    }

    /// Keeps a URL until its owner has it.
    pub(super) fn keep(&self, url: &RoutedUrl) -> Result<()> {
        let bytes = postcard::to_allocvec(url)?;
        self.0.with(|write| {
            let mut waiting = write.open_table(WAITING)?;
            waiting.insert(url.url.fingerprint().as_slice(), bytes.as_slice())?;
            Ok(())
        })
    }

    /// Forgets a URL that was kept.
    pub(super) fn forget(&self, url: &RoutedUrl) -> Result<()> {
        self.0.with(|write| {
            write.open_table(WAITING)?.remove(url.url.fingerprint().as_slice())?;
            Ok(())
        })
    }

    /// Notes that another agent knows a URL, or has fetched it. A URL that was fetched stays so.
    /// Without `has_room` no URL is added. Returns whether one was.
    pub(super) fn note(&self, url: &RoutedUrl, has_room: bool) -> Result<bool> {
        let fingerprint = url.url.fingerprint();
        let key = (url.host.position.0, fingerprint.as_slice());
        self.0.with(|write| {
            let mut notes = write.open_table(NOTES)?;
            let is_new = notes.get(key)?.is_none();
            let is_added = is_new && has_room;
            if is_added || !is_new && url.purpose == UrlPurpose::Fetched {
                notes.insert(key, postcard::to_allocvec(url)?.as_slice())?;
            }
            Ok(is_added)
        })
    }

    pub(super) fn take_notes(&self, host: HostPosition) -> Result<Vec<RoutedUrl>> {
        self.0.with(|write| {
            let mut notes = write.open_table(NOTES)?;
            let taken = notes.extract_from_if(notes_of(host), |_, _| true)?;
            taken.map(|row| Ok(postcard::from_bytes(row?.1.value())?)).collect()
        })
    }

    pub(super) fn notes(&self, host: HostPosition) -> Result<Vec<RoutedUrl>> {
        self.0.with(|write| {
            let notes = write.open_table(NOTES)?;
            let rows = notes.range(notes_of(host))?;
            rows.map(|row| Ok(postcard::from_bytes(row?.1.value())?)).collect()
        })
    }
}

/// Keys of the notes of a host.
fn notes_of(host: HostPosition) -> RangeInclusive<(u64, &'static [u8])> {
    (host.0, &[])..=(host.0, &[0xff; 17])
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use model::CrawlUrl;
    use region::HostAtAddress;

    use super::*;
    use crate::peers::PeersError;

    fn url(n: u64, purpose: UrlPurpose) -> RoutedUrl {
        let url = CrawlUrl::parse(&format!("http://h{n}.test/a/long/path/{n}")).unwrap();
        let position = HostPosition::of(url.host_key_str());
        let address = IpAddr::from([192, 0, 2, 1]);
        RoutedUrl::first(url, HostAtAddress { position, address }, purpose)
    }

    /// Reads everything and changes each table.
    fn use_all(dir: &Path) -> Result<()> {
        let disk = PeersDisk::open(dir)?;
        disk.next_incarnation(UnixMillis(1))?;
        disk.membership()?;
        disk.policy()?;
        disk.note_counts()?;
        disk.waiting()?;
        let hosts = disk.hosts()?;
        let write = disk.write()?;
        for host in &hosts {
            write.notes(host.host.position)?;
            write.forget(host)?;
            write.remove_host(host.host.position)?;
        }
        write.commit()
    }

    #[test]
    fn without_room_no_note_is_added_and_those_that_are_there_change() {
        let dir = tempfile::tempdir().unwrap();
        let write = PeersDisk::open(dir.path()).unwrap().write().unwrap();
        assert!(write.note(&url(1, UrlPurpose::Known), true).unwrap());
        assert!(!write.note(&url(1, UrlPurpose::Fetched), false).unwrap());
        assert!(!write.note(&url(2, UrlPurpose::Fetched), false).unwrap());
        let notes = |n| write.notes(url(n, UrlPurpose::Known).host.position).unwrap();
        assert_eq!(notes(1), [url(1, UrlPurpose::Fetched)]);
        assert_eq!(notes(2), []);
    }

    #[test]
    fn a_file_that_is_damaged_anywhere_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let write = PeersDisk::open(dir.path()).unwrap().write().unwrap();
        for n in 0..300 {
            write.add_host(&url(n, UrlPurpose::Fetch)).unwrap();
            write.keep(&url(n, UrlPurpose::Fetch)).unwrap();
            write.note(&url(n, UrlPurpose::Fetched), true).unwrap();
        }
        write.commit().unwrap();
        let intact = std::fs::read(file(dir.path())).unwrap();
        use_all(dir.path()).unwrap();
        let used: Vec<usize> =
            (0..intact.len()).step_by(1_024).filter(|at| intact[*at] != 0).collect();
        let mut refused = 0;
        for at in &used {
            let mut damaged = intact.clone();
            let end = damaged.len().min(at + 700);
            damaged[*at..end].fill(0xa5);
            std::fs::write(file(dir.path()), damaged).unwrap();
            if let Err(error) = use_all(dir.path()) {
                let said = error.to_string();
                assert!(said.contains("region.redb is damaged; delete it"), "{at}: {error:?}");
                assert!(PeersError::from(error).is_damage());
                refused += 1;
            }
        }
        assert!(refused > used.len() / 4, "{refused} of {} files were refused", used.len());
    }
}
