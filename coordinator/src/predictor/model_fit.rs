//! Clusters and prior are built anew from what Postgres has.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use delegation::predictor::{Clusters, Landmark, Prior};
use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, LandmarkId, SearchId, UnixMillis};
use store::landmarks::{self, Measured, Outcome};
use store::round_trips::{self, RoundTrip};
use store::searches::{self, Decided};

use crate::predictor::Lesson;
use crate::predictor::Predictor;
use crate::predictor::knowledge::Knowledge;

/// What a survey was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Basis {
    /// Reports on landmarks.
    pub reports: u64,
    /// The newest of them.
    pub newest: UnixMillis,
    /// When it was read.
    pub surveyed_at: UnixMillis,
}

/// What is in a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Landmarks with a time.
    pub landmarks: usize,
    /// Clusters they are at.
    pub clusters: usize,
    /// Subnets that were learned from, after a search or by the fetches from them.
    pub lessons: usize,
}

/// Searches that are remembered after a start; older ones are behind what is still true.
const LESSONS: usize = 50_000;
/// Searches read at once.
const BATCH: u32 = 5_000;

/// Sees to it that something is known on this hierarchy, if only that there are no landmarks: a
/// search that goes on after a restart must not fall back to another order.
pub async fn know(predictor: &Predictor, hierarchy: &Arc<Hierarchy>) -> Result<(), anyhow::Error> {
    let is_known = || {
        let basis = predictor.insight.basis();
        basis.is_some_and(|(generation, _)| generation == hierarchy.generation())
    };
    if !is_known() {
        let _surveying = predictor.insight.surveying.lock().await;
        if !is_known() {
            build(predictor, hierarchy).await?;
        }
    }
    Ok(())
}

/// Builds the knowledge anew. What is learned meanwhile may be lost until
/// the next survey.
pub async fn survey(
    predictor: &Predictor,
    hierarchy: &Arc<Hierarchy>,
) -> Result<Sizes, anyhow::Error> {
    let _surveying = predictor.insight.surveying.lock().await;
    build(predictor, hierarchy).await
}

async fn build(predictor: &Predictor, hierarchy: &Arc<Hierarchy>) -> Result<Sizes, anyhow::Error> {
    let surveyed_at = predictor.clock.now();
    let times = landmarks::times(&predictor.store).await?;
    let newest = times.iter().map(|time| time.measured_at).max().unwrap_or(UnixMillis(0));
    let basis = Basis { reports: times.len() as u64, newest, surveyed_at };
    // Trails say nothing without clusters to compare them with.
    let lessons = if times.is_empty() { Vec::new() } else { lessons(predictor, hierarchy).await? };
    let ground = Arc::clone(hierarchy);
    let thinking = tokio::task::spawn_blocking(move || think(&ground, basis, &times, &lessons));
    let (known, sizes) = thinking.await?;
    predictor.insight.replace(known);
    Ok(sizes)
}

fn think(
    hierarchy: &Hierarchy,
    basis: Basis,
    times: &[Measured],
    lessons: &[Lesson],
) -> (Knowledge, Sizes) {
    let landmarks = by_landmark(hierarchy, times);
    let clusters = Clusters::fit(&landmarks);
    let prior = Prior::from_landmarks(hierarchy, &clusters);
    let generation = hierarchy.generation();
    let mut known = Knowledge { generation, clusters, prior, basis };
    if !known.clusters.is_empty() {
        for lesson in lessons {
            known.learn(hierarchy, lesson);
        }
    }
    let sizes = Sizes {
        landmarks: landmarks.len(),
        clusters: known.clusters.len(),
        lessons: lessons.len(),
    };
    (known, sizes)
}

/// The times in milliseconds; `times` are sorted by landmark.
fn by_landmark(hierarchy: &Hierarchy, times: &[Measured]) -> Vec<Landmark> {
    let mut found: Vec<(LandmarkId, Landmark)> = Vec::new();
    for time in times {
        let Outcome::Measured { rtt_us, .. } = time.outcome else { continue };
        let seen: (AgentId, f64) = (time.agent, f64::from(rtt_us) / 1000.0);
        if let Some((_, landmark)) = found.last_mut().filter(|(id, _)| *id == time.landmark) {
            landmark.times_ms.push(seen);
        } else {
            let subnet = hierarchy.smallest(time.address);
            found.push((time.landmark, Landmark { subnet, times_ms: vec![seen] }));
        }
    }
    found.into_iter().map(|(_, landmark)| landmark).collect()
}

/// The newest decided searches, oldest first, on this hierarchy.
async fn lessons(
    predictor: &Predictor,
    hierarchy: &Hierarchy,
) -> Result<Vec<Lesson>, store::StoreError> {
    let mut found = Vec::new();
    let mut before = SearchId::new(i64::MAX);
    while found.len() < LESSONS {
        let batch = searches::decided(&predictor.store, before, BATCH).await?;
        let Some(last) = batch.last() else { break };
        before = last.id;
        found.extend(batch.iter().filter_map(|decided| lesson(hierarchy, decided)));
    }
    found.reverse();
    let told = round_trips::newest(&predictor.store, LESSONS).await?;
    add_fetches(hierarchy, &mut found, &told);
    Ok(found)
}

/// Adds what fetches tell: to the last lesson of their subnet where its probes did not ask that
/// agent, else as a lesson of its own.
fn add_fetches(hierarchy: &Hierarchy, lessons: &mut Vec<Lesson>, told: &[RoundTrip]) {
    let mut shortest: BTreeMap<(SubnetId, AgentId), RoundTrip> = BTreeMap::new();
    for one in told {
        let known = shortest.entry((hierarchy.smallest(one.address), one.agent)).or_insert(*one);
        known.rtt_us = known.rtt_us.min(one.rtt_us);
    }
    let mut last: HashMap<SubnetId, usize> =
        lessons.iter().enumerate().map(|(index, lesson)| (lesson.subnet, index)).collect();
    for lesson in shortest.values().map(|one| Lesson::of_fetches(hierarchy, one)) {
        if let Some(index) = last.get(&lesson.subnet) {
            let known = &mut lessons[*index].times_ms;
            let is_new = |agent: AgentId| known.iter().all(|(other, _)| *other != agent);
            let new: Vec<_> =
                lesson.times_ms.into_iter().filter(|(agent, _)| is_new(*agent)).collect();
            known.extend(new);
        } else {
            last.insert(lesson.subnet, lessons.len());
            lessons.push(lesson);
        }
    }
}

fn lesson(hierarchy: &Hierarchy, decided: &Decided) -> Option<Lesson> {
    let subnet = hierarchy.find(&decided.subnet)?;
    let times = decided.times.iter().map(|(agent, rtt_us)| (*agent, f64::from(*rtt_us) / 1000.0));
    let times_ms: Vec<_> = times.collect();
    (!times_ms.is_empty()).then_some(Lesson { subnet, times_ms })
}

#[cfg(test)]
mod tests {
    use hierarchy::{Builder, CompanyIndex, Generation, Record, SubnetKind};

    use super::*;

    fn ground() -> Hierarchy {
        let mut builder = Builder::default();
        for range in ["198.51.100.0/24", "203.0.113.0/24"] {
            let (range, kind) = (range.parse().unwrap(), SubnetKind::Delegated);
            builder.add(Record { range, kind, registry: None, company: None, country: None });
        }
        builder.build(Generation::new(1), CompanyIndex::default().into_companies()).0
    }

    #[test]
    fn fetches_complete_what_probes_told_and_teach_of_the_others() {
        let ground = ground();
        let id = |subnet: &str| ground.find(&subnet.parse().unwrap()).unwrap();
        let (one, two) = (AgentId::new(1), AgentId::new(2));
        let mut lessons =
            vec![Lesson { subnet: id("198.51.100.0/24"), times_ms: vec![(one, 10.0)] }];
        let from = |address: &str, agent, rtt_us| RoundTrip {
            address: address.parse().unwrap(),
            agent,
            rtt_us,
        };
        let told = [
            from("198.51.100.1", one, 8_000),
            from("198.51.100.1", two, 95_000),
            from("198.51.100.9", two, 90_000),
            from("203.0.113.7", two, 7_000),
        ];
        add_fetches(&ground, &mut lessons, &told);
        let of = |subnet, times_ms| Lesson { subnet: id(subnet), times_ms };
        assert_eq!(
            lessons,
            [
                of("198.51.100.0/24", vec![(one, 10.0), (two, 90.0)]),
                of("203.0.113.0/24", vec![(two, 7.0)])
            ]
        );
    }
}
