//! Real addresses with the city they belong to: `targets.csv.gz` of the oracle
//! (`ip,rir,record_start,record_count,cc,opaque_id,…,city_id,dist_km`).

use std::{fs, io::Read, net::Ipv4Addr, path::Path};

use anyhow::Context as _;
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

/// Reads all targets, also those with a large `dist_km`. `file` may be gzipped (`.gz`) or plain.
pub fn targets(file: &Path) -> anyhow::Result<Vec<Target>> {
    let name = file.display();
    let open = fs::File::open(file).with_context(|| format!("cannot read the targets {name}"))?;
    let reader: Box<dyn Read> = match file.extension() {
        Some(extension) if extension == "gz" => Box::new(flate2::read::MultiGzDecoder::new(open)),
        _ => Box::new(open),
    };
    let rows = csv::Reader::from_reader(reader).into_deserialize().collect::<Result<_, _>>();
    rows.with_context(|| {
        format!(
            "{name} is not in the expected form \
             (ip,rir,record_start,record_count,cc,opaque_id,city_id,dist_km)"
        )
    })
}
