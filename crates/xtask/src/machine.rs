//! What a command needs from the machine: installed when we may, named when we may not.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// Something that a Debian package brings, and how to see that it is here already, from wherever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    package: &'static str,
    present: fn() -> bool,
}

/// The database server.
pub(crate) const POSTGRES: Need = Need { package: "postgresql", present: has_postgres };
/// The browser of the browser tests.
pub(crate) const CHROMIUM: Need = Need {
    package: "chromium",
    present: || has_program("chromium") || has_program("chromium-browser"),
};
/// Letters for the browser's screenshots.
pub(crate) const FONTS: Need = Need {
    package: "fonts-dejavu-core",
    present: || Path::new("/usr/share/fonts/truetype/dejavu").exists(),
};
/// pip, for the registry data of last resort.
pub(crate) const PIP: Need =
    Need { package: "python3-pip", present: || ["pip", "pip3"].into_iter().any(has_program) };

/// Sees to it that everything in `needs` is here.
pub(crate) fn provide(needs: &[Need]) -> anyhow::Result<()> {
    let missing: Vec<&str> =
        needs.iter().filter(|need| !(need.present)()).map(|need| need.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let words = missing.join(" ");
    if !nix::unistd::geteuid().is_root() || !has_program("apt-get") {
        bail!("missing on this machine: {words}; run `sudo apt-get install {words}` and come back");
    }
    println!("installing what is missing: {words}");
    apt(&["update", "-q"])?;
    let mut install = vec!["install", "-q", "-y", "--no-install-recommends"];
    install.extend(&missing);
    apt(&install)?;
    match needs.iter().find(|need| !(need.present)()) {
        Some(need) => bail!("{} was installed, yet what it should bring is not here", need.package),
        None => Ok(()),
    }
}

fn apt(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    let status = command.status().context("cannot run apt-get")?;
    if !status.success() {
        bail!("apt-get {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}

/// Whether `name` is a file in a directory of `PATH`.
pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

fn has_postgres() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian =
        versions.map(|entry| entry.path().join("bin/postgres")).any(|server| server.is_file());
    let told = std::env::var_os("NEARCRAWL_PG_BIN").map(PathBuf::from);
    debian || has_program("postgres") || told.is_some_and(|dir| dir.join("postgres").is_file())
}
