//! The error where a command finds no agent.

use std::path::Path;

use anyhow::anyhow;
use nix::unistd::geteuid;

use super::{ConfigArgs, installed_service::InstalledService};
use crate::data_dir::DataDir;

impl ConfigArgs {
    /// The error where no agent has run in the data directory `dir`, or has not enrolled.
    pub(super) fn no_agent(&self, dir: &Path) -> anyhow::Error {
        let place = dir.display();
        if DataDir::has_agent(dir) && matches!(DataDir::at(dir).identity(), Ok(None)) {
            return anyhow!(
                "the agent in {place} has not enrolled yet: its output says why (`journalctl -u \
                 nearcrawl-agent` for the service), and `doctor` checks the machine"
            );
        }
        let service = InstalledService::find(Path::new("/"), &self.config);
        let is_root = geteuid().is_root();
        let advice = service.and_then(|service| service.other_directory(dir, is_root));
        let advice =
            advice.as_deref().unwrap_or("if it has another data directory, see --data-dir");
        anyhow!("no agent has run in {place}; {advice}")
    }
}
