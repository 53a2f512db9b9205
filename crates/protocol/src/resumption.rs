//! Resumption of uploads: a package whose upload broke goes on at the byte that the coordinator
//! already has.
//!
//! The agent names the whole package by its digest (`Repr-Digest`, RFC 9530) when it sends it by
//! PUT. If that breaks, HEAD on the same path with the same digest answers with `Upload-Offset`,
//! and PATCH with digest and offset sends the rest. A coordinator that does not support this
//! answers HEAD with 405, and the whole package is sent again.

use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};

/// Name of the header with the number of bytes that the coordinator has, or that are left out.
pub const UPLOAD_OFFSET: &str = "upload-offset";
/// Name of the header with the digest of the whole package.
pub const REPR_DIGEST: &str = "repr-digest";

const SHA256: (&str, &str) = ("sha-256=:", ":");

/// Value of the header [`REPR_DIGEST`] for these bytes.
pub fn repr_digest(bytes: &[u8]) -> String {
    let (before, after) = SHA256;
    format!("{before}{}{after}", BASE64.encode(&Sha256::digest(bytes)))
}

/// The SHA-256 in a value of the header [`REPR_DIGEST`]; none where there is no such.
pub fn sha256_of(value: &str) -> Option<[u8; 32]> {
    let (before, after) = SHA256;
    let encoded = value.trim().strip_prefix(before)?.strip_suffix(after)?;
    BASE64.decode(encoded.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_the_rfc_says() {
        // RFC 9530, appendix B.1.
        let value = repr_digest(b"{\"hello\": \"world\"}\n");
        assert_eq!(value, "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:");
        let sha256: [u8; 32] = Sha256::digest(b"{\"hello\": \"world\"}\n").into();
        assert_eq!(sha256_of(&value), Some(sha256));
        for other in ["", "sha-256=:AAAA:", "sha-512=:RK/0qy18:", &value[..value.len() - 1]] {
            assert_eq!(sha256_of(other), None, "{other}");
        }
    }
}
