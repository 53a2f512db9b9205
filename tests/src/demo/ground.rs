//! Where the world is put up: network namespaces where they can be had, else the loopback.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Options, RegistryData};
use crate::harness::Room;
use crate::world::{DemoWorld, Geography, Size, Stage};

/// An open stage and the registry data that fits it.
#[derive(Debug)]
pub struct Ground {
    /// The world, up and running.
    pub stage: Stage,
    /// What the coordinator shall load.
    pub data: RegistryData,
}

/// What a world shall be like.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    /// How many take part.
    pub size: Size,
    /// HTML documents.
    pub documents: usize,
    /// The same seed makes the same world.
    pub seed: u64,
    /// Whether network namespaces may be used.
    pub namespaces: bool,
}

/// Where measured round trips may lie beside the repository.
const BESIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/latency/oracle-2018");

/// Measured round trips of the given folder, or of the usual one where it exists; else the
/// geographic model, also for made-up registry data: hardly any of its addresses is one that was
/// measured.
pub fn geography(options: &Options) -> anyhow::Result<Geography> {
    let usual =
        || Some(PathBuf::from(BESIDE)).filter(|folder| folder.is_dir() && !options.made_up_data);
    let folder = options.oracle.clone().or_else(usual);
    Geography::open(folder.as_deref(), options.seed).context("cannot open the latency world")
}

impl Ground {
    /// Chooses a world from the data and opens it; says so when it has to be the loopback.
    pub fn open(
        data: RegistryData,
        geography: &Geography,
        wish: Wish,
        room: &Room,
    ) -> anyhow::Result<Self> {
        let hierarchy = data.hierarchy()?;
        let world = DemoWorld::choose(&hierarchy, geography, wish.size, wish.seed)?;
        if !wish.namespaces {
            return Self::on_loopback(&data, &world, wish, room);
        }
        match Stage::open(world.clone(), wish.documents) {
            Ok(stage) => Ok(Self { stage, data }),
            Err(error) if error.is_unavailable() => {
                let reason = format!("{:#}", anyhow::Error::new(error));
                println!(
                    "no virtual internet here ({reason}): the same world runs on loopback, with HEAD probes"
                );
                Self::on_loopback(&data, &world, wish, room)
            }
            Err(error) => Err(error).context("cannot open the stage"),
        }
    }

    fn on_loopback(
        data: &RegistryData,
        world: &DemoWorld,
        wish: Wish,
        room: &Room,
    ) -> anyhow::Result<Self> {
        let mirror = world.on_loopback()?;
        let folder = room.folder("mirror")?;
        for (name, content) in &mirror.files {
            std::fs::write(folder.join(name), content)
                .context("cannot write the mirrored registry data")?;
        }
        let origin = format!("{}, moved to 127.0.0.0/8", data.origin);
        let stage = Stage::open(mirror.world, wish.documents).context("cannot open the stage")?;
        Ok(Self { stage, data: RegistryData { folder, origin } })
    }
}
