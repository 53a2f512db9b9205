//! A world on loopback: every registry record of a participant becomes a small range of
//! 127.0.0.0/8, in the same order and with the same registry, country and holder. A hierarchy
//! loaded from the mirror has the same companies and neighbours.
//!
//! 127.X.0.0/16 stands for the X-th /8 that the world uses; 127.0.0.0/16 is for the coordinator and
//! the name server.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};

use hierarchy::Registry;

use super::RegistryRecord;
use super::demo::{DemoWorld, NetworkKind, Participant};
use super::error::WorldError;

/// Addresses of the smallest mirrored record.
const SMALLEST: u32 = 16;
/// Addresses for each mirrored /8.
const ROOM: u32 = 1 << 16;
/// 127.255.255.255 is a broadcast address; the last /16 stays empty.
const MOST_BLOCKS: usize = 254;

/// A world on loopback and the registry data that goes with it.
#[derive(Debug)]
pub struct Mirror {
    /// The same world, at 127.x addresses.
    pub world: DemoWorld,
    /// Name and content of one delegated-extended file for each registry; load these instead of the
    /// real ones.
    pub files: Vec<(String, String)>,
}

impl DemoWorld {
    /// Moves the world to loopback.
    pub fn on_loopback(&self) -> Result<Mirror, WorldError> {
        let records = mirrored(self.agents.iter().chain(&self.hosts))?;
        let mut world = self.clone();
        world.network_kind = NetworkKind::Loopback;
        for participant in world.agents.iter_mut().chain(&mut world.hosts) {
            move_in(participant, &records)?;
        }
        world.coordinator.address = Ipv4Addr::LOCALHOST.into();
        world.dns.address = Ipv4Addr::new(127, 0, 0, 2).into();
        let files = Registry::ALL.into_iter().filter_map(|registry| file(registry, &records));
        Ok(Mirror { files: files.collect(), world })
    }
}

/// A record's place on loopback.
#[derive(Debug)]
struct MirroredRecord {
    original: RegistryRecord,
    first: Ipv4Addr,
    size: u32,
    /// Original addresses, in order; the n-th becomes the n-th address after the first of the
    /// mirror.
    participants: Vec<IpAddr>,
}

/// All records by their original first address.
fn mirrored<'r>(
    participants: impl Iterator<Item = &'r Participant>,
) -> Result<BTreeMap<IpAddr, MirroredRecord>, WorldError> {
    let mut originals: BTreeMap<IpAddr, (RegistryRecord, BTreeSet<IpAddr>)> = BTreeMap::new();
    for participant in participants {
        let entry = originals.entry(participant.record.range.first());
        let (_, addresses) = entry.or_insert_with(|| (participant.record.clone(), BTreeSet::new()));
        addresses.insert(participant.address);
    }
    let mut blocks: BTreeMap<u8, (usize, u32)> = BTreeMap::new();
    let mut records = BTreeMap::new();
    for (original, (record, participants)) in originals {
        let count = blocks.len();
        let (block, used) = blocks.entry(eighth(original)?).or_insert((count + 1, 0));
        // One address at either end stays free; a range of a power of two begins at a multiple of
        // itself.
        let size = (participants.len() as u32 + 2).next_power_of_two().max(SMALLEST);
        let start = used.next_multiple_of(size);
        *used = start + size;
        if *block > MOST_BLOCKS || *used > ROOM {
            return Err(WorldError::NoRoom);
        }
        let first = Ipv4Addr::from((127 << 24) | ((*block as u32) << 16) | start);
        records.insert(
            original,
            MirroredRecord {
                original: record,
                first,
                size,
                participants: participants.into_iter().collect(),
            },
        );
    }
    Ok(records)
}

/// The first number of an address.
fn eighth(address: IpAddr) -> Result<u8, WorldError> {
    match address {
        IpAddr::V4(v4) => Ok(v4.octets()[0]),
        IpAddr::V6(_) => Err(WorldError::NoRoom),
    }
}

fn move_in(
    participant: &mut Participant,
    records: &BTreeMap<IpAddr, MirroredRecord>,
) -> Result<(), WorldError> {
    let record = records.get(&participant.record.range.first()).ok_or(WorldError::NoRoom)?;
    let place =
        record.participants.binary_search(&participant.address).map_err(|_| WorldError::NoRoom)?;
    let first = u32::from(record.first);
    let last = Ipv4Addr::from(first + record.size - 1);
    participant.address = Ipv4Addr::from(first + 1 + place as u32).into();
    participant.record.range =
        hierarchy::Range::new(record.first.into(), last.into()).map_err(|_| WorldError::NoRoom)?;
    Ok(())
}

/// The delegated-extended file of a registry; none when it has no record.
fn file(
    registry: Registry,
    records: &BTreeMap<IpAddr, MirroredRecord>,
) -> Option<(String, String)> {
    let mut lines = String::new();
    let mut count = 0;
    for record in records.values().filter(|record| record.original.registry == registry) {
        let MirroredRecord {
            original: RegistryRecord { country, handle, .. }, first, size, ..
        } = record;
        let name = registry.as_str();
        let country = country.as_str();
        // Writing into a string cannot fail.
        let _ = writeln!(lines, "{name}|{country}|ipv4|{first}|{size}|20181012|allocated|{handle}");
        count += 1;
    }
    let name = registry.as_str();
    let head = format!(
        "2|{name}|20181012|{count}|19830101|20181012|+0000\n{name}|*|ipv4|*|{count}|summary\n"
    );
    (count > 0).then(|| (format!("delegated-{name}-extended-latest"), head + &lines))
}
