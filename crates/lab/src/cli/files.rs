//! The files of a world.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use lab::{Scenario, ScenarioSettings, Topology, World, targets};

#[derive(Debug, clap::Args)]
pub(crate) struct Files {
    /// Round trips: CSV (src,dst,min,avg,max,mdev) or a plain square matrix, milliseconds; without
    /// it the built-in geographic world
    #[arg(long, value_name = "FILE")]
    rtt: Option<PathBuf>,
    /// Addresses with their registry records and cities (CSV, may be gzipped); without it every
    /// host is a subnet
    #[arg(long, value_name = "FILE", requires = "rtt")]
    targets: Option<PathBuf>,
    /// Leave out targets this far or farther from their city
    #[arg(long, default_value_t = 400, value_name = "KM")]
    pub(crate) max_dist_km: u32,
}

/// Seed of the built-in world.
const WORLD: u64 = 1;

impl Files {
    pub(crate) fn topology(&self) -> anyhow::Result<Topology> {
        let Some(rtt) = &self.rtt else { return Ok(Topology::of_matrix(World::geographic(WORLD))) };
        let world = world(rtt)?;
        let Some(file) = &self.targets else { return Ok(Topology::of_matrix(world)) };
        let targets = targets(file)?;
        let cities = world.cities().len();
        let stranger = targets.iter().find(|target| target.city.get() >= cities);
        if let Some(stranger) = stranger {
            let address = stranger.address;
            let city = stranger.city.get();
            anyhow::bail!(
                "{}: {address} is in city {city}, but the matrix has only {cities}",
                file.display()
            );
        }
        Ok(Topology::of_targets(world, &targets, self.max_dist_km))
    }

    /// Geolocated targets get noise; the times of a plain matrix are exact.
    pub(crate) fn settings(&self, agents: usize, subnets: usize) -> ScenarioSettings {
        match self.targets {
            Some(_) => ScenarioSettings { agents, subnets, ..ScenarioSettings::default() },
            None => ScenarioSettings::without_noise(agents, subnets),
        }
    }
}

/// A scenario with something to replay: without agents or subnets all figures would be NaN.
pub(crate) fn scenario(
    topology: &Topology,
    settings: ScenarioSettings,
    seed: u64,
) -> anyhow::Result<Scenario<'_>> {
    let scenario = Scenario::new(topology, settings, seed);
    ensure!(
        !scenario.agents.is_empty() && !scenario.sites.is_empty(),
        "nothing to replay: the matrix or the targets are too few, or the times of some agent are \
         not known"
    );
    Ok(scenario)
}

/// A file whose first line names columns is a list of measurements, any other a matrix.
fn world(file: &Path) -> anyhow::Result<World> {
    let open = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut first = String::new();
    BufReader::new(open)
        .read_line(&mut first)
        .with_context(|| format!("{} is not text", file.display()))?;
    Ok(if first.trim_start().starts_with("src,dst") {
        World::times(file)?
    } else {
        World::matrix(file)?
    })
}
