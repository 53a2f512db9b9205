//! Answers of proxies between agent and coordinator: nothing is followed, lost or set aside.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use tokio::net::TcpListener;

use crate::{coordinator::TOKEN, testbed::TestBed, web::html};

/// A listener inside the owner's network; returns its URL and the count of its connections.
async fn tripwire() -> (String, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.66.0.1:0").await.unwrap();
    let url = format!("http://{}/latest/meta-data", listener.local_addr().unwrap());
    let connections = Arc::<AtomicU32>::default();
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (url, connections)
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_of_the_coordinator_are_not_followed() {
    let bed = TestBed::new(1).await;
    let (inside, connections) = tripwire().await;
    for status in [301, 302, 303, 307, 308] {
        bed.coordinator.state().redirect_all = Some((status, inside.clone()));
        let joined = bed.run(&["join", "--join-token-file", &bed.token_file(&TOKEN)]).await;
        let said = String::from_utf8(joined.stderr).unwrap();
        assert_eq!(joined.status.code(), Some(1), "{said}");
        assert!(said.contains(&inside) && said.contains("`coordinator`"), "{said}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_refuses_packages_delays_and_loses_nothing() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/", html("x"));
    bed.start_approved().await;
    bed.coordinator.state().proxy_refuses_packages = Some(413);
    bed.coordinator.route(std::slice::from_ref(&url));
    bed.until("an upload was refused", |bed| bed.coordinator.state().refused_by_proxy > 0).await;
    bed.coordinator.state().proxy_refuses_packages = Some(422);
    let before = bed.coordinator.state().refused_by_proxy;
    bed.until("another was", |bed| bed.coordinator.state().refused_by_proxy > before).await;
    bed.coordinator.state().proxy_refuses_packages = None;
    bed.until_reported(&[url]).await;
    assert_eq!(std::fs::read_dir(bed.data_dir().join("packages/refused")).unwrap().count(), 0);
}
