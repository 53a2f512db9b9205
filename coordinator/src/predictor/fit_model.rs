//! What agents measured at landmarks becomes knowledge.

use model::UnixMillis;
use store::landmarks::{self, Stock};
use tokio::time::Instant;

use crate::predictor::Predictor;
use crate::predictor::{Basis, Sizes, survey};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Surveys the landmarks when their times have changed enough, or the hierarchy is another. A
/// survey reads every time and thousands of trails, so that it is never part of a search.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let hierarchy = delegated.hierarchy();
    let known = predictor.insight.basis();
    let basis = known.filter(|(generation, _)| *generation == hierarchy.generation());
    let since = basis.map_or(UnixMillis(0), |(_, basis)| basis.newest);
    let stock = landmarks::stock(&predictor.store, since).await?;
    if !is_due(basis.map(|(_, basis)| basis), stock, predictor.clock.now()) {
        return Ok(Outcome::Idle);
    }
    let began = Instant::now();
    let Sizes { landmarks, clusters, lessons } = survey(predictor, hierarchy).await?;
    predictor.events.emit(Event::ModelFitted);
    let took_ms = began.elapsed().as_millis();
    Ok(Outcome::Done(format!(
        "surveyed {} in {took_ms} ms: {}, and what {} taught",
        quantity(landmarks, "landmark"),
        quantity(clusters, "place"),
        quantity(lessons, "search"),
    )))
}

/// A survey is worth it at once when one in so many reports is new.
const CHANGED: u64 = 50;
/// For fewer it waits so long.
const REST_MS: u64 = 10 * 60_000;

/// Whether what was surveyed is not good enough any more.
fn is_due(surveyed: Option<Basis>, stock: Stock, now: UnixMillis) -> bool {
    let Some(basis) = surveyed else { return stock.reports > 0 };
    let gone = stock.reports < basis.reports;
    let changed = stock.newer.max(stock.reports.abs_diff(basis.reports));
    let rested = now.distance_ms(basis.surveyed_at) >= REST_MS;
    gone || changed > stock.reports / CHANGED || (rested && changed > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURVEYED: UnixMillis = UnixMillis(1_000);

    fn due(reports: u64, newer: u64, basis: Option<u64>, later_ms: i64) -> bool {
        let surveyed_at = SURVEYED;
        let basis = basis.map(|reports| Basis { reports, newest: UnixMillis(5), surveyed_at });
        is_due(basis, Stock { reports, newer }, SURVEYED.plus_ms(later_ms))
    }

    #[test]
    fn a_survey_follows_the_first_report_then_one_in_fifty() {
        assert!(!due(0, 0, None, 0));
        assert!(due(1, 1, None, 0));
        assert!(!due(1_000, 20, Some(1_000), 0));
        assert!(due(1_000, 21, Some(1_000), 0));
        assert!(due(999, 0, Some(1_000), 0), "an agent or a landmark is gone");
        assert!(due(2, 1, Some(1), 0), "a small world learns at once");
        assert!(due(27, 0, Some(26), 0), "two reports came in the same moment");
    }

    #[test]
    fn a_few_reports_wait_for_ten_minutes() {
        assert!(!due(1_000, 1, Some(1_000), 599_999));
        assert!(due(1_000, 1, Some(1_000), 600_000));
        assert!(!due(1_000, 0, Some(1_000), 600_000), "nothing is new");
    }
}
