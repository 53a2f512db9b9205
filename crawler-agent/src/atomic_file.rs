//! Files that are written whole or not at all.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// Permissions of files that anybody may read whom the data directory lets in.
pub const SHARED: u32 = 0o644;
/// Permissions of files for the owner's eyes only.
pub const PRIVATE: u32 = 0o600;

/// Replaces the file `path`. When this returns the content survives a crash; a crash before leaves
/// the old file.
pub fn write(path: &Path, content: &[u8], mode: u32) -> std::io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(mode).open(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    // The rename itself is durable only once the directory is synced.
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
