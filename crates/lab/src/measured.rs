//! Measured worlds: `cities.csv` (`id,city,country_region,lat,lon`) and
//! `rtt_ms.csv` (`src,dst,min,avg,max,mdev`, milliseconds; ids of the first file).

use std::{fs, path::Path};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{City, World, partial_matrix::PartialMatrix};

/// Cities in a matrix; twice 800 MB of times.
pub(crate) const MOST_CITIES: usize = 10_000;

#[derive(Deserialize)]
struct CityRow {
    id: usize,
    city: String,
    country_region: String,
    lat: f64,
    lon: f64,
}

#[derive(Deserialize)]
struct RttRow {
    src: usize,
    dst: usize,
    avg: f64,
    #[serde(default)]
    mdev: f64,
}

impl World {
    /// Reads `cities.csv` and `rtt_ms.csv` in `dir`; the average of each measurement counts.
    pub fn measured(dir: &Path) -> anyhow::Result<World> {
        let cities = read_cities(&dir.join("cities.csv"))?;
        read_times(&dir.join("rtt_ms.csv"), Some(cities))
    }

    /// Reads one file of times in this format, with the `cities.csv` beside it where there is one.
    pub fn times(file: &Path) -> anyhow::Result<World> {
        let beside = file.with_file_name("cities.csv");
        let cities = if beside.is_file() { Some(read_cities(&beside)?) } else { None };
        read_times(file, cities)
    }
}

fn read_cities(file: &Path) -> anyhow::Result<Vec<City>> {
    let mut cities = Vec::new();
    for row in rows::<CityRow>(file, "id,city,country_region,lat,lon")? {
        ensure!(
            row.id == cities.len(),
            "{}: city {} stands where city {} was expected; number the cities from 0 without gaps",
            file.display(),
            row.id,
            cities.len()
        );
        let country = country_code(&row.country_region);
        cities.push(City { name: row.city, country, lat: row.lat, lon: row.lon });
    }
    Ok(cities)
}

/// Without a list of cities, the ids of the measurements make one.
fn read_times(file: &Path, cities: Option<Vec<City>>) -> anyhow::Result<World> {
    let name = file.display();
    let rows = rows::<RttRow>(file, "src,dst,min,avg,max,mdev")?;
    let named = rows.iter().map(|row| row.src.max(row.dst)).max().map_or(0, |last| last + 1);
    let cities = match cities {
        Some(cities) if named > cities.len() => bail!(
            "{name}: a measurement names city {}, but there are only {} cities",
            named - 1,
            cities.len()
        ),
        Some(cities) => cities,
        // Ids must be dense; a matrix of that many places would not fit in memory.
        None if named > MOST_CITIES => bail!(
            "{name}: city {} is beyond {MOST_CITIES}; number the cities from 0 without gaps",
            named - 1
        ),
        None => (0..named).map(City::nameless).collect(),
    };
    let side = cities.len();
    let mut costs = PartialMatrix::new(side);
    let mut jitter_ms = vec![0.0; side * side];
    for row in rows {
        costs.set(row.src, row.dst, row.avg);
        jitter_ms[row.src * side + row.dst] = row.mdev;
    }
    Ok(World::from_partial(cities, &costs, jitter_ms))
}

fn rows<Row: DeserializeOwned>(file: &Path, expected: &str) -> anyhow::Result<Vec<Row>> {
    let name = file.display();
    let open = fs::File::open(file).with_context(|| {
        format!("cannot read {name}; give the folder that holds cities.csv and rtt_ms.csv")
    })?;
    let rows = csv::Reader::from_reader(open).into_deserialize().collect::<Result<_, _>>();
    rows.with_context(|| format!("{name} is not in the expected form ({expected})"))
}

/// "Cyprus, Eurasia" is CY. `ZZ` for a name that the list of ours does not have.
fn country_code(country_region: &str) -> String {
    const COUNTRIES: &str = include_str!("facts/countries.csv");
    let name =
        country_region.rsplit_once(", ").map_or(country_region, |(country, _region)| country);
    let known = COUNTRIES.lines().filter_map(|line| line.split_once(','));
    known
        .filter(|(country, _)| *country == name)
        .map(|(_, code)| code)
        .next()
        .unwrap_or("ZZ")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_found_by_name() {
        assert_eq!(country_code("Cyprus, Eurasia"), "CY");
        assert_eq!(country_code("Utopia, Nowhere"), "ZZ");
    }
}
