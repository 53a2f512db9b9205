//! Download of a program: its size and hash are checked while it arrives.

use std::{io::Read as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use data_encoding::HEXLOWER;
use protocol::release::Program;
use reqwest::Response;
use sha2::{Digest as _, Sha256};
use tokio::{fs::File, io::AsyncWriteExt as _};

use super::UpdateError;
use crate::{file::FileError, owner::gate::Gate};

/// Permissions of a program: only the agent's user runs it.
const EXECUTABLE: u32 = 0o700;

/// Stores the program of an answer in the file `path`, at the rate and within the budgets of the
/// owner. When this returns, the content survives a crash.
pub async fn download(
    mut response: Response,
    program: &Program,
    path: &Path,
    gate: &Gate,
) -> Result<(), UpdateError> {
    // What an earlier attempt left may have other permissions.
    drop(std::fs::remove_file(path));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(EXECUTABLE);
    let written = || FileError::at(path, "written");
    let mut file = File::from_std(options.open(path).map_err(written())?);
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    while let Some(chunk) =
        response.chunk().await.map_err(|error| UpdateError::Coordinator(error.into()))?
    {
        admit(gate, chunk.len() as u64).await?;
        bytes += chunk.len() as u64;
        if bytes > program.bytes {
            return Err(UpdateError::Content("it is larger"));
        }
        hasher.update(&chunk);
        file.write_all(&chunk).await.map_err(written())?;
    }
    file.sync_all().await.map_err(written())?;
    check(program, bytes, hasher)
}

/// Counts bytes that arrive, and waits as long as the owner's rate says.
async fn admit(gate: &Gate, mut bytes: u64) -> Result<(), UpdateError> {
    while bytes > 0 {
        let grant = gate.read(bytes);
        if grant.bytes == 0 {
            return Err(UpdateError::CutOff);
        }
        tokio::time::sleep(grant.wait).await;
        bytes -= grant.bytes;
    }
    Ok(())
}

/// Checks that a file is the program of the release.
pub fn verify(path: &Path, program: &Program) -> Result<(), UpdateError> {
    let read = || FileError::at(path, "read");
    let file = std::fs::File::open(path).map_err(read())?;
    let mut reader = file.take(program.bytes + 1);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let length = reader.read(&mut buffer).map_err(read())?;
        if length == 0 {
            break;
        }
        bytes += length as u64;
        hasher.update(&buffer[..length]);
    }
    check(program, bytes, hasher)
}

/// Checks the size and the hash of what was read.
fn check(program: &Program, bytes: u64, hasher: Sha256) -> Result<(), UpdateError> {
    if bytes != program.bytes {
        return Err(UpdateError::Content("it has another size"));
    }
    if HEXLOWER.encode(&hasher.finalize()) != program.sha256 {
        return Err(UpdateError::Content("its SHA-256 is another one"));
    }
    Ok(())
}
