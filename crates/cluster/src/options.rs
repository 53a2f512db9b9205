use std::path::{Path, PathBuf};

use crate::binaries::Binaries;

/// Where a private cluster is stored and how durable it is.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directory that holds the cluster (`postgres/`), its sockets (`run/`) and its lock file.
    pub data_dir: PathBuf,
    /// Where to look for `initdb` and `postgres`.
    pub binaries: Binaries,
    /// Which commits survive a crash.
    pub durability: Durability,
}

impl Options {
    /// A crash-safe cluster in `data_dir`, with the binaries of this system.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            binaries: Binaries::of_process(),
            durability: Durability::CrashSafe,
        }
    }
}

/// Which commits survive a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Every acknowledged one, also after a power cut.
    CrashSafe,
    /// None: for tests, which delete the whole directory.
    Throwaway,
}

/// Whether a cluster was created in this directory; true when the permission to look is missing.
pub fn exists(data_dir: &Path) -> bool {
    data_dir.join("postgres").try_exists().unwrap_or(true)
}

/// Where nearcrawl keeps its data by default: `/var/lib/nearcrawl` for root, else
/// `$XDG_DATA_HOME/nearcrawl`, else `~/.local/share/nearcrawl`; `None` for an ordinary user without
/// a home. Reads the process environment.
pub fn default_data_dir() -> Option<PathBuf> {
    data_dir_of(
        nix::unistd::geteuid().is_root(),
        std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).as_deref(),
        std::env::var_os("HOME").map(PathBuf::from).as_deref(),
    )
}

fn data_dir_of(root: bool, xdg: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    if root {
        return Some(PathBuf::from("/var/lib/nearcrawl"));
    }
    // The XDG specification says that a relative path there must be ignored.
    let base = xdg.filter(|dir| dir.is_absolute()).map(Path::to_path_buf);
    base.or_else(|| home.map(|home| home.join(".local/share"))).map(|base| base.join("nearcrawl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_uses_var_lib_and_a_user_its_home() {
        let home = Some(Path::new("/home/a"));
        assert_eq!(data_dir_of(true, None, home).unwrap(), Path::new("/var/lib/nearcrawl"));
        assert_eq!(
            data_dir_of(false, None, home).unwrap(),
            Path::new("/home/a/.local/share/nearcrawl")
        );
        assert_eq!(
            data_dir_of(false, Some(Path::new("/x")), home).unwrap(),
            Path::new("/x/nearcrawl")
        );
        let relative = Some(Path::new("x"));
        assert_eq!(
            data_dir_of(false, relative, home).unwrap(),
            Path::new("/home/a/.local/share/nearcrawl")
        );
        assert_eq!(data_dir_of(false, None, None), None);
    }
}
