//! Latency worlds: how far is this city from that one, and how good was a dealing of hosts to
//! agents?
//!
//! The road through the crate: a [`World`] is a full matrix of round trips between cities. It comes
//! from measurements ([`World::oracle`], [`World::matrix`]) or from geography alone
//! ([`World::geographic`]). [`targets`] reads real addresses with the city each belongs to.
//! [`evaluate`] compares who crawls what with who is truly nearest, with random dealing and with
//! the optimum.
//!
//! The balance contest ([`contest`], [`change`]) plays the online rules and the optimum on one
//! instance; the calibration replay is [`calibration`]. Nothing here knows an unseeded random
//! number: the same arguments give the same figures, but for the computing times that [`Took`]
//! measures.

mod balance;
mod calibration;
mod cell;
mod city;
mod clock;
mod deal;
mod geographic;
mod noise;
mod oracle;
mod plain;
mod plot;
mod replay;
mod target;
mod world;

pub use balance::{
    Change, Contest, Entry, InstanceFileError, MadeSettings, change, contest, instance_file, made,
};
pub use calibration::{Calibration, Days, SeriesSettings, calibration};
pub use city::{City, CityId};
pub use clock::Took;
pub use deal::{Dealt, Evaluation, TIE_MS, evaluate};
pub use noise::Noise;
pub use oracle::OracleError;
pub use plain::MatrixError;
pub use plot::{Curve, Plot};
pub use replay::{
    Crawler, Draw, DrawSettings, Ground, Outcome, Placement, Plan, Scale, Searching, Site, mean_of,
    replay, scale,
};
pub use target::{Target, TargetError, targets};
pub use world::{Gaps, World};
