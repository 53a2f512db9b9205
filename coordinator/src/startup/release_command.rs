//! `release`: makes the release key, and signs the agent's programs in a directory. Neither needs a
//! database, because the key stays on a machine of its own.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use model::DAY_MS;
use protocol::key::ReleaseKey;
use protocol::release::{self, Program, Release};
use semver::Version;

use crate::runtime::agent_programs::{AgentProgram, AgentPrograms};
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::failure::Failure;
use crate::startup::output::print_line;

/// Offset of the processor's number in the header of an ELF file, which is 20 bytes until then.
const ELF_MACHINE: usize = 18;

/// Subcommands of `release`.
#[derive(Debug, Subcommand)]
pub enum ReleaseCommand {
    /// Make a release key. Keep its file on a machine that is not the coordinator, with a copy.
    NewKey {
        /// File for the secret key; it must not exist.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Sign the agent's programs in a directory: writes release.json beside them.
    Sign(SignArgs),
}

/// Flags of `release sign`.
#[derive(Debug, Args)]
pub struct SignArgs {
    /// The directory of `agent_downloads`, or a copy of it.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// File with the secret key.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Version of the programs, as `nearcrawl-agent --version` prints it.
    #[arg(long, value_parser = version)]
    version: Version,
    /// Days for which agents take the release.
    #[arg(long, value_name = "DAYS", default_value_t = 90,
        value_parser = clap::value_parser!(u16).range(1..=3_650))]
    valid_days: u16,
    /// Part of the agents that take it, in per cent; sign again with more until it is 100, or with
    /// 0 to stop.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
        value_parser = clap::value_parser!(u8).range(0..=100))]
    share: u8,
}

/// Agents compare versions, and build metadata has no order.
fn version(text: &str) -> Result<Version, String> {
    let version = Version::parse(text).map_err(|error| format!("{error}; write one like 0.2.0"))?;
    if version.build.is_empty() { Ok(version) } else { Err("leave out what follows the +".into()) }
}

/// Carries out a subcommand.
pub fn run(command: &ReleaseCommand) -> Result<(), Failure> {
    match command {
        ReleaseCommand::NewKey { out } => new_key(out),
        ReleaseCommand::Sign(args) => sign(args),
    }
}

fn new_key(path: &Path) -> Result<(), Failure> {
    let seed: [u8; 32] = rand::random();
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        writeln!(file, "{}", BASE64URL_NOPAD.encode(&seed))?;
        file.sync_all()
    };
    write().map_err(|error: io::Error| {
        Failure::cannot_create(format!("the key cannot be written to {}: {error}", path.display()))
    })?;
    print_line(ReleaseKey::from_seed(seed).public());
    Ok(())
}

fn sign(args: &SignArgs) -> Result<(), Failure> {
    let key = read_key(&args.key)?;
    let now = SystemClock.now();
    let release = Release {
        format: release::FORMAT,
        version: args.version.clone(),
        signed_at: now,
        expires_at: now.plus_ms(i64::from(args.valid_days) * DAY_MS),
        share_percent: args.share,
        programs: programs(&args.dir)?,
    };
    let text = release.sign(&key).map_err(|error| Failure::other(error.to_string()))?;
    let path = args.dir.join(release::FILE);
    publish(&path, &text).map_err(|error| {
        Failure::cannot_create(format!("{} cannot be written: {error}", path.display()))
    })?;
    for Program { name, target, bytes, sha256 } in &release.programs {
        print_line(format_args!("{name}: {target}, {bytes} bytes, SHA-256 {sha256}"));
    }
    let expires = Timestamp::from_millisecond(release.expires_at.0).unwrap_or(Timestamp::MAX);
    print_line(format_args!(
        "version {} for {} % of the agents, until {expires:.0}; signed by {}",
        release.version,
        release.share_percent,
        key.public()
    ));
    Ok(())
}

fn read_key(path: &Path) -> Result<ReleaseKey, Failure> {
    let shown = path.display();
    let unreadable = |error: io::Error| {
        Failure::configuration(format!("the key {shown} cannot be read: {error}"))
    };
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        let advice = format!("the key {shown} can be read by others; run: chmod 600 {shown}");
        return Err(Failure::configuration(advice));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let bytes = BASE64URL_NOPAD.decode(text.trim().as_bytes()).ok();
    let seed = bytes.and_then(|bytes| bytes.try_into().ok());
    seed.map(ReleaseKey::from_seed)
        .ok_or_else(|| Failure::configuration(format!("{shown} has no release key in it")))
}

fn programs(dir: &Path) -> Result<Vec<Program>, Failure> {
    let unreadable = |error: io::Error| {
        Failure::configuration(format!("{} cannot be read: {error}", dir.display()))
    };
    let files = AgentPrograms::new(Some(dir.to_owned())).list().map_err(unreadable)?;
    let mut programs = Vec::new();
    for AgentProgram { name, bytes, sha256 } in files.unwrap_or_default() {
        let Some(target) = target_of(&dir.join(&name)).map_err(unreadable)? else {
            print_line(format_args!("{name}: left out, because it is no program"));
            continue;
        };
        if bytes > release::PROGRAM_BYTES {
            return Err(Failure::configuration(format!("{name} is larger than agents take")));
        }
        programs.push(Program { name, target: target.to_owned(), bytes, sha256 });
    }
    let mut targets = HashSet::new();
    if let Some(second) = programs.iter().find(|program| !targets.insert(program.target.clone())) {
        let Program { name, target, .. } = second;
        let sentence = format!("{name} is the second program for {target}; keep one of them");
        return Err(Failure::configuration(sentence));
    }
    if programs.is_empty() {
        let sentence = format!("{} has no file nearcrawl-agent that is a program", dir.display());
        return Err(Failure::configuration(sentence));
    }
    Ok(programs)
}

/// The processor that a program is for: as its ELF header says, or the end of the name of another
/// executable file; none for files that are neither.
fn target_of(path: &Path) -> io::Result<Option<&'static str>> {
    let mut header = Vec::new();
    File::open(path)?.take(ELF_MACHINE as u64 + 2).read_to_end(&mut header)?;
    let targets = [(62_u16, "x86_64"), (183, "aarch64"), (243, "riscv64"), (40, "arm")];
    if let [0x7f, b'E', b'L', b'F', ..] = header[..] {
        // All of these are little-endian.
        let number = header.get(ELF_MACHINE..).and_then(|bytes| bytes.try_into().ok());
        let number = number.map(u16::from_le_bytes);
        return Ok(targets.iter().find(|(of, _)| Some(*of) == number).map(|(_, target)| *target));
    }
    let is_executable = std::fs::metadata(path)?.permissions().mode() & 0o111 != 0;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut named = targets.iter().filter(|(_, target)| name.ends_with(&format!("-{target}")));
    Ok(named.next().filter(|_| is_executable).map(|(_, target)| *target))
}

/// Replaces the file at once, because the coordinator may be reading it, and for every reader: it
/// runs as another user.
fn publish(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.sync_all()?;
    std::fs::rename(temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(machine: u16) -> Vec<u8> {
        let mut header = b"\x7fELF".to_vec();
        header.resize(ELF_MACHINE, 0);
        header.extend(machine.to_le_bytes());
        header
    }

    fn args(dir: &Path, key: &Path) -> SignArgs {
        SignArgs {
            dir: dir.to_owned(),
            key: key.to_owned(),
            version: Version::new(0, 2, 0),
            valid_days: 90,
            share: 10,
        }
    }

    #[test]
    fn programs_are_signed_with_the_target_in_their_header() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("release.key");
        new_key(&key).unwrap();
        assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(new_key(&key).unwrap_err().code(), 73, "a key is not overwritten");
        let programs = dir.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        assert_eq!(sign(&args(&programs, &key)).unwrap_err().code(), 64, "there is no program");
        std::fs::write(programs.join("nearcrawl-agent"), elf(62)).unwrap();
        std::fs::write(programs.join("nearcrawl-agent-x"), elf(183)).unwrap();
        std::fs::write(programs.join("nearcrawl-agent.sha256"), "text").unwrap();
        sign(&args(&programs, &key)).unwrap();
        let path = programs.join(release::FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        let public = read_key(&key).unwrap().public();
        let signed = Release::verify(&std::fs::read(path).unwrap(), &public).unwrap();
        let targets: Vec<&str> = signed.programs.iter().map(|it| it.target.as_str()).collect();
        assert_eq!(targets, ["x86_64", "aarch64"]);
        assert_eq!((signed.share_percent, signed.programs[0].bytes), (10, 20));
        assert_eq!(signed.expires_at.0 - signed.signed_at.0, 90 * DAY_MS);
        std::fs::write(programs.join("nearcrawl-agent-y"), elf(62)).unwrap();
        let error = sign(&args(&programs, &key)).unwrap_err().to_string();
        assert!(error.contains("nearcrawl-agent-y is the second program for x86_64"), "{error}");
        std::fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
        let error = sign(&args(&programs, &key)).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn the_target_of_another_executable_is_in_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("nearcrawl-agent-aarch64");
        std::fs::write(&path, "#!/bin/sh").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(target_of(&path).unwrap(), None);
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        assert_eq!(target_of(&path).unwrap(), Some("aarch64"));
        std::fs::write(&path, elf(8)).unwrap();
        assert_eq!(target_of(&path).unwrap(), None, "agents run on no such processor");
    }

    #[test]
    fn versions_without_an_order_are_refused() {
        assert_eq!(version("0.2.0-rc.1").unwrap().to_string(), "0.2.0-rc.1");
        for wrong in ["0.2", "v0.2.0", "0.2.0+today", ""] {
            assert!(version(wrong).is_err(), "{wrong}");
        }
    }
}
