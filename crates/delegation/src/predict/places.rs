//! Landmarks that look alike from all agents are one place.
//!
//! One landmark is a poor picture of its city: its own routes deviate. The mean of those that lie together is a better
//! one, and two hundred places are faster to think about than a thousand landmarks.

use std::collections::{BTreeSet, HashMap};

use hierarchy::SubnetId;
use protocol::AgentId;

use super::{ACCESS_MS, route_deviation_ms};

/// Index of a place; it means nothing in another survey.
pub type Place = usize;

/// What the agents measured at one landmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Landmark {
    /// The subnet it stands for.
    pub subnet: SubnetId,
    /// Round trip in milliseconds per agent; who has not measured it is not here.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// Round trips from every agent to every place.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Their numbers are the columns; sorted.
    agents: Vec<AgentId>,
    times_ms: Vec<Row>,
    homes: Vec<(SubnetId, Place)>,
    sights: Vec<Sight>,
    /// By column, then by place.
    by_column: Vec<Expected>,
}

/// Mean and variance of the round trip to a subnet with the usual access, in milliseconds and their squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    pub(super) time_ms: f64,
    pub(super) variance: f64,
}

/// Spread of the time from an agent that has measured nothing at a place, as a share of the others' mean.
const STRANGER_SIGMA: f64 = 0.7;

/// What a search needs to know of a place at once.
#[derive(Debug, Clone)]
pub(super) struct Sight {
    /// The mean over all agents that measured something there.
    pub(super) mean_ms: f64,
    /// Columns with what is expected of them in milliseconds, the nearest first; small, since most of a step is to walk them.
    pub(super) nearest: Vec<(u32, f32)>,
    /// Columns that measured nothing there.
    pub(super) strangers: Vec<u32>,
}

/// Times per column; `None` where nobody measured.
type Row = Vec<Option<f64>>;

/// A landmark joins a place when its squared deviation is on average below this many variances of a route: two, because
/// a place of one landmark deviates as much as the newcomer.
const JOIN: f64 = 2.0;
/// Rounds of assigning and averaging. More change nothing that matters.
const ROUNDS: usize = 4;
/// Variance of a measurement however short the way, in square milliseconds.
const FLOOR: f64 = 0.5;

impl Places {
    /// Groups the landmarks. The order of the landmarks decides little, the same order gives the same places.
    pub fn survey(landmarks: &[Landmark]) -> Self {
        let agents: BTreeSet<AgentId> =
            landmarks.iter().flat_map(|landmark| landmark.times_ms.iter().map(|(agent, _)| *agent)).collect();
        let agents: Vec<AgentId> = agents.into_iter().collect();
        let columns: HashMap<AgentId, usize> = agents.iter().copied().zip(0..).collect();
        let rows: Vec<Row> = landmarks.iter().map(|landmark| row(landmark, &columns)).collect();
        let (mut times_ms, mut homes) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            homes = assign(&rows, &mut times_ms);
            times_ms = average(&rows, &mut homes, &times_ms);
        }
        let homes = landmarks.iter().zip(homes).map(|(landmark, place)| (landmark.subnet, place)).collect();
        let sights: Vec<Sight> = times_ms.iter().map(Sight::of).collect();
        let column = |column: usize| {
            let rows = times_ms.iter().zip(&sights);
            rows.map(move |(row, sight)| row[column].map_or_else(|| sight.stranger(), Expected::known))
        };
        let by_column = (0..agents.len()).flat_map(column).collect();
        Self { agents, times_ms, homes, sights, by_column }
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.times_ms.len()
    }

    /// Whether there are none, because no landmark was measured.
    pub fn is_empty(&self) -> bool {
        self.times_ms.is_empty()
    }

    /// Each landmark's subnet with the place it belongs to.
    pub fn homes(&self) -> &[(SubnetId, Place)] {
        &self.homes
    }

    /// The round trip from `agent` to a subnet with the usual access at `place`, in milliseconds; `None` where
    /// it has measured no landmark.
    pub fn time_ms(&self, place: Place, agent: AgentId) -> Option<f64> {
        *self.times_ms.get(place)?.get(self.column(agent)?)?
    }

    /// The mean over all agents that measured something at `place`.
    pub fn mean_ms(&self, place: Place) -> f64 {
        self.sights.get(place).map_or(0.0, |sight| sight.mean_ms)
    }

    /// The agents that measured something anywhere, by column.
    pub(super) fn agents(&self) -> &[AgentId] {
        &self.agents
    }

    /// What is known of each place.
    pub(super) fn sights(&self) -> &[Sight] {
        &self.sights
    }

    /// What is expected of `agent` at all places; `None` when it measured nothing at all.
    pub(super) fn expected_of(&self, agent: AgentId) -> Option<&[Expected]> {
        let column = self.column(agent)?;
        self.by_column.get(column * self.len()..(column + 1) * self.len())
    }

    fn column(&self, agent: AgentId) -> Option<usize> {
        self.agents.binary_search(&agent).ok()
    }
}

impl Sight {
    fn of(row: &Row) -> Self {
        let known = || (0..).zip(row).filter_map(|(column, time)| Some((column, (*time)?)));
        let mut nearest: Vec<(u32, f32)> =
            known().map(|(column, time_ms)| (column, time_ms as f32)).collect();
        nearest.sort_by(|a, b| a.1.total_cmp(&b.1));
        let strangers = (0..).zip(row).filter(|(_, time)| time.is_none()).map(|(column, _)| column).collect();
        let mean_ms = known().map(|(_, time)| time).sum::<f64>() / nearest.len().max(1) as f64;
        Self { mean_ms, nearest, strangers }
    }

    /// What is expected of an agent that has measured nothing here: no more than that it is one of the agents.
    pub(super) fn stranger(&self) -> Expected {
        Expected { time_ms: self.mean_ms, variance: (STRANGER_SIGMA * self.mean_ms).powi(2) }
    }
}

impl Expected {
    /// What is expected of an agent that measured this.
    pub(super) fn known(time_ms: f64) -> Self {
        Self { time_ms, variance: route_deviation_ms(time_ms).powi(2) }
    }
}

fn row(landmark: &Landmark, columns: &HashMap<AgentId, usize>) -> Row {
    let mut row = vec![None; columns.len()];
    for (agent, time_ms) in &landmark.times_ms {
        if let Some(column) = columns.get(agent) {
            row[*column] = Some(*time_ms);
        }
    }
    row
}

/// The nearest place of each landmark; who is near to none founds one.
fn assign(rows: &[Row], places: &mut Vec<Row>) -> Vec<Place> {
    let mut homes = Vec::with_capacity(rows.len());
    for row in rows {
        let fits = places.iter().enumerate().filter_map(|(place, times)| Some((place, Fit::of(row, times)?)));
        let nearest = fits.min_by(|(_, a), (_, b)| a.deviation.total_cmp(&b.deviation));
        homes.push(match nearest {
            Some((place, fit)) if fit.deviation < JOIN => place,
            _ => {
                places.push(row.clone());
                places.len() - 1
            }
        });
    }
    homes
}

/// The mean of the landmarks of each place, freed of their own access times; places that lost all are dropped.
fn average(rows: &[Row], homes: &mut [Place], places: &[Row]) -> Vec<Row> {
    let mut sums = vec![Sum::default(); places.len()];
    for (row, home) in rows.iter().zip(homes.iter()) {
        let access_ms = Fit::of(row, &places[*home]).map_or(0.0, |fit| fit.access_ms);
        sums[*home].add(row, access_ms);
    }
    let kept: Vec<Place> = (0..places.len()).filter(|place| sums[*place].landmarks > 0.0).collect();
    for home in homes.iter_mut() {
        *home = kept.partition_point(|place| place < home);
    }
    kept.into_iter().map(|place| sums[place].mean()).collect()
}

#[derive(Clone, Default)]
struct Sum {
    landmarks: f64,
    access_ms: f64,
    columns: Vec<(f64, f64)>,
}

impl Sum {
    fn add(&mut self, row: &Row, access_ms: f64) {
        self.columns.resize(row.len(), (0.0, 0.0));
        self.landmarks += 1.0;
        self.access_ms += access_ms;
        for (column, time_ms) in self.columns.iter_mut().zip(row) {
            if let Some(time_ms) = time_ms {
                *column = (column.0 + time_ms - access_ms, column.1 + 1.0);
            }
        }
    }

    fn mean(&self) -> Row {
        let access_ms = self.access_ms / self.landmarks;
        let mean = |(sum, count): &(f64, f64)| (*count > 0.0).then(|| (sum / count + access_ms).max(0.1));
        self.columns.iter().map(mean).collect()
    }
}

/// How a landmark lies to a place.
struct Fit {
    /// Its access time above the place's, in milliseconds.
    access_ms: f64,
    /// Mean squared deviation of the rest, in variances of a route.
    deviation: f64,
}

impl Fit {
    /// `None` when no agent has measured both.
    fn of(row: &Row, place: &Row) -> Option<Self> {
        let both = || row.iter().zip(place).filter_map(|(time, expected)| Some(((*time)?, (*expected)?)));
        let variance = |expected| route_deviation_ms(expected).powi(2) + FLOOR;
        let (mut pull, mut weight, mut agents) = (0.0, 1.0 / (2.0 * ACCESS_MS * ACCESS_MS), 0.0);
        for (time_ms, expected) in both() {
            pull += (time_ms - expected) / variance(expected);
            weight += 1.0 / variance(expected);
            agents += 1.0;
        }
        let access_ms = pull / weight;
        let squares =
            both().map(|(time, expected)| (time - expected - access_ms).powi(2) / variance(expected));
        (agents > 0.0).then(|| Self { access_ms, deviation: squares.sum::<f64>() / agents })
    }
}
