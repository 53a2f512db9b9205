//! Measuring round trips.

use std::net::{IpAddr, Ipv4Addr};

use protocol::{ProbeId, ProbeMethod, ProbeOrder, ProbeResult};

use crate::town::{Town, address};

pub(crate) fn order(town: &Town, id: i64, address: IpAddr, methods: &[ProbeMethod]) -> ProbeOrder {
    ProbeOrder {
        probe: ProbeId::new(id),
        address,
        port: town.web.port,
        host: format!("a1.test:{}", town.web.port),
        methods: methods.to_vec(),
        samples: 3,
    }
}

pub(crate) async fn measure(town: &Town, order: ProbeOrder) -> ProbeResult {
    let probe = order.probe;
    town.coordinator.order(order);
    town.until("the report has arrived", |town| {
        town.coordinator.delegation_table().reports.contains_key(&probe)
    })
    .await;
    town.coordinator.delegation_table().reports[&probe].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn round_trips_are_measured_by_the_first_method_that_works() {
    let mut town = Town::new(1).await;
    town.configure("probe", "timeout_ms = 500");
    town.start_approved().await;
    let here = IpAddr::V4(address(1));
    let tcp = measure(&town, order(&town, 1, here, &[ProbeMethod::Tcp, ProbeMethod::Head])).await;
    assert!(
        matches!(tcp, ProbeResult::Measured { method: ProbeMethod::Tcp, samples: 3, rtt_us } if rtt_us > 0),
        "{tcp:?}"
    );
    let head = measure(&town, order(&town, 2, here, &[ProbeMethod::Head])).await;
    let ProbeResult::Measured { method: ProbeMethod::Head, samples: 2, rtt_us } = head else {
        panic!("{head:?}")
    };
    assert!(rtt_us >= 5_000, "the server takes 5 ms: {rtt_us}");
    assert_eq!(town.web.count("a1.test", "/"), 2);
    // Nobody listens there, so the connection is refused; and HEAD can't work either.
    let silent =
        ProbeOrder { port: 80, ..order(&town, 3, here, &[ProbeMethod::Tcp, ProbeMethod::Head]) };
    let nobody = measure(&town, silent).await;
    assert!(
        matches!(&nobody, ProbeResult::Unreachable { reason } if reason.contains("tcp:") && reason.contains("head:")),
        "{nobody:?}"
    );
    let mapped =
        measure(&town, order(&town, 4, "::ffff:127.1.0.1".parse().unwrap(), &[ProbeMethod::Tcp]))
            .await;
    assert!(matches!(mapped, ProbeResult::Measured { .. }), "{mapped:?}");
    let echo = measure(&town, order(&town, 5, here, &[ProbeMethod::Icmp, ProbeMethod::Tcp])).await;
    let ProbeResult::Measured { method, .. } = echo else { panic!("{echo:?}") };
    println!("icmp first: measured by {}", method.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_has_the_last_word() {
    let mut town = Town::new(1).await;
    town.configure("probe", "methods = [\"tcp\"]");
    town.configure("probe", "new_targets_per_minute = 0");
    town.start_approved().await;
    let refused = |result: &ProbeResult| match result {
        ProbeResult::Refused { reason } => reason.clone(),
        other => panic!("{other:?}"),
    };
    let here = IpAddr::V4(address(1));
    let private =
        measure(&town, order(&town, 1, Ipv4Addr::new(10, 0, 0, 1).into(), &[ProbeMethod::Tcp]))
            .await;
    assert!(refused(&private).contains("not on the public internet"), "{private:?}");
    let method =
        measure(&town, order(&town, 2, here, &[ProbeMethod::Icmp, ProbeMethod::Head])).await;
    assert!(refused(&method).contains("none of the methods"), "{method:?}");
    let port = ProbeOrder { port: 22, ..order(&town, 3, here, &[ProbeMethod::Tcp]) };
    let port = measure(&town, port).await;
    assert!(refused(&port).contains("port 22"), "{port:?}");
    let scan = measure(&town, order(&town, 4, here, &[ProbeMethod::Tcp])).await;
    assert!(refused(&scan).contains("no new targets"), "{scan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_survive_an_outage() {
    let mut town = Town::new(1).await;
    town.start_approved().await;
    let first = order(&town, 1, address(1).into(), &[ProbeMethod::Tcp]);
    measure(&town, first).await;
    town.coordinator.delegation_table().refuse_all = Some((503, "restarting"));
    town.coordinator.order(order(&town, 2, address(1).into(), &[ProbeMethod::Tcp]));
    town.coordinator.delegation_table().refuse_all = None;
    town.until("the report has arrived", |town| {
        town.coordinator.delegation_table().reports.len() == 2
    })
    .await;
}
