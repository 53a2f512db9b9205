//! `cargo deny check`: licences, banned crates, sources, and advisories where a copy of the
//! database is at hand.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::steps::Steps;
use crate::{cargo, repository};

/// The folder name that cargo-deny derives from the address of RustSec's database.
const FOLDER: &str = "advisory-db-3157b0e258782691";

/// Adds the step, as far as this machine allows it.
pub(crate) fn check(steps: &mut Steps) {
    if !cargo::ensure("deny") {
        steps.skip(
            "deny",
            "cargo-deny is not installed and could not be: run `cargo install --locked cargo-deny`",
        );
        return;
    }
    let Some(database) = database() else {
        steps.run("deny", cargo::cargo(&["deny", "check", "bans", "licenses", "sources"]));
        steps
            .skip("advisories", "set NEARCRAWL_ADVISORY_DB to a checkout of RustSec's advisory-db");
        return;
    };
    steps.record("deny", |_| {
        // Crates for other systems are looked at too; cargo-deny itself runs without the network.
        run(cargo::cargo(&["fetch", "--locked", "--quiet"]), "cargo fetch")?;
        let config = configuration(&database)?;
        let mut command = cargo::cargo(&["deny", "--offline", "--config"]);
        command.arg(config).arg("check");
        run(command, "cargo deny")
    });
}

fn run(mut command: std::process::Command, name: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    anyhow::ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}

/// A copy of the advisory database: where we are told, or beside the repository.
fn database() -> Option<PathBuf> {
    let told = std::env::var_os("NEARCRAWL_ADVISORY_DB").map(PathBuf::from);
    let place = told.unwrap_or_else(|| repository::beside("advisory-db"));
    place.join("crates").is_dir().then(|| place.canonicalize().ok()).flatten()
}

/// `deny.toml` with the place of the database in it, which differs from machine to machine.
fn configuration(database: &Path) -> anyhow::Result<PathBuf> {
    let room = repository::target().join("deny");
    let dbs = room.join("advisory-dbs");
    dress(database, &dbs.join(FOLDER))
        .context("cannot lay out the copy of the advisory database")?;
    let text = fs::read_to_string(repository::root().join("deny.toml"))
        .context("cannot read deny.toml")?;
    let place = format!("[advisories]\ndb-path = {:?}\n", dbs.display().to_string());
    let path = room.join("deny.toml");
    fs::write(&path, text.replacen("[advisories]\n", &place, 1))
        .context("cannot write its copy")?;
    Ok(path)
}

/// Makes the copy look as if cargo-deny had fetched it, as old as it really is.
fn dress(database: &Path, folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder.join(".git"))?;
    let stamp = File::create(folder.join(".git/FETCH_HEAD"))?;
    stamp.set_modified(fs::metadata(database.join("crates"))?.modified()?)?;
    let link = folder.join("crates");
    if fs::symlink_metadata(&link).is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(database.join("crates"), link)
}
