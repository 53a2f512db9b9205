//! Checks that a person may leave out of `cargo xtask test`.

use clap::ValueEnum;

/// What may be left out with `--without`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Optional {
    /// The tests of the dashboard in Chromium.
    Browser,
    /// Everything that needs Node: the dashboard is a stub page and is not tested.
    Node,
    /// Licences, banned crates and sources (cargo-deny), and advisories.
    Deny,
    /// Known vulnerabilities of dependencies.
    Advisories,
    /// Tests that load the alert rules into Prometheus.
    Prometheus,
    /// Tests that need a TUN device or namespaces.
    Tun,
    /// Tests that need ../shared/data: registry files, latency matrices, pages.
    RegistryData,
}

impl Optional {
    /// The reason in the summary.
    pub(crate) fn reason(self) -> String {
        let value = self.to_possible_value();
        format!("--without {} was given", value.as_ref().map_or("", |value| value.get_name()))
    }
}
