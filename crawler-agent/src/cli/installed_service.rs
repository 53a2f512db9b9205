//! The agent as a service of systemd, where its unit is installed on this machine.

use std::path::{Path, PathBuf};

use super::join_token;

/// Where units are, those of the machine's admin first.
const UNIT_DIRS: [&str; 3] = ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"];
const UNIT: &str = "nearcrawl-agent.service";
/// What the unit names as configuration, environment and data directory.
const CONFIG: &str = "etc/nearcrawl/agent.toml";
const ENVIRONMENT: &str = "etc/nearcrawl/agent.env";
const DATA_DIR: &str = "var/lib/nearcrawl-agent";

/// An installed service that has not enrolled yet.
#[derive(Debug)]
pub(super) struct InstalledService {
    environment: PathBuf,
    data_dir: PathBuf,
}

impl InstalledService {
    /// The service that runs with this configuration, in the file system `root`; none where no unit
    /// is installed, or where an agent with another configuration is meant.
    pub(super) fn find(root: &Path, config: &Path) -> Option<Self> {
        let is_installed = UNIT_DIRS.iter().any(|dir| root.join(dir).join(UNIT).exists());
        (is_installed && config == root.join(CONFIG))
            .then(|| Self { environment: root.join(ENVIRONMENT), data_dir: root.join(DATA_DIR) })
    }

    /// What the owner does where `dir` is not the directory of the service; none where it is.
    pub(super) fn other_directory(&self, dir: &Path) -> Option<String> {
        (dir != self.data_dir).then(|| {
            format!("run this as root: the service has its data in {}", self.data_dir.display())
        })
    }

    /// What the owner does so that the service enrols, after `dir` was found without an identity.
    pub(super) fn how_to_enrol(&self, dir: &Path) -> String {
        if let Some(advice) = self.other_directory(dir) {
            return advice;
        }
        let environment = &self.environment;
        if join_token::is_in_environment_file(environment) {
            return "start the service: systemctl enable --now nearcrawl-agent".to_owned();
        }
        format!(
            "write the line {}=TOKEN, with the admin's join token, into {} (mode 600), then run: \
             systemctl enable --now nearcrawl-agent",
            join_token::VARIABLE,
            environment.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> TempDir {
        let root = TempDir::new().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn service(root: &TempDir) -> Option<InstalledService> {
        InstalledService::find(root.path(), &root.path().join(CONFIG))
    }

    fn unit() -> (&'static str, &'static str) {
        ("etc/systemd/system/nearcrawl-agent.service", "[Service]")
    }

    #[test]
    fn only_the_configuration_of_an_installed_unit_is_that_of_the_service() {
        assert!(service(&machine(&[])).is_none());
        let root = machine(&[unit()]);
        assert!(service(&root).is_some());
        assert!(InstalledService::find(root.path(), Path::new("agent.toml")).is_none());
    }

    #[test]
    fn the_token_belongs_into_the_environment_file() {
        for text in ["", "# NEARCRAWL_JOIN_TOKEN=nc-a-b\nNEARCRAWL_JOIN_TOKEN=\"\"\n"] {
            let root = machine(&[unit(), (ENVIRONMENT, text)]);
            let advice = service(&root).unwrap().how_to_enrol(&root.path().join(DATA_DIR));
            let file = root.path().join(ENVIRONMENT);
            assert!(advice.contains("NEARCRAWL_JOIN_TOKEN=TOKEN"), "{advice}");
            assert!(advice.contains(file.to_str().unwrap()), "{advice}");
        }
    }

    #[test]
    fn a_service_with_a_token_needs_only_its_start() {
        let root = machine(&[unit(), (ENVIRONMENT, "NEARCRAWL_JOIN_TOKEN=\"nc-a-b\"\n")]);
        let advice = service(&root).unwrap().how_to_enrol(&root.path().join(DATA_DIR));
        assert_eq!(advice, "start the service: systemctl enable --now nearcrawl-agent");
    }

    #[test]
    fn another_data_directory_is_not_that_of_the_service() {
        let root = machine(&[unit()]);
        let elsewhere = Path::new("/home/nicos/.local/share");
        let service = service(&root).unwrap();
        let advice = service.how_to_enrol(elsewhere);
        assert_eq!(service.other_directory(elsewhere).as_ref(), Some(&advice));
        assert_eq!(service.other_directory(&root.path().join(DATA_DIR)), None);
        let data_dir = root.path().join(DATA_DIR);
        assert!(advice.contains("as root"), "{advice}");
        assert!(advice.contains(data_dir.to_str().unwrap()), "{advice}");
    }
}
