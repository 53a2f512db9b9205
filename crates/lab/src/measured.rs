//! Measured worlds: `cities.csv` (`id,city,country_region,lat,lon`) and
//! `rtt_ms.csv` (`src,dst,min,avg,max,mdev`, milliseconds; ids of the first file).

use std::{fs, path::Path};

use serde::Deserialize;

use crate::{City, World, partial_matrix::PartialMatrix};

/// Why a measured world could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasuredError {
    /// The file is missing or cannot be opened.
    #[error("cannot read {file}; give the folder that holds cities.csv and rtt_ms.csv")]
    Open {
        /// Path of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line has other columns than expected.
    #[error("{file} is not in the expected form ({expected})")]
    Row {
        /// Path of the file.
        file: String,
        /// The columns that were expected.
        expected: &'static str,
        /// Line and field, as the CSV reader says it.
        source: csv::Error,
    },
    /// City ids must be 0, 1, 2, … in this order.
    #[error(
        "{file}: city {found} stands where city {wanted} was expected; number the cities from 0 \
         without gaps"
    )]
    Order {
        /// Path of the file.
        file: String,
        /// Id in the file.
        found: usize,
        /// Id that was due.
        wanted: usize,
    },
    /// A measurement names a city that is not listed.
    #[error("{file}: a measurement names city {city}, but there are only {cities} cities")]
    UnknownCity {
        /// Path of the file.
        file: String,
        city: usize,
        /// How many cities are listed.
        cities: usize,
    },
    /// Ids must be dense; a matrix of that many places would not fit in memory.
    #[error("{file}: city {city} is beyond {MOST_CITIES}; number the cities from 0 without gaps")]
    TooMany {
        /// Path of the file.
        file: String,
        city: usize,
    },
}

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
    pub fn measured(dir: &Path) -> Result<World, MeasuredError> {
        let cities = read_cities(&dir.join("cities.csv"))?;
        read_times(&dir.join("rtt_ms.csv"), Some(cities))
    }

    /// Reads one file of times in this format, with the `cities.csv` beside it where there is one.
    pub fn times(file: &Path) -> Result<World, MeasuredError> {
        let beside = file.with_file_name("cities.csv");
        let cities = if beside.is_file() { Some(read_cities(&beside)?) } else { None };
        read_times(file, cities)
    }
}

fn read_cities(file: &Path) -> Result<Vec<City>, MeasuredError> {
    let mut cities = Vec::new();
    for row in rows::<CityRow>(file, "id,city,country_region,lat,lon")? {
        if row.id != cities.len() {
            return Err(MeasuredError::Order {
                file: shown(file),
                found: row.id,
                wanted: cities.len(),
            });
        }
        let country = country_code(&row.country_region);
        cities.push(City { name: row.city, country, lat: row.lat, lon: row.lon });
    }
    Ok(cities)
}

/// Without a list of cities, the ids of the measurements make one.
fn read_times(file: &Path, cities: Option<Vec<City>>) -> Result<World, MeasuredError> {
    let rows = rows::<RttRow>(file, "src,dst,min,avg,max,mdev")?;
    let named = rows.iter().map(|row| row.src.max(row.dst)).max().map_or(0, |last| last + 1);
    let cities = match cities {
        Some(cities) if named > cities.len() => {
            return Err(MeasuredError::UnknownCity {
                file: shown(file),
                city: named - 1,
                cities: cities.len(),
            });
        }
        Some(cities) => cities,
        None if named > MOST_CITIES => {
            return Err(MeasuredError::TooMany { file: shown(file), city: named - 1 });
        }
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

fn rows<Row: for<'de> Deserialize<'de>>(
    file: &Path,
    expected: &'static str,
) -> Result<Vec<Row>, MeasuredError> {
    let open =
        fs::File::open(file).map_err(|source| MeasuredError::Open { file: shown(file), source })?;
    let rows = csv::Reader::from_reader(open).into_deserialize().collect::<Result<Vec<Row>, _>>();
    rows.map_err(|source| MeasuredError::Row { file: shown(file), expected, source })
}

fn shown(file: &Path) -> String {
    file.display().to_string()
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
