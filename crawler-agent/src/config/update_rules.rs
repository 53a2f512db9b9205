//! Whether the agent updates itself.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use protocol::key::PublicKey;
use serde::Deserialize;
use toml::Spanned;

use super::values::{FromText, Value};

/// How the agent takes the operator's releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateRules {
    /// Key that signs them.
    pub key: PublicKey,
    /// Whether they are installed; if not, the owner is told of them.
    pub installs: bool,
}

/// What a start needs to know before it chooses the program, whose version may know more keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchRules {
    /// As in [`super::Config`].
    pub data_dir: Option<PathBuf>,
    /// As in [`super::Config`].
    pub update: UpdateRules,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Automatic,
    Notify,
    Off,
}

/// The table `[update]` as it is written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UpdateTable {
    key: Option<Value<PublicKey>>,
    mode: Option<Spanned<Value<Mode>>>,
}

impl UpdateTable {
    /// Where a mode is in the file, in bytes, that needs a key and has none.
    pub(super) fn lone_mode(&self) -> Option<Range<usize>> {
        let mode = self.mode.as_ref().filter(|mode| mode.get_ref().0 != Mode::Off);
        mode.filter(|_| self.key.is_none()).map(Spanned::span)
    }

    pub(super) fn into_rules(self) -> Option<UpdateRules> {
        rules(self.key?.0, self.mode.map_or(Mode::Automatic, |mode| mode.into_inner().0))
    }
}

fn rules(key: PublicKey, mode: Mode) -> Option<UpdateRules> {
    (mode != Mode::Off).then_some(UpdateRules { key, installs: mode == Mode::Automatic })
}

impl LaunchRules {
    /// The rules in the configuration file `path`; none where it does not permit updates or is
    /// wrong, which the program that runs then says.
    pub fn read(path: &Path) -> Option<Self> {
        let table: toml::Table = std::fs::read_to_string(path).ok()?.parse().ok()?;
        let update = table.get("update")?;
        let key = PublicKey::from_text(update.get("key")?.as_str()?).ok()?;
        let mode = match update.get("mode") {
            Some(mode) => Mode::from_text(mode.as_str()?).ok()?,
            None => Mode::Automatic,
        };
        let directory = path.parent().unwrap_or(Path::new(""));
        let data_dir = table.get("data_dir").and_then(toml::Value::as_str);
        Some(Self { data_dir: data_dir.map(|dir| directory.join(dir)), update: rules(key, mode)? })
    }
}

impl FromText for PublicKey {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| {
            format!("{text:?} is not a release key; write the one that the operator gave you")
        })
    }
}

impl FromText for Mode {
    fn from_text(text: &str) -> Result<Self, String> {
        match text {
            "automatic" => Ok(Self::Automatic),
            "notify" => Ok(Self::Notify),
            "off" => Ok(Self::Off),
            _ => Err(format!("{text:?} is not a mode; write automatic, notify or off")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const KEY: &str = "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w";
    const LEAST: &str = "coordinator = \"https://c.example\"\ncontact = \"https://o.example\"\n";

    fn parse(update: &str) -> Result<Option<UpdateRules>, String> {
        let text = format!("{LEAST}[update]\n{update}");
        let config = Config::parse(&text, Path::new("agent.toml"));
        config.map(|config| config.update).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_permits_updates_and_a_mode_restricts_them() {
        let installs = |update: &str| parse(update).unwrap().map(|rules| rules.installs);
        assert_eq!(installs(""), None);
        assert_eq!(installs("mode = \"off\""), None);
        for (mode, expected) in [
            ("", Some(true)),
            ("mode = \"automatic\"", Some(true)),
            ("mode = \"notify\"", Some(false)),
            ("mode = \"off\"", None),
        ] {
            assert_eq!(installs(&format!("key = \"{KEY}\"\n{mode}")), expected, "{mode}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (update, advice) in [
            ("mode = \"notify\"", "line 4, column 8: `mode` in [update] needs `key`"),
            ("key = \"x\"", "line 4, column 7: \"x\" is not a release key"),
            ("mode = \"on\"", "write automatic, notify or off"),
            ("keys = []", "unknown field"),
        ] {
            let error = parse(update).unwrap_err();
            assert!(error.contains(advice), "{error}");
        }
    }

    #[test]
    fn a_start_reads_the_rules_of_a_newer_version_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            LaunchRules::read(&path)
        };
        let text = format!("{LEAST}new = 1\ndata_dir = \"d\"\n[update]\nkey = \"{KEY}\"\nx = 2\n");
        let rules = read(&text).unwrap();
        assert!(rules.update.installs);
        assert_eq!(rules.data_dir, Some(dir.path().join("d")));
        assert_eq!(read(&text.replace("x = 2", "mode = \"off\"")), None);
        assert_eq!(read(&text.replace(KEY, "other")), None);
        assert_eq!(read(LEAST), None);
        assert_eq!(read("["), None);
    }
}
