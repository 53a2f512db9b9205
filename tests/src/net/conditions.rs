//! Faults that are in force: paths that are cut, and paths that are slowed.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::Duration;

use super::packet::PacketEnds;
use super::paths::Site;

/// What a disturbance covers: both directions, except [`Scope::OneWay`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Everything from and to a site, also what stays within it.
    Site(Site),
    /// Everything between two sites.
    Sites(Site, Site),
    /// Everything from and to an address.
    Address(IpAddr),
    /// Everything between two addresses.
    Addresses(IpAddr, IpAddr),
    /// Everything from the first address to the second.
    OneWay(IpAddr, IpAddr),
}

impl Scope {
    /// The same scope whichever end is named first.
    fn settled(self) -> Self {
        match self {
            Self::Sites(a, b) if b < a => Self::Sites(b, a),
            Self::Addresses(a, b) if b < a => Self::Addresses(b, a),
            other => other,
        }
    }
}

/// How much slower each direction is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowdown {
    /// The delay is multiplied by this; 1.0 leaves it.
    pub factor: f64,
    /// Then this is added.
    pub extra: Duration,
}

impl Slowdown {
    fn stretch(self, delay: Duration) -> Duration {
        let factor = if self.factor.is_finite() { self.factor.clamp(0.0, 1_000.0) } else { 1.0 };
        delay.mul_f64(factor) + self.extra
    }
}

/// The disturbances in force.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    cut: HashSet<Scope>,
    slow: HashMap<Scope, Slowdown>,
}

impl Conditions {
    pub(super) fn cut(&mut self, scope: Scope) {
        self.cut.insert(scope.settled());
    }

    pub(super) fn slow(&mut self, scope: Scope, slowdown: Slowdown) {
        self.slow.insert(scope.settled(), slowdown);
    }

    /// Ends whatever disturbs exactly this scope.
    pub(super) fn heal(&mut self, scope: Scope) {
        self.cut.remove(&scope.settled());
        self.slow.remove(&scope.settled());
    }

    pub(super) fn heal_all(&mut self) {
        *self = Self::default();
    }

    /// The delay of a packet between these ends under the conditions; none when the way is cut.
    pub(super) fn apply(
        &self,
        ends: PacketEnds,
        from: Site,
        to: Site,
        delay: Duration,
    ) -> Option<Duration> {
        if self.cut.is_empty() && self.slow.is_empty() {
            return Some(delay);
        }
        let scopes = [
            Scope::Site(from),
            Scope::Site(to),
            Scope::Sites(from, to).settled(),
            Scope::Address(ends.source),
            Scope::Address(ends.destination),
            Scope::Addresses(ends.source, ends.destination).settled(),
            Scope::OneWay(ends.source, ends.destination),
        ];
        if scopes.iter().any(|scope| self.cut.contains(scope)) {
            return None;
        }
        // A site talking to itself is named twice above, but is slowed once.
        let scopes = &scopes[usize::from(from == to)..];
        Some(
            scopes.iter().filter_map(|scope| self.slow.get(scope)).fold(delay, |d, s| s.stretch(d)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn ends() -> PacketEnds {
        PacketEnds {
            source: "192.0.2.1".parse().unwrap(),
            destination: "198.51.100.1".parse().unwrap(),
        }
    }

    fn apply(conditions: &Conditions) -> Option<Duration> {
        conditions.apply(ends(), Site(1), Site(2), 10 * MS)
    }

    #[test]
    fn cuts_every_scope_in_both_directions_and_heals() {
        let back = PacketEnds { source: ends().destination, destination: ends().source };
        for scope in [
            Scope::Site(Site(1)),
            Scope::Sites(Site(2), Site(1)),
            Scope::Address(ends().destination),
            Scope::Addresses(back.source, back.destination),
        ] {
            let mut conditions = Conditions::default();
            conditions.cut(scope);
            assert_eq!(apply(&conditions), None, "{scope:?}");
            assert_eq!(conditions.apply(back, Site(2), Site(1), MS), None, "{scope:?} back");
            conditions.heal(scope);
            assert_eq!(apply(&conditions), Some(10 * MS), "{scope:?} healed");
        }
    }

    #[test]
    fn cuts_one_way_only() {
        let back = PacketEnds { source: ends().destination, destination: ends().source };
        let mut conditions = Conditions::default();
        conditions.cut(Scope::OneWay(back.source, back.destination));
        assert_eq!(apply(&conditions), Some(10 * MS));
        assert_eq!(conditions.apply(back, Site(2), Site(1), MS), None);
    }

    #[test]
    fn slows_by_factor_then_extra() {
        let mut conditions = Conditions::default();
        conditions.slow(Scope::Site(Site(1)), Slowdown { factor: 2.0, extra: 5 * MS });
        assert_eq!(apply(&conditions), Some(25 * MS));
        assert_eq!(
            conditions.apply(ends(), Site(1), Site(1), 10 * MS),
            Some(25 * MS),
            "slowed once within"
        );
        assert_eq!(conditions.apply(ends(), Site(3), Site(2), 10 * MS), Some(10 * MS));
    }
}
