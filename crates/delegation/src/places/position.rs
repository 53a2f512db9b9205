//! Positions on the globe.

/// A point on the globe, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    lat: f32,
    lon: f32,
}

const EARTH_RADIUS_KM: f32 = 6371.0;

impl Position {
    /// Degrees north and east; `None` outside of the globe.
    pub fn new(lat: f32, lon: f32) -> Option<Self> {
        (lat.abs() <= 90.0 && lon.abs() <= 180.0).then_some(Self { lat, lon })
    }

    /// Degrees north and east.
    pub fn degrees(self) -> (f32, f32) {
        (self.lat, self.lon)
    }

    /// Great-circle distance in kilometres (haversine).
    pub fn distance_km(self, other: Self) -> f32 {
        let lat_a = self.lat.to_radians();
        let lat_b = other.lat.to_radians();
        let half_lat = ((lat_a - lat_b) / 2.0).sin();
        let half_lon = ((self.lon - other.lon).to_radians() / 2.0).sin();
        let chord = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
        2.0 * EARTH_RADIUS_KM * chord.sqrt().min(1.0).asin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let at = |lat, lon| Position::new(lat, lon).unwrap();
        let quarter = at(0.0, 0.0).distance_km(at(0.0, 90.0));
        assert!((quarter - 10_007.5).abs() < 2.0, "{quarter}");
        let half = at(35.0, 33.0).distance_km(at(-35.0, -147.0));
        assert!((half - 20_015.0).abs() < 5.0, "{half}");
        assert_eq!(Position::new(91.0, 0.0), None);
        assert_eq!(Position::new(0.0, f32::NAN), None);
    }
}
