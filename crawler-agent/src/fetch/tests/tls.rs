//! TLS connections, with certificates made for the test.

use super::*;

#[tokio::test]
async fn tls_certificates_are_checked() {
    let issued = rcgen::generate_simple_self_signed(vec!["h.example".into()]).unwrap();
    let certificate = issued.cert.der().clone();
    let key = issued.signing_key.serialize_der();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server_config = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.try_into().unwrap())
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server_config));
    let server = Server::with(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let mut request = [0; 1_024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&answer("", b"secret")).await;
        }
    })
    .await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = |roots: rustls::RootCertStore| {
        let config = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Fetcher::new(limits(), "t".into(), None, Some(config), Gate::of(""))
    };
    let url = |host: &str| CrawlUrl::parse(&format!("https://{host}:{}/", server.port)).unwrap();
    let trusting = client(roots);
    let answer = trusting.get(&url("h.example"), LOOPBACK, keep).await.unwrap();
    assert_eq!(answer.sink.unwrap().0, b"secret");
    let wrong_name = trusting.get(&url("other.example"), LOOPBACK, keep).await.unwrap_err();
    assert!(matches!(wrong_name.problem, Problem::Tls(_)), "{wrong_name:?}");
    let stranger = client(rustls::RootCertStore::empty())
        .get(&url("h.example"), LOOPBACK, keep)
        .await
        .unwrap_err();
    assert!(matches!(stranger.problem, Problem::Tls(_)), "{stranger:?}");
}
