//! The agent as a service of systemd, where its unit is installed on this machine.

use std::{
    collections::HashSet,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use super::join_token;

/// Where units are, those of the machine's admin first.
const UNIT_DIRS: [&str; 3] = ["etc/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"];
const UNIT: &str = "nearcrawl-agent.service";
/// Where `systemctl edit` keeps the owner's changes of the unit.
const DROP_INS: &str = "etc/systemd/system/nearcrawl-agent.service.d";
/// Where the partner's guide lets the owner permit echo requests, also for an agent that is no
/// service.
const ECHO_SETTING: &str = "etc/sysctl.d/60-nearcrawl-agent.conf";
/// What the unit names as configuration, environment and data directory.
const CONFIG: &str = "etc/nearcrawl/agent.toml";
const ENVIRONMENT: &str = "etc/nearcrawl/agent.env";
const DATA_DIR: &str = "var/lib/nearcrawl-agent";
/// The groups that may send echo requests without privilege, also over IPv6.
const ECHO_GROUPS: &str = "proc/sys/net/ipv4/ping_group_range";
/// The groups from which systemd takes that of a unit with `DynamicUser=`.
const DYNAMIC_GROUPS: RangeInclusive<u32> = 61_184..=65_519;

/// An installed service.
#[derive(Debug)]
pub(super) struct InstalledService {
    units: Vec<PathBuf>,
    drop_ins: PathBuf,
    environment: PathBuf,
    data_dir: PathBuf,
    echo_groups: PathBuf,
}

impl InstalledService {
    /// The service that runs with this configuration, in the file system `root`; none where no unit
    /// is installed, or where an agent with another configuration is meant.
    pub(super) fn find(root: &Path, config: &Path) -> Option<Self> {
        let units = units(root);
        (!units.is_empty() && config == root.join(CONFIG)).then(|| Self {
            units,
            drop_ins: root.join(DROP_INS),
            environment: root.join(ENVIRONMENT),
            data_dir: root.join(DATA_DIR),
            echo_groups: root.join(ECHO_GROUPS),
        })
    }

    /// As [`Self::find`]; none also where the agent that is meant has another data directory.
    pub(super) fn find_with_data(root: &Path, config: &Path, dir: &Path) -> Option<Self> {
        Self::find(root, config).filter(|service| service.data_dir == dir)
    }

    /// The commands that delete the service.
    pub(super) fn how_to_delete(&self) -> Vec<String> {
        let files = self.units.iter().chain([&self.environment]);
        let files: Vec<String> = files.map(|path| path.display().to_string()).collect();
        let mut commands = vec![
            "systemctl disable --now nearcrawl-agent".to_owned(),
            "systemctl clean --what=state nearcrawl-agent".to_owned(),
        ];
        if self.drop_ins.exists() {
            commands.push(format!("rm -r {}", self.drop_ins.display()));
        }
        commands.push(format!("rm -f {} && systemctl daemon-reload", files.join(" ")));
        commands
    }

    /// Whether the service may send echo requests; if not, why. The service has no privilege,
    /// unlike the user who runs this, which may be root.
    pub(super) fn may_send_echoes(&self) -> Result<(), String> {
        let path = self.echo_groups.display();
        let range = std::fs::read_to_string(&self.echo_groups)
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        if includes_dynamic_groups(&range) {
            return Ok(());
        }
        let range = range.trim().replace('\t', " ");
        Err(format!("net.ipv4.ping_group_range is {range}, without the group of the service"))
    }

    /// What the caller, who may be root, does where `dir` is not the directory of the service; none
    /// where it is. Root has another one only by the option or the configuration.
    pub(super) fn other_directory(&self, dir: &Path, is_root: bool) -> Option<String> {
        let place = self.data_dir.display();
        (dir != self.data_dir).then(|| {
            if is_root {
                format!(
                    "the service has its data in {place}: give --data-dir {place}, or delete \
                     `data_dir` from the configuration, which the service does not obey"
                )
            } else {
                format!("run this as root: the service has its data in {place}")
            }
        })
    }

    /// What the owner does so that the service enrols, after `dir` was found without an identity.
    pub(super) fn how_to_enrol(&self, dir: &Path, is_root: bool) -> String {
        if let Some(advice) = self.other_directory(dir, is_root) {
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

/// The command that deletes the setting by which the owner permitted echo requests, where it was
/// made. While a service is installed, only the end of its agent makes it useless.
pub(super) fn how_to_forbid_echoes(
    root: &Path,
    leaving: Option<&InstalledService>,
) -> Option<String> {
    let setting = root.join(ECHO_SETTING);
    let is_useless = leaving.is_some() || units(root).is_empty();
    (is_useless && setting.exists()).then(|| format!("rm {}", setting.display()))
}

/// The units that are installed. On most machines `/lib` is a link to `/usr/lib`, so that two paths
/// lead to one unit.
fn units(root: &Path) -> Vec<PathBuf> {
    let paths = UNIT_DIRS.iter().map(|dir| root.join(dir).join(UNIT));
    let mut seen = HashSet::new();
    paths.filter(|path| path.canonicalize().is_ok_and(|real| seen.insert(real))).collect()
}

/// Whether a range, which is the numbers of its first and last group as the kernel prints them,
/// includes every group that the service may get.
fn includes_dynamic_groups(range: &str) -> bool {
    let bounds: Result<Vec<u32>, _> = range.split_whitespace().map(str::parse).collect();
    match bounds.as_deref() {
        Ok([first, last]) => first <= DYNAMIC_GROUPS.start() && DYNAMIC_GROUPS.end() <= last,
        _ => false,
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
            let advice = service(&root).unwrap().how_to_enrol(&root.path().join(DATA_DIR), true);
            let file = root.path().join(ENVIRONMENT);
            assert!(advice.contains("NEARCRAWL_JOIN_TOKEN=TOKEN"), "{advice}");
            assert!(advice.contains(file.to_str().unwrap()), "{advice}");
        }
    }

    #[test]
    fn a_service_with_a_token_needs_only_its_start() {
        let root = machine(&[unit(), (ENVIRONMENT, "NEARCRAWL_JOIN_TOKEN=\"nc-a-b\"\n")]);
        let advice = service(&root).unwrap().how_to_enrol(&root.path().join(DATA_DIR), true);
        assert_eq!(advice, "start the service: systemctl enable --now nearcrawl-agent");
    }

    #[test]
    fn the_service_may_send_echo_requests_where_its_group_may() {
        for range in ["0\t2147483647\n", "61184 65519", "0 4294967295"] {
            assert!(includes_dynamic_groups(range), "{range}");
        }
        // The first is the kernel's default, a range without any group.
        for range in ["1\t0\n", "0 1000", "61185 65519", "61184 65518", "0", "", "0 1 70000"] {
            assert!(!includes_dynamic_groups(range), "{range}");
        }
        let allowed = |root: &TempDir| service(root).unwrap().may_send_echoes();
        assert_eq!(allowed(&machine(&[unit(), (ECHO_GROUPS, "0\t2147483647\n")])), Ok(()));
        let refused = allowed(&machine(&[unit(), (ECHO_GROUPS, "1\t0\n")])).unwrap_err();
        assert!(refused.contains("ping_group_range is 1 0"), "{refused}");
        assert!(allowed(&machine(&[unit()])).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn the_commands_name_each_unit_once() {
        let root = machine(&[("usr/lib/systemd/system/nearcrawl-agent.service", "[Service]")]);
        std::os::unix::fs::symlink("usr/lib", root.path().join("lib")).unwrap();
        let commands = service(&root).unwrap().how_to_delete();
        let unit = root.path().join("usr/lib/systemd/system/nearcrawl-agent.service");
        let environment = root.path().join(ENVIRONMENT);
        let files = format!("rm -f {} {} &&", unit.display(), environment.display());
        assert!(commands.iter().any(|command| command.starts_with(&files)), "{commands:?}");
    }

    #[test]
    fn what_the_guide_had_the_owner_make_is_named_where_it_exists() {
        let root = machine(&[unit()]);
        let leaving = service(&root);
        let removed = |service: &InstalledService| {
            service.how_to_delete().into_iter().find(|command| command.contains("service.d"))
        };
        assert_eq!(removed(leaving.as_ref().unwrap()), None);
        assert_eq!(how_to_forbid_echoes(root.path(), leaving.as_ref()), None);

        let drop_in = ("etc/systemd/system/nearcrawl-agent.service.d/override.conf", "[Service]");
        let root = machine(&[unit(), drop_in, (ECHO_SETTING, "")]);
        let leaving = service(&root);
        let dir = root.path().join("etc/systemd/system/nearcrawl-agent.service.d");
        assert_eq!(removed(leaving.as_ref().unwrap()), Some(format!("rm -r {}", dir.display())));
        let setting = Some(format!("rm {}", root.path().join(ECHO_SETTING).display()));
        assert_eq!(how_to_forbid_echoes(root.path(), leaving.as_ref()), setting);
        let other = how_to_forbid_echoes(root.path(), None);
        assert_eq!(other, None, "the service needs it, and another agent leaves");
        let root = machine(&[(ECHO_SETTING, "")]);
        assert!(how_to_forbid_echoes(root.path(), None).is_some(), "it was for this agent");
    }

    #[test]
    fn another_data_directory_is_not_that_of_the_service() {
        let root = machine(&[unit()]);
        let elsewhere = Path::new("/home/nicos/.local/share");
        let service = service(&root).unwrap();
        let advice = service.how_to_enrol(elsewhere, false);
        assert_eq!(service.other_directory(elsewhere, false).as_ref(), Some(&advice));
        let data_dir = root.path().join(DATA_DIR);
        assert_eq!(service.other_directory(&data_dir, false), None);
        assert!(advice.contains("as root"), "{advice}");
        assert!(advice.contains(data_dir.to_str().unwrap()), "{advice}");
        let advice = service.how_to_enrol(elsewhere, true);
        assert!(!advice.contains("as root") && advice.contains("`data_dir`"), "{advice}");
        let option = format!("--data-dir {}", data_dir.display());
        assert!(advice.contains(&option), "{advice}");
    }
}
