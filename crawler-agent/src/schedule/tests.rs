use super::*;

const HOST: HostNumber = HostNumber(1);
const OTHER: HostNumber = HostNumber(2);
const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const NOW: UnixMillis = UnixMillis(1_000_000);
const SECOND: Duration = Duration::from_secs(1);

/// Offers a host whose name is known.
fn offer(schedule: &Schedule, host: HostNumber, due: UnixMillis, now: UnixMillis, pause: Duration) {
    schedule.offer(host, due, now, pause);
    let mut workbench = schedule.workbench();
    while let Some(host) = workbench.take_unresolved(u64::MAX) {
        workbench.resolved(host);
    }
    schedule.wake_if_due(&workbench);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_gives_everything_back() {
    let schedule = Schedule::new(8);
    offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
    let claim = schedule.take(SECOND).unwrap().hold(ADDRESS, Duration::ZERO).unwrap();
    assert_eq!(schedule.in_flight(), 1);
    drop(claim);
    assert_eq!(schedule.in_flight(), 0);
    assert!(schedule.take(SECOND).is_none(), "the host rests for its pause");
    tokio::time::advance(SECOND * 2).await;
    assert!(schedule.take(SECOND).is_some());
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_when_a_host_is_due_or_offered() {
    let schedule = Schedule::new(8);
    offer(&schedule, HOST, NOW.plus_ms(5_000), NOW, Duration::ZERO);
    schedule.wait().await;
    schedule.wait().await;
    assert!(schedule.take(SECOND).is_some(), "the runtime's clock advanced by itself");
    let waiting = tokio::spawn({
        let schedule = Arc::clone(&schedule);
        async move { schedule.wait().await }
    });
    offer(&schedule, OTHER, NOW, NOW, Duration::ZERO);
    waiting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn extreme_times_do_not_block_a_host_forever() {
    let schedule = Schedule::new(8);
    offer(&schedule, OTHER, UnixMillis(i64::MIN), NOW, SECOND);
    assert!(schedule.take(SECOND).is_none(), "the pause counts although the due time is long past");
    tokio::time::advance(SECOND * 2).await;
    let other = schedule.take(SECOND).unwrap();
    assert_eq!(other.host(), OTHER);
    offer(&schedule, HOST, UnixMillis(i64::MAX), NOW, Duration::ZERO);
    assert_eq!(schedule.take(SECOND).unwrap().host(), HOST, "no due time is that far ahead");
}

#[tokio::test(start_paused = true)]
async fn an_address_serves_one_request_at_a_time() {
    let schedule = Schedule::new(8);
    let held = schedule.hold_target(None, ADDRESS, Duration::ZERO).await;
    offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
    assert!(schedule.take(SECOND).unwrap().hold(ADDRESS, Duration::ZERO).is_none());
    drop(held);
    assert!(schedule.take(SECOND).unwrap().hold(ADDRESS, Duration::ZERO).is_some());
}

#[tokio::test(start_paused = true)]
async fn the_next_host_at_an_address_waits_for_its_delay() {
    let schedule = Schedule::new(8);
    offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
    offer(&schedule, OTHER, NOW, NOW, Duration::ZERO);
    schedule.take(SECOND).unwrap().hold(ADDRESS, SECOND).unwrap().finish(SECOND * 9, false);
    let other = schedule.take(SECOND).unwrap();
    assert!(other.hold(ADDRESS, SECOND).is_none(), "the last request has just ended");
    assert!(schedule.take(SECOND).is_none());
    let started = Instant::now();
    schedule.wait().await;
    let other = schedule.take(SECOND).unwrap();
    assert!(other.hold(ADDRESS, SECOND).is_some());
    assert!(started.elapsed() > SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_borrowed_host_rests_as_well() {
    let schedule = Schedule::new(8);
    offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
    schedule.take(SECOND).unwrap().borrow(OTHER, SECOND, SECOND).unwrap().finish(SECOND, false);
    offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
    offer(&schedule, OTHER, NOW.plus_ms(10_000), NOW, Duration::ZERO);
    let claim = schedule.take(SECOND).unwrap();
    assert!(claim.borrow(OTHER, SECOND, SECOND).is_none(), "not due");
    assert!(schedule.take(SECOND).is_none());
    tokio::time::advance(Duration::from_secs(10)).await;
    assert!(schedule.take(SECOND).is_some() && schedule.take(SECOND).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_borrowed_host_does_not_rest_for_the_failures_of_another() {
    const HOURS: Duration = Duration::from_hours(6);
    let schedule = Schedule::new(8);
    for (stated, rest) in [(Duration::ZERO, SECOND), (SECOND * 9, SECOND * 9)] {
        offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
        offer(&schedule, OTHER, NOW.plus_ms(1), NOW, Duration::ZERO);
        tokio::time::advance(Duration::from_millis(5)).await;
        let claim = schedule.take(SECOND).unwrap();
        assert_eq!(claim.host(), HOST);
        let mut claim = claim.borrow(OTHER, SECOND, SECOND).unwrap();
        claim.rest_other(stated);
        claim.finish(HOURS, false);
        assert!(schedule.take(SECOND).is_none(), "it has just been asked");
        tokio::time::advance(rest + Duration::from_millis(5)).await;
        let claim = schedule.take(SECOND).unwrap();
        assert_eq!(claim.host(), OTHER);
        claim.finish(Duration::ZERO, false);
        tokio::time::advance(HOURS).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_keeps_the_delay_before_and_after_it() {
    let schedule = Schedule::new(8);
    offer(&schedule, HOST, NOW, NOW, Duration::ZERO);
    let page = schedule.take(SECOND).unwrap().hold(ADDRESS, Duration::ZERO).unwrap();
    let until_free = schedule.hold_target(Some(HOST), ADDRESS, SECOND);
    assert!(tokio::time::timeout(SECOND * 5, until_free).await.is_err(), "a request is running");
    page.finish(Duration::ZERO, true);
    let started = Instant::now();
    let probe = schedule.hold_target(Some(HOST), ADDRESS, SECOND).await;
    assert!(started.elapsed() > SECOND, "the delay after the page");
    assert!(schedule.take(SECOND).is_none(), "no page while the probe runs");
    drop(probe);
    assert!(schedule.take(SECOND).is_none(), "nor right after it");
    tokio::time::advance(SECOND * 2).await;
    assert_eq!(schedule.take(SECOND).unwrap().host(), HOST, "its work is not forgotten");
}

#[tokio::test(start_paused = true)]
async fn a_probe_waits_for_requests_to_other_hosts_at_its_address() {
    let schedule = Schedule::new(8);
    offer(&schedule, OTHER, NOW, NOW, Duration::ZERO);
    drop(schedule.take(SECOND).unwrap().hold(ADDRESS, Duration::ZERO).unwrap());
    let started = Instant::now();
    drop(schedule.hold_target(Some(HOST), ADDRESS, SECOND).await);
    assert!(started.elapsed() > SECOND);
}

#[tokio::test(start_paused = true)]
async fn names_are_looked_up_before_their_hosts_are_due() {
    let schedule = Schedule::new(8);
    schedule.offer(HOST, NOW.plus_ms(60_000), NOW, Duration::ZERO);
    let started = Instant::now();
    while schedule.take_unresolved().is_none() {
        schedule.until_unresolved().await;
    }
    assert_eq!(started.elapsed(), SECOND * 50);
    schedule.resolved(HOST);
    let waiting = tokio::spawn({
        let schedule = Arc::clone(&schedule);
        async move { schedule.until_unresolved().await }
    });
    tokio::task::yield_now().await;
    let offered = Instant::now();
    schedule.offer(OTHER, NOW, NOW, Duration::ZERO);
    waiting.await.unwrap();
    assert_eq!(offered.elapsed(), Duration::ZERO, "a host that is due is noticed at once");
    assert_eq!(schedule.take_unresolved(), Some(OTHER));
    assert!(schedule.take(SECOND).is_none(), "its lookup is running");
    schedule.resolved(OTHER);
    schedule.take(SECOND).unwrap().look_up();
    assert_eq!(schedule.take_unresolved(), Some(OTHER), "its name was not known any more");
}

#[tokio::test(start_paused = true)]
async fn a_suspension_of_the_machine_counts_as_waiting() {
    let schedule = Schedule::new(8);
    offer(&schedule, HOST, NOW.plus_ms(3_600_000), NOW, Duration::ZERO);
    let waiting = tokio::spawn({
        let schedule = Arc::clone(&schedule);
        async move {
            while schedule.take(SECOND).is_none() {
                schedule.wait().await;
            }
        }
    });
    let started = Instant::now();
    tokio::time::sleep(SECOND).await;
    schedule.was_suspended(SECOND * 3_000);
    waiting.await.unwrap();
    assert_eq!(started.elapsed(), SECOND * 600);
}
