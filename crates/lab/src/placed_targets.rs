//! Real addresses with the city they belong to: `targets.csv.gz` of the oracle
//! (`ip,rir,record_start,record_count,cc,opaque_id,…,city_id,dist_km`).

use std::{fs, io::Read, net::Ipv4Addr, path::Path};

use serde::Deserialize;

use crate::CityId;

/// An address of a registry record, placed in a city by geolocation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Target {
    #[serde(rename = "ip")]
    pub address: Ipv4Addr,
    /// First address of the registry record that holds it.
    pub record_start: Ipv4Addr,
    /// Addresses in that record.
    pub record_count: u32,
    /// `afrinic`, `apnic`, `arin`, `lacnic` or `ripencc`.
    #[serde(rename = "rir")]
    pub registry: String,
    /// Country of the record, ISO 3166.
    #[serde(rename = "cc")]
    pub country: String,
    /// The registry's opaque id of the holder.
    #[serde(rename = "opaque_id")]
    pub company: String,
    /// Nearest measured city.
    #[serde(rename = "city_id")]
    pub city: CityId,
    /// From the geolocated place to that city, in kilometres. From 400 on the city says little.
    pub dist_km: u32,
}

/// Why the targets could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The file is missing or cannot be opened.
    #[error("cannot read the targets {file}")]
    Open {
        /// Path of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line has other columns than expected.
    #[error(
        "{file} is not in the expected form \
         (ip,rir,record_start,record_count,cc,opaque_id,city_id,dist_km)"
    )]
    Row {
        /// Path of the file.
        file: String,
        /// Line and field, as the CSV reader says it.
        source: csv::Error,
    },
}

/// Reads all targets, also those with a large `dist_km`. `file` may be gzipped (`.gz`) or plain.
pub fn targets(file: &Path) -> Result<Vec<Target>, TargetError> {
    let name = file.display().to_string();
    let open = match fs::File::open(file) {
        Ok(open) => open,
        Err(source) => return Err(TargetError::Open { file: name, source }),
    };
    let reader: Box<dyn Read> = match file.extension() {
        Some(extension) if extension == "gz" => Box::new(flate2::read::MultiGzDecoder::new(open)),
        _ => Box::new(open),
    };
    let rows = csv::Reader::from_reader(reader).into_deserialize();
    rows.collect::<Result<_, _>>().map_err(|source| TargetError::Row { file: name, source })
}
