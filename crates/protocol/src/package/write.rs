//! Building of packages.

use std::ops::Deref;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::{Header, MAGIC, PackageError, PackageName, SIGNATURE_BYTES, block, compression};
use crate::{key::AgentKey, key::Purpose, limits, page::Entry};
use model::UnixMillis;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedPackage {
    /// The signed header.
    pub header: Header,
    /// The whole package as it is sent.
    pub bytes: Vec<u8>,
}

/// A signed package with these entries. An error if a reader would refuse it; fewer or smaller
/// entries may fit.
pub fn build(
    entries: &[Entry<impl Deref<Target = str>>],
    name: PackageName,
    created: UnixMillis,
    key: &AgentKey,
) -> Result<FinishedPackage, PackageError> {
    let mut plain = Vec::new();
    for block in block::blocks(entries) {
        if block.len() > limits::BLOCK_BYTES {
            return Err(PackageError::BlockTooLarge(block.len()));
        }
        plain.extend((block.len() as u32).to_be_bytes());
        plain.extend(block);
    }
    let body = compression::compress(&plain).map_err(PackageError::Inflate)?;
    let header = Header {
        name,
        created,
        entries: u32::try_from(entries.len()).unwrap_or(u32::MAX),
        plain_bytes: plain.len() as u64,
        body_sha256: HEXLOWER.encode(&Sha256::digest(&body)),
    };
    let bytes = assemble(&header, &body, key)?;
    Ok(FinishedPackage { header, bytes })
}

fn assemble(header: &Header, body: &[u8], key: &AgentKey) -> Result<Vec<u8>, PackageError> {
    let json = serde_json::to_vec(header).map_err(PackageError::Header)?;
    let length = u32::try_from(json.len()).map_err(|_| PackageError::HeaderTooLarge(json.len()))?;
    let signature: [u8; SIGNATURE_BYTES] = key.sign(Purpose::Package, &json).to_bytes();
    let bytes = [MAGIC.as_slice(), &length.to_be_bytes(), &json, &signature, body].concat();
    if bytes.len() > limits::PACKAGE_BYTES {
        return Err(PackageError::TooLarge(bytes.len()));
    }
    Ok(bytes)
}
