//! TLS as the machine trusts it.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt as _;

/// TLS can't be had on this machine.
#[derive(Debug, thiserror::Error)]
#[error("TLS can't be set up with this machine's certificates")]
pub struct TlsError(#[from] rustls::Error);

/// A client that trusts what the machine trusts, and speaks HTTP/1.1.
pub fn config() -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
