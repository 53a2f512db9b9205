//! Budgets and bandwidth of the owner, over real sockets.

use super::*;
use crate::owner::{
    allowance::RestReason,
    budget::{BudgetKind, UsedUp},
};

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn everything_on_the_wire_counts() {
    let server = Server::start(|_| answer("x-header: 0123456789\r\n", &[b'x'; 5_000])).await;
    for lines in ["", "[budget]\nmib_per_day = 20", "[limits]\nkib_per_second = 100"] {
        let gate = Gate::of(lines);
        let fetcher = gated(limits(), Arc::clone(&gate));
        for n in 1..=2 {
            server.get(&fetcher).await.unwrap();
            let usage = gate.usage();
            assert_eq!(usage.pages, n);
            // The body, some 70 bytes of headers, and some 200 of the request.
            let bytes = usage.bytes / n;
            assert!((5_200..5_400).contains(&bytes), "{lines}: {bytes}");
            assert_eq!(usage.bytes, usage.month_bytes);
        }
    }
}

#[tokio::test]
async fn an_answer_beyond_the_budget_is_cut_off_and_nothing_follows() {
    let server = Server::start(|_| answer("", &vec![b'x'; 4 << 20])).await;
    let gate = Gate::of("[limits]\nwire_mib = 1\n[budget]\nmib_per_day = 1");
    let fetcher = gated(limits(), Arc::clone(&gate));
    let error = server.get(&fetcher).await.unwrap_err();
    assert!(matches!(error.problem, Problem::CutOff), "{error:?}");
    assert!(error.problem.is_owners());
    let used = gate.usage().bytes;
    assert!((MIB..=MIB + MIB / 100).contains(&used), "{used}");
    let error = server.get(&fetcher).await.unwrap_err();
    let Problem::Withheld(RestReason::UsedUp(UsedUp { what, .. })) = error.problem else {
        panic!("{error:?}");
    };
    assert_eq!((what, server.connections()), (BudgetKind::BytesOfDay, 1));
    let target = SocketAddr::new(LOOPBACK, server.port);
    let head = fetcher.head_round_trip(&server.url(), target).await.unwrap_err();
    assert!(matches!(head, Problem::Withheld(_)), "{head:?}");
    assert_eq!((server.connections(), gate.usage().bytes), (1, used));
}

/// The limit of the whole fetch is 1.5 s; at this rate it takes two.
#[tokio::test]
async fn slowness_of_our_own_is_not_the_servers() {
    let server = Server::start(|_| answer("", &vec![b'x'; 128 << 10])).await;
    let fetcher = gated(impatient(), Gate::of("[limits]\nkib_per_second = 64"));
    let started = Instant::now();
    let answer = server.get(&fetcher).await.unwrap();
    let took = started.elapsed();
    assert!(took > Duration::from_millis(1_700), "{took:?}");
    let reported = Duration::from_micros(answer.timing.total_us.into());
    assert!(reported < took / 2, "{reported:?} of {took:?}");
    assert_eq!(answer.sink.unwrap().0.len(), 128 << 10);
}

/// What the bucket owes makes each read wait, also that of the end of a kept connection.
#[tokio::test]
async fn a_kept_connection_that_ended_is_not_used_while_reads_wait() {
    let server = Server::with(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(&answer("", &vec![b'x'; 48 << 10])).await;
    })
    .await;
    let fetcher = gated(limits(), Gate::of("[limits]\nkib_per_second = 96"));
    for connections in 1..=3 {
        server.get(&fetcher).await.unwrap();
        assert_eq!(server.connections(), connections);
    }
}

#[tokio::test]
async fn fetches_share_the_rate() {
    let server = Server::start(|_| answer("", &vec![b'x'; 48 << 10])).await;
    let gate = Gate::of("[limits]\nkib_per_second = 96");
    let fetcher = gated(limits(), gate);
    let started = Instant::now();
    let (first, second) = tokio::join!(server.get(&fetcher), server.get(&fetcher));
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    let took = started.elapsed();
    // One second for both, less what the bucket held.
    assert!(took > Duration::from_millis(800), "{took:?}");
}
