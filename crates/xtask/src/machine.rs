//! Programs that a command needs: installed as root, named otherwise.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::bail;

use crate::process::succeed;

/// A Debian package, and a check whether what it provides is there already, from any source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requirement {
    package: &'static str,
    present: fn() -> bool,
}

/// The database server.
pub(crate) const POSTGRES: Requirement =
    Requirement { package: "postgresql", present: has_postgres };
/// Builds the allocator of the agent, which is written in C.
pub(crate) const MAKE: Requirement =
    Requirement { package: "make", present: || has_program("make") };
/// Node, which builds the dashboard.
pub(crate) const NODE: Requirement =
    Requirement { package: "nodejs", present: || has_program("node") };
/// The package manager of Node.
pub(crate) const NPM: Requirement = Requirement { package: "npm", present: || has_program("npm") };
/// The browser of the browser tests.
pub(crate) const CHROMIUM: Requirement = Requirement {
    package: "chromium",
    present: || has_program("chromium") || has_program("chromium-browser"),
};
/// Fonts for the browser's screenshots.
pub(crate) const FONTS: Requirement = Requirement {
    package: "fonts-dejavu-core",
    present: || Path::new("/usr/share/fonts/truetype/dejavu").exists(),
};
/// The server that reads metrics, with `promtool`, which checks alert rules.
pub(crate) const PROMETHEUS: Requirement = Requirement {
    package: "prometheus",
    present: || has_program("prometheus") && has_program("promtool"),
};
/// pip, for the registry files that a Python package contains.
pub(crate) const PIP: Requirement = Requirement {
    package: "python3-pip",
    present: || ["pip", "pip3"].into_iter().any(has_program),
};
/// A crawler that the agent is compared with.
pub(crate) const WGET2: Requirement =
    Requirement { package: "wget2", present: || has_program("wget2") };
/// Another crawler for comparison.
pub(crate) const HTTRACK: Requirement =
    Requirement { package: "httrack", present: || has_program("httrack") };
/// Virtual environments for Python packages.
const PYTHON_VENV: Requirement = Requirement {
    package: "python3-venv",
    present: || {
        let mut python = Command::new("python3");
        let status = python.args(["-c", "import ensurepip, venv"]).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    },
};

/// Installs what is missing of `requirements`, or fails with the command that does.
pub(crate) fn provide(requirements: &[Requirement]) -> anyhow::Result<()> {
    let missing: Vec<&str> =
        requirements.iter().filter(|it| !(it.present)()).map(|it| it.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    if !nix::unistd::geteuid().is_root() || !has_program("apt-get") {
        bail!("missing on this machine: {packages}; run `sudo apt-get install {packages}`");
    }
    eprintln!("installing what is missing: {packages}");
    apt(&["update", "-q"])?;
    let mut install = vec!["install", "-q", "-y", "--no-install-recommends"];
    install.extend(&missing);
    apt(&install)?;
    match requirements.iter().find(|it| !(it.present)()) {
        Some(it) => bail!("{} was installed, but what it should provide is missing", it.package),
        None => Ok(()),
    }
}

fn apt(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    // Standard output is for what the command was asked for, such as JSON.
    command.stdout(std::io::stderr());
    succeed(&mut command, &format!("apt-get {}", arguments.join(" ")))
}

/// A program of a Python package in a virtual environment of its own; installed once.
pub(crate) fn python(dir: &Path, package: &str, program: &str) -> anyhow::Result<PathBuf> {
    let program = dir.join("bin").join(program);
    if program.is_file() {
        return Ok(program);
    }
    provide(&[PYTHON_VENV])?;
    eprintln!("installing {package} into {}", dir.display());
    let mut venv = Command::new("python3");
    succeed(venv.args(["-m", "venv"]).arg(dir).stdout(Stdio::null()), "python3 -m venv")?;
    let mut pip = Command::new(dir.join("bin/pip"));
    succeed(pip.args(["install", "--quiet", package]).stdout(Stdio::null()), "pip install")?;
    Ok(program)
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
    let configured = std::env::var_os("NEARCRAWL_PG_BIN").map(PathBuf::from);
    debian
        || has_program("postgres")
        || configured.is_some_and(|dir| dir.join("postgres").is_file())
}
