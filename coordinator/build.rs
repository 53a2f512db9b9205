//! Puts the built dashboard where it can be embedded, or a stub page where it was not built.
//!
//! The pages contain code of others and are not committed; a checkout without Node still builds.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

const STUB: &str = include_str!("src/http/public/stub.html");

fn main() -> Result<(), Box<dyn Error>> {
    let dist = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../web-ui/dist");
    let target = PathBuf::from(env::var("OUT_DIR")?).join("dashboard");
    // Cargo looks at the time of a path that is there, and takes one that is not for changed every
    // time. Where the checkout cannot be written to, that costs a look at each build and nothing
    // else.
    let _ = fs::create_dir_all(&dist);
    println!("cargo::rerun-if-changed={}", dist.display());
    println!("cargo::rerun-if-changed=src/http/public/stub.html");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::create_dir_all(&target)?;
    let dashboard = if dist.join("index.html").is_file() {
        let mut hash = Sha256::new();
        copy(&dist, &target, &mut hash)?;
        let first = hash.finalize().first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        format!("{:012x}", first >> 16)
    } else {
        fs::write(target.join("index.html"), STUB)?;
        "stub".to_owned()
    };
    println!("cargo::rustc-env=NEARCRAWL_DASHBOARD={dashboard}");
    Ok(())
}

/// Copies a folder in the order of names, and hashes names and contents.
fn copy(from: &Path, to: &Path, hash: &mut Sha256) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut entries = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let path = entry.path();
        hash.update(name.as_encoded_bytes());
        if entry.file_type()?.is_dir() {
            copy(&path, &to.join(name), hash)?;
        } else {
            let content = fs::read(&path)?;
            hash.update(&content);
            fs::write(to.join(name), content)?;
        }
    }
    Ok(())
}
