//! Landmarks that are no place on a path between agents, because they answer in several places.
//!
//! An anycast landmark is near to agents that are far from each other. The sum of two agents' times
//! to it says nothing of the distance between the two.

/// Share of the distance between two agents below which the path over a landmark is a shortcut.
const SHORTCUT: f64 = 0.6;
/// Milliseconds that two agents must be apart to prove anything.
const APART_MS: f64 = 40.0;
/// Landmarks that must show that two agents are apart.
const MIN_LANDMARKS: usize = 3;
/// Agents of a landmark that are compared: the nearest ones.
const NEAREST: usize = 8;

/// Pairs of agents (rows) that prove a landmark to be a shortcut.
///
/// A report must not remove the landmarks that contradict it. A landmark therefore counts as a
/// shortcut for an agent only where a pair without this agent proves it.
#[derive(Debug, Clone, Default)]
pub(super) struct Shortcuts {
    /// Of each landmark one pair, a pair without the first of that pair, and one without its
    /// second.
    proofs: Vec<[Option<(usize, usize)>; 3]>,
}

impl Shortcuts {
    /// `rows` are times in milliseconds by agent, then by landmark.
    pub(super) fn find(rows: &[Vec<Option<f64>>]) -> Self {
        let landmarks = rows.first().map_or(0, Vec::len);
        let mut apart = Apart { rows, known: std::collections::HashMap::new() };
        Self { proofs: (0..landmarks).map(|landmark| proofs(rows, landmark, &mut apart)).collect() }
    }

    /// Whether agents other than the one of this row prove that the landmark is a shortcut.
    pub(super) fn is_shortcut(&self, landmark: usize, row: usize) -> bool {
        let pairs = self.proofs.get(landmark).into_iter().flatten().flatten();
        pairs.into_iter().any(|(a, b)| *a != row && *b != row)
    }
}

fn proofs(
    rows: &[Vec<Option<f64>>],
    landmark: usize,
    apart: &mut Apart<'_>,
) -> [Option<(usize, usize)>; 3] {
    let times = rows.iter().enumerate().filter_map(|(row, times)| Some((row, times[landmark]?)));
    let mut times: Vec<(usize, f64)> = times.collect();
    times.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    times.truncate(NEAREST);
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, (a, a_ms)) in times.iter().enumerate() {
        for (b, b_ms) in &times[index + 1..] {
            let apart_ms = apart.ms(*a, *b);
            if apart_ms >= APART_MS && a_ms + b_ms < SHORTCUT * apart_ms {
                found.push((*a, *b));
            }
        }
    }
    let Some((first, second)) = found.first().copied() else { return [None; 3] };
    let without = |row| found.iter().copied().find(|(a, b)| *a != row && *b != row);
    [Some((first, second)), without(first), without(second)]
}

/// Lower bounds of the distances between agents.
struct Apart<'a> {
    rows: &'a [Vec<Option<f64>>],
    known: std::collections::HashMap<(usize, usize), f64>,
}

impl Apart<'_> {
    /// The difference of the two agents' times that at least a few landmarks show.
    fn ms(&mut self, a: usize, b: usize) -> f64 {
        let rows = self.rows;
        *self.known.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let both = rows[a].iter().zip(&rows[b]);
            let mut differences: Vec<f64> =
                both.filter_map(|(a, b)| Some(((*a)? - (*b)?).abs())).collect();
            differences.sort_by(|a, b| b.total_cmp(a));
            differences.get(MIN_LANDMARKS - 1).copied().unwrap_or(0.0)
        })
    }
}
