//! `cargo deny check`: licences, banned crates, sources, and advisories if there is a copy of their
//! database.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::optional::Optional;
use crate::process::succeed;
use crate::steps::Steps;
use crate::{cargo, repository};

/// The directory name that cargo-deny derives from the address of RustSec's database.
const DATABASE_NAME: &str = "advisory-db-3157b0e258782691";

/// Adds the step. Advisories are left out when there is no copy of their database.
pub(crate) fn check(steps: &mut Steps, without: &[Optional]) {
    if without.contains(&Optional::Deny) {
        return steps.leave_out("deny", Optional::Deny.reason());
    }
    if !cargo::ensure("deny") {
        return steps.record("deny", || {
            bail!("cargo-deny could not be installed: run `cargo install --locked cargo-deny`")
        });
    }
    let no_database = || {
        let remedy = "set NEARCRAWL_ADVISORY_DB to a checkout of RustSec's advisory-db";
        Err(format!("no database of advisories was found: {remedy}"))
    };
    let database = if without.contains(&Optional::Advisories) {
        Err(Optional::Advisories.reason())
    } else {
        database().map_or_else(no_database, Ok)
    };
    match database {
        Ok(database) => steps.record("deny", || check_with_advisories(&database)),
        Err(reason) => {
            steps.run("deny", cargo::cargo(&["deny", "check", "bans", "licenses", "sources"]));
            steps.leave_out("deny: advisories", reason);
        }
    }
}

fn check_with_advisories(database: &Path) -> anyhow::Result<()> {
    // cargo-deny runs without the network, but it also reads the crates for other systems.
    succeed(&mut cargo::cargo(&["fetch", "--locked", "--quiet"]), "cargo fetch")?;
    let config = configuration(database)?;
    let mut command = cargo::cargo(&["deny", "--offline", "--config"]);
    command.arg(config).arg("check");
    succeed(&mut command, "cargo deny")
}

/// A copy of the advisory database: that of `NEARCRAWL_ADVISORY_DB`, else one beside the
/// repository.
fn database() -> Option<PathBuf> {
    let configured = std::env::var_os("NEARCRAWL_ADVISORY_DB").map(PathBuf::from);
    let database = configured.unwrap_or_else(|| repository::beside("advisory-db"));
    database.join("crates").is_dir().then(|| database.canonicalize().ok()).flatten()
}

/// Writes a copy of `deny.toml` with the path of the database, which differs between machines.
fn configuration(database: &Path) -> anyhow::Result<PathBuf> {
    let dir = repository::target().join("deny");
    let dbs = dir.join("advisory-dbs");
    imitate_fetch(database, &dbs.join(DATABASE_NAME))
        .context("cannot prepare the copy of the advisory database")?;
    let text = fs::read_to_string(repository::root().join("deny.toml"))
        .context("cannot read deny.toml")?;
    let section = format!("[advisories]\ndb-path = {:?}\n", dbs.display().to_string());
    let path = dir.join("deny.toml");
    fs::write(&path, text.replacen("[advisories]\n", &section, 1))
        .context("cannot write its copy")?;
    Ok(path)
}

/// Creates the directory that cargo-deny would have fetched, with a link to the copy. cargo-deny
/// takes the age of the database from `FETCH_HEAD`.
fn imitate_fetch(database: &Path, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder.join(".git"))?;
    let stamp = File::create(folder.join(".git/FETCH_HEAD"))?;
    stamp.set_modified(fs::metadata(database.join("crates"))?.modified()?)?;
    let link = folder.join("crates");
    if fs::symlink_metadata(&link).is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(database.join("crates"), link)
}
