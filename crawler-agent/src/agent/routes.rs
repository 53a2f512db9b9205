//! Which routes of an answer are new.

use protocol::{Route, limits};

/// The routes with numbers above `after`. They end at the first number that no coordinator can have
/// reached: storing it would make the agent take every later route for a known one.
pub(super) fn new_routes(routes: Vec<Route>, after: u64) -> Vec<Route> {
    let mut last = after;
    let mut new = Vec::new();
    for route in routes {
        // Answers are repeated after a lost connection.
        if route.seq <= last {
            continue;
        }
        if route.seq - last > limits::ROUTE_GAP {
            tracing::error!(route = route.seq, last, "a route has an impossible number");
            break;
        }
        last = route.seq;
        new.push(route);
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(routes: &[u64], after: u64) -> Vec<u64> {
        let route = |seq: &u64| Route { seq: *seq, url: "http://e.org/".into(), redirects: 0 };
        let new = new_routes(routes.iter().map(route).collect(), after);
        new.into_iter().map(|route| route.seq).collect()
    }

    #[test]
    fn repeated_routes_and_impossible_numbers_are_left_out() {
        assert_eq!(numbers(&[3, 4, 7], 3), [4, 7]);
        assert_eq!(numbers(&[1, 2], 2), [0_u64; 0]);
        assert_eq!(numbers(&[4, u64::MAX], 3), [4]);
        assert_eq!(numbers(&[u64::MAX], 0), [0_u64; 0]);
        assert_eq!(numbers(&[3 + limits::ROUTE_GAP], 3), [3 + limits::ROUTE_GAP]);
        assert_eq!(numbers(&[4 + limits::ROUTE_GAP], 3), [0_u64; 0]);
    }
}
