//! Which of the ignored tests run on this machine.

use std::path::Path;

use crate::ignored::{self, IgnoredTest, Need};
use crate::namespaces;
use crate::optional::Optional;

/// The ignored tests that do not run; all others do.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Tests that lack something, each with what it lacks.
    pub(crate) left_out: Vec<(IgnoredTest, String)>,
    /// Tests that take too long for every run.
    pub(crate) by_hand: Vec<IgnoredTest>,
    /// Bodies of other tests, which start them.
    bodies: Vec<IgnoredTest>,
}

impl Selection {
    /// Looks for everything that the ignored tests of the repository need. `nearcrawl-internet`
    /// must be built.
    pub(crate) fn of(root: &Path, without: &[Optional]) -> anyhow::Result<Self> {
        let tun = obstacle(without, namespaces::tun_obstacle)?;
        let unprivileged_tun = obstacle(without, namespaces::unprivileged_tun_obstacle)?;
        let user_namespaces = obstacle(without, namespaces::user_namespace_obstacle)?;
        let mut selection = Self { left_out: Vec::new(), by_hand: Vec::new(), bodies: Vec::new() };
        for test in ignored::scan(root)? {
            let lacks = match test.need() {
                Need::Tun => tun.clone(),
                Need::TunForEveryUser => unprivileged_tun.clone(),
                Need::UserNamespaces => user_namespaces.clone(),
                Need::Prometheus => {
                    let left_out = without.contains(&Optional::Prometheus);
                    left_out.then(|| Optional::Prometheus.reason())
                }
                Need::SharedData(_) if without.contains(&Optional::RegistryData) => {
                    Some(Optional::RegistryData.reason())
                }
                Need::SharedData(paths) => ignored::missing_data(root, &paths),
                Need::Unknown => {
                    Some("cargo xtask test does not know how to provide it".to_owned())
                }
                Need::ByHand => {
                    selection.by_hand.push(test);
                    continue;
                }
                Need::AnotherTest => {
                    selection.bodies.push(test);
                    continue;
                }
            };
            selection.left_out.extend(lacks.map(|reason| (test, reason)));
        }
        Ok(selection)
    }

    fn excluded(&self) -> impl Iterator<Item = &str> {
        let left_out = self.left_out.iter().map(|(test, _)| test);
        left_out.chain(&self.by_hand).chain(&self.bodies).map(|test| test.name.as_str())
    }

    /// Arguments of `cargo nextest run`.
    pub(crate) fn nextest_arguments(&self) -> Vec<String> {
        let excluded: Vec<String> =
            self.excluded().map(|name| format!("test(/(^|::){name}$/)")).collect();
        let filter = match excluded.len() {
            0 => "all()".to_owned(),
            _ => format!("not ({})", excluded.join(" | ")),
        };
        ["--run-ignored", "all", "-E", &filter].map(str::to_owned).to_vec()
    }

    /// Arguments of a test program of cargo's own runner. It excludes by a part of the name.
    pub(crate) fn libtest_arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--include-ignored".to_owned()];
        for name in self.excluded() {
            arguments.extend(["--skip".to_owned(), name.to_owned()]);
        }
        arguments
    }
}

fn obstacle(
    without: &[Optional],
    probe: fn() -> anyhow::Result<Option<String>>,
) -> anyhow::Result<Option<String>> {
    if without.contains(&Optional::Tun) {
        return Ok(Some(Optional::Tun.reason()));
    }
    probe()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_lack_something_and_bodies_are_excluded() {
        let test = |name: &str| IgnoredTest {
            file: "a.rs".into(),
            name: name.into(),
            reason: String::new(),
        };
        let selection = Selection {
            left_out: vec![(test("one"), "no data".into())],
            by_hand: vec![test("two")],
            bodies: vec![test("three")],
        };
        let filter = "not (test(/(^|::)one$/) | test(/(^|::)two$/) | test(/(^|::)three$/))";
        assert_eq!(selection.nextest_arguments(), ["--run-ignored", "all", "-E", filter]);
        let arguments = ["--include-ignored", "--skip", "one", "--skip", "two", "--skip", "three"];
        assert_eq!(selection.libtest_arguments(), arguments);
    }
}
