//! Setup of a run: chooses the world and opens its environment.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Options, RegistryData};
use crate::harness::RunDirectory;
use crate::world::{DemoWorld, Environment, Geography, Size};

/// An open environment and the registry data that fits it.
#[derive(Debug)]
pub struct Setup {
    /// The world, up and running.
    pub environment: Environment,
    /// What the coordinator shall load.
    pub data: RegistryData,
}

/// What a world shall be like.
#[derive(Debug, Clone, Copy)]
pub struct WorldRequest {
    /// How many take part.
    pub size: Size,
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

impl Setup {
    /// Chooses a world from the data and opens it; says so when it has to be the loopback.
    pub fn open(
        data: RegistryData,
        geography: &Geography,
        request: WorldRequest,
        run_directory: &RunDirectory,
    ) -> anyhow::Result<Self> {
        let hierarchy = data.hierarchy()?;
        let world = DemoWorld::choose(&hierarchy, geography, request.size, request.seed)?;
        if !request.namespaces {
            return Self::on_loopback(&data, &world, request, run_directory);
        }
        match Environment::open(world.clone(), request.documents) {
            Ok(environment) => Ok(Self { environment, data }),
            Err(error) if error.is_unavailable() => {
                let reason = format!("{:#}", anyhow::Error::new(error));
                println!(
                    "no virtual internet here ({reason}): the same world runs on loopback, with \
                     HEAD probes"
                );
                Self::on_loopback(&data, &world, request, run_directory)
            }
            Err(error) => Err(error).context("cannot open the environment"),
        }
    }

    fn on_loopback(
        data: &RegistryData,
        world: &DemoWorld,
        request: WorldRequest,
        run_directory: &RunDirectory,
    ) -> anyhow::Result<Self> {
        let mirror = world.on_loopback()?;
        let folder = run_directory.folder("mirror")?;
        for (name, content) in &mirror.files {
            std::fs::write(folder.join(name), content)
                .context("cannot write the mirrored registry data")?;
        }
        let origin = format!("{}, moved to 127.0.0.0/8", data.origin);
        let environment = Environment::open(mirror.world, request.documents)
            .context("cannot open the environment")?;
        Ok(Self { environment, data: RegistryData { folder, origin } })
    }
}
