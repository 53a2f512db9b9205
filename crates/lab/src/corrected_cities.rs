//! Cities whose position in the list of 2018 is that of a namesake: round trips to them would be
//! faster than light. The measured times belong to the corrected positions.

use crate::City;

/// Degrees north and east.
type Degrees = (f64, f64);

/// Name, position in the list, and where the times were measured.
const CORRECTED: [(&str, Degrees, Degrees); 12] = [
    ("Charlotte", (18.3, -64.9), (35.2, -80.8)),
    ("Cromwell", (-45.0, 169.2), (41.6, -72.6)),
    ("Fremont", (43.0, -108.6), (37.5, -122.0)),
    ("Halifax", (53.7, -1.9), (44.6, -63.6)),
    ("La Ceiba", (15.8, -86.8), (40.7, -74.0)),
    ("Maidstone", (18.1, -77.6), (51.3, 0.5)),
    ("Monticello", (45.4, 8.6), (42.7, -89.6)),
    ("Portland", (18.1, -76.5), (45.5, -122.7)),
    ("Salem", (44.9, -123.0), (42.5, -70.9)),
    ("San Jose", (9.9, -84.1), (37.3, -121.9)),
    ("St Louis", (16.0, -16.5), (38.6, -90.2)),
    ("Toledo", (39.9, -4.0), (41.7, -83.5)),
];
/// Degrees within which a position is that of the list.
const ROUNDING: f64 = 0.06;

impl City {
    /// The position, corrected where that of the list is wrong.
    pub fn corrected_position(&self) -> Option<(f64, f64)> {
        let listed = self.position()?;
        let is_wrong = |(name, (lat, lon), _): &&(&str, Degrees, Degrees)| {
            let is_near = (lat - listed.0).abs() < ROUNDING && (lon - listed.1).abs() < ROUNDING;
            *name == self.name && is_near
        };
        Some(CORRECTED.iter().find(is_wrong).map_or(listed, |(_, _, corrected)| *corrected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_listed_position_of_a_namesake_is_corrected() {
        let city = |lat, lon| City { name: "San Jose".into(), country: "ZZ".into(), lat, lon };
        assert_eq!(city(9.933, -84.083).corrected_position(), Some((37.3, -121.9)));
        assert_eq!(city(37.34, -121.89).corrected_position(), Some((37.34, -121.89)));
        assert_eq!(city(0.0, 0.0).corrected_position(), None);
    }
}
