//! Probes: methods, refusals and reports.

use std::net::{IpAddr, Ipv4Addr};

use model::{ProbeId, ProbeMethod};
use protocol::{ProbeOrder, ProbeResult};

use crate::testbed::{TestBed, address};

pub(crate) fn order(
    bed: &TestBed,
    id: i64,
    address: IpAddr,
    methods: &[ProbeMethod],
) -> ProbeOrder {
    ProbeOrder {
        probe: ProbeId::new(id),
        address,
        port: bed.web.port,
        host: format!("a1.test:{}", bed.web.port),
        methods: methods.to_vec(),
        samples: 3,
    }
}

pub(crate) async fn measure(bed: &TestBed, order: ProbeOrder) -> ProbeResult {
    let probe = order.probe;
    bed.coordinator.order(order);
    bed.until("the report has arrived", |bed| bed.coordinator.state().reports.contains_key(&probe))
        .await;
    bed.coordinator.state().reports[&probe].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn round_trips_are_measured_by_the_first_method_that_works() {
    let mut bed = TestBed::new(1).await;
    bed.configure("probe", "timeout_ms = 500");
    bed.start_approved().await;
    let here = IpAddr::V4(address(1));
    let tcp = measure(&bed, order(&bed, 1, here, &[ProbeMethod::Tcp, ProbeMethod::Head])).await;
    let ProbeResult::Measured { method: ProbeMethod::Tcp, samples: 3, rtt_us } = tcp else {
        panic!("{tcp:?}")
    };
    assert!(rtt_us > 0);
    let head = measure(&bed, order(&bed, 2, here, &[ProbeMethod::Head])).await;
    let ProbeResult::Measured { method: ProbeMethod::Head, samples: 2, rtt_us } = head else {
        panic!("{head:?}")
    };
    assert!(rtt_us >= 5_000, "the server takes 5 ms: {rtt_us}");
    assert_eq!(bed.web.count("a1.test", "/"), 2);
    // Nothing listens there, so the connection is refused, and HEAD cannot work either.
    let silent = ProbeOrder {
        port: 80,
        host: "a1.test".into(),
        ..order(&bed, 3, here, &[ProbeMethod::Tcp, ProbeMethod::Head])
    };
    let closed = measure(&bed, silent).await;
    let ProbeResult::Unreachable { reason } = &closed else { panic!("{closed:?}") };
    assert!(reason.contains("tcp:") && reason.contains("head:"), "{reason}");
    let mapped =
        measure(&bed, order(&bed, 4, "::ffff:127.1.0.1".parse().unwrap(), &[ProbeMethod::Tcp]))
            .await;
    assert!(matches!(mapped, ProbeResult::Measured { .. }), "{mapped:?}");
    let echo = measure(&bed, order(&bed, 5, here, &[ProbeMethod::Icmp, ProbeMethod::Tcp])).await;
    let ProbeResult::Measured { method, .. } = echo else { panic!("{echo:?}") };
    println!("icmp first: measured by {}", method.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_rules_refuse_probes() {
    let mut bed = TestBed::new(1).await;
    bed.configure("probe", "methods = [\"tcp\"]");
    bed.configure("probe", "new_targets_per_minute = 0");
    bed.start_approved().await;
    let refused = |result: &ProbeResult| match result {
        ProbeResult::Refused { reason } => reason.clone(),
        other => panic!("{other:?}"),
    };
    let here = IpAddr::V4(address(1));
    let private =
        measure(&bed, order(&bed, 1, Ipv4Addr::new(10, 0, 0, 1).into(), &[ProbeMethod::Tcp])).await;
    assert!(refused(&private).contains("not on the public internet"), "{private:?}");
    let method = measure(&bed, order(&bed, 2, here, &[ProbeMethod::Icmp, ProbeMethod::Head])).await;
    assert!(refused(&method).contains("none of the methods"), "{method:?}");
    let port = ProbeOrder {
        port: 22,
        host: "a1.test:22".into(),
        ..order(&bed, 3, here, &[ProbeMethod::Tcp])
    };
    let port = measure(&bed, port).await;
    assert!(refused(&port).contains("port 22"), "{port:?}");
    let scan = measure(&bed, order(&bed, 4, here, &[ProbeMethod::Tcp])).await;
    assert!(refused(&scan).contains("no new targets"), "{scan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_survive_an_outage() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    let first = order(&bed, 1, address(1).into(), &[ProbeMethod::Tcp]);
    measure(&bed, first).await;
    bed.coordinator.state().refuse_all = Some((503, "restarting"));
    bed.coordinator.order(order(&bed, 2, address(1).into(), &[ProbeMethod::Tcp]));
    bed.coordinator.state().refuse_all = None;
    bed.until("the report has arrived", |bed| bed.coordinator.state().reports.len() == 2).await;
}
