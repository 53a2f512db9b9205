//! A coordinator without the key that the join token names is not obeyed.

use crate::{coordinator::TOKEN, testbed::TestBed, web::html};

const OTHER_KEY: [u8; 32] = [9; 32];

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_does_not_enrol_with_an_impostor() {
    let bed = TestBed::new(1).await;
    bed.coordinator.state().signs_with = OTHER_KEY;
    let joined = bed.run(&["join", "--join-token-file", &bed.token_file(&TOKEN)]).await;
    let said = String::from_utf8(joined.stderr).unwrap();
    assert!(!joined.status.success() && said.contains("not signed with the key"), "{said}");
    assert!(!bed.data_dir().join("identity.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_enrolled_agent_takes_no_orders_from_an_impostor() {
    let mut bed = TestBed::new(1).await;
    let url = bed.web.page("a1.test", "/", html("x"));
    bed.start_approved().await;
    let (ended, _) = bed.stop().await;
    assert!(ended.success());
    bed.coordinator.state().signs_with = OTHER_KEY;
    bed.coordinator.route(std::slice::from_ref(&url));
    let heartbeats = bed.coordinator.state().heartbeats.len();
    let sessions = bed.coordinator.state().sessions_opened;
    bed.start_with(&["run"]).await;
    bed.until("it asked for sessions", |bed| {
        bed.coordinator.state().sessions_opened >= sessions + 2
    })
    .await;
    assert_eq!(bed.coordinator.state().heartbeats.len(), heartbeats);
    assert!(bed.web.log().hosts.is_empty());
    // The owner's URL leads to the right coordinator again.
    bed.coordinator.state().signs_with = crate::coordinator::KEY;
    bed.until_reported(&[url]).await;
}
