//! Old delegations go with what belongs to them; what the present needs stays.

use store::history::{self, Position, Step};
use store::testing::execute;

use crate::world::{NOW, World};

const DAY_MS: i64 = 86_400_000;

/// Two delegations of one subnet, the first of which ended, and one of another subnet that ended.
/// Each has a search with one probe.
const SEARCHES: &str = "INSERT INTO searches
        (first, last, target, target_host, target_port, strategy, threshold_us, state)
    SELECT n.first::inet, n.last::inet, n.first::inet, 'a.example', 443, 'threshold', 1, 'decided'
    FROM (VALUES ('192.0.2.0', '192.0.2.255'), ('192.0.2.0', '192.0.2.255'),
                 ('198.51.100.0', '198.51.100.255')) AS n (first, last)";
const PROBES: &str = "INSERT INTO probes (search, step, agent, phase, level_first, level_last)
    SELECT s.id, 1, a.id, 'rest', s.first, s.last FROM searches s CROSS JOIN agents a";
const DELEGATIONS: &str = "INSERT INTO delegations
        (first, last, agent, fencing_number, reason, search, ended_at, remapped_from)
    SELECT s.first, s.last, a.id, n.fencing_number, 'lowest', s.id,
           to_timestamp(1800000000) - n.days * interval '1 day', n.remapped_from
    FROM (VALUES (1, 1, 400, NULL::bigint), (2, 2, NULL, 1), (3, 1, 400, NULL))
        AS n (search, fencing_number, days, remapped_from)
    JOIN searches s ON s.id = n.search CROSS JOIN agents a";

#[tokio::test]
async fn a_delegation_goes_when_it_ended_long_ago_and_a_later_one_followed() {
    let world = World::new().await;
    world.approved(1, None).await;
    for statement in [SEARCHES, PROBES, DELEGATIONS] {
        assert_eq!(execute(world.store(), statement).await.unwrap(), 3);
    }
    let forget = |days: i64| {
        let before = NOW.plus_ms(-days * DAY_MS);
        history::forget_delegations(world.store(), Position::default(), before)
    };
    assert_eq!(forget(401).await.unwrap(), Step { next: None, deleted: 0 }, "too new");
    assert_eq!(forget(365).await.unwrap(), Step { next: None, deleted: 1 });
    assert_eq!(forget(365).await.unwrap(), Step { next: None, deleted: 0 });

    for left in [
        "SELECT FROM searches WHERE id IN (2, 3)",
        "SELECT FROM searches",
        "SELECT FROM probes WHERE search IN (2, 3)",
        "SELECT FROM probes",
        "SELECT FROM delegations WHERE remapped_from IS NULL",
    ] {
        assert_eq!(execute(world.store(), left).await.unwrap(), 2, "{left}");
    }
}

#[tokio::test]
async fn a_search_that_led_to_no_delegation_goes_when_it_ended_long_ago() {
    let world = World::new().await;
    world.approved(1, None).await;
    let ended = "UPDATE searches SET decided_at = to_timestamp(1800000000)
            - CASE WHEN id = 3 THEN 20 ELSE 40 END * interval '1 day',
        state = CASE WHEN id = 2 THEN 'unanswered' ELSE state END";
    for statement in [SEARCHES, PROBES, ended] {
        assert_eq!(execute(world.store(), statement).await.unwrap(), 3);
    }
    let delegation = "INSERT INTO delegations (first, last, agent, fencing_number, reason, search)
        SELECT s.first, s.last, a.id, 1, 'lowest', s.id
        FROM searches s CROSS JOIN agents a WHERE s.id = 1";
    assert_eq!(execute(world.store(), delegation).await.unwrap(), 1);
    let forget = |history_days| {
        history::forget_searches(world.store(), Position::default(), history_days, NOW)
    };
    assert_eq!(forget(365).await.unwrap(), Step { next: None, deleted: 1 }, "after 30 days");
    assert_eq!(forget(365).await.unwrap(), Step { next: None, deleted: 0 });
    for left in ["SELECT FROM searches WHERE id IN (1, 3)", "SELECT FROM probes"] {
        assert_eq!(execute(world.store(), left).await.unwrap(), 2, "{left}");
    }
    assert_eq!(forget(19).await.unwrap(), Step { next: None, deleted: 1 });
}

#[tokio::test]
async fn handovers_go_when_their_agents_confirmed_them_long_ago() {
    let world = World::new().await;
    world.approved(1, None).await;
    world.queue(&["http://a.example/", "http://b.example/", "http://c.example/"]).await;
    let handovers = "INSERT INTO handovers (host, agent, task, asked_at, ended_at, ending,
            confirmed_at)
        SELECT h.id, a.id, 'release', e.at, e.at, 'lapsed',
               CASE WHEN h.authority <> 'a.example' THEN e.at END
        FROM hosts h CROSS JOIN agents a CROSS JOIN LATERAL (
            SELECT to_timestamp(1800000000)
                - CASE WHEN h.authority = 'c.example' THEN 300 ELSE 400 END * interval '1 day'
        ) AS e (at)";
    assert_eq!(execute(world.store(), handovers).await.unwrap(), 3);
    let before = NOW.plus_ms(-365 * DAY_MS);
    assert!(!history::forget_handovers(world.store(), before).await.unwrap(), "one step");
    let left = "SELECT FROM handovers o JOIN hosts h ON h.id = o.host
        WHERE h.authority <> 'b.example'";
    assert_eq!(execute(world.store(), left).await.unwrap(), 2);
    assert_eq!(execute(world.store(), "SELECT FROM handovers").await.unwrap(), 2);
}

#[tokio::test]
async fn ended_probes_of_incidents_and_homes_go_unless_they_are_to_be_read() {
    let world = World::new().await;
    world.approved(1, None).await;
    for statement in [SEARCHES, PROBES, DELEGATIONS] {
        assert_eq!(execute(world.store(), statement).await.unwrap(), 3);
    }
    // Of an incident that is open, of one that ended, not answered yet, of a home, and a new one.
    let checks = "INSERT INTO probes
            (purpose, agent, home_of, target, target_host, target_port, state, asked_at)
        SELECT purpose, 1, home_of, '192.0.2.1', 'a', 80, state,
               to_timestamp(1800000000) - days * interval '1 day'
        FROM (VALUES ('check', NULL::bigint, 'expired', 3), ('check', NULL, 'expired', 3),
                     ('check', NULL, 'asked', 3), ('home', 1, 'expired', 3),
                     ('check', NULL, 'expired', 1)) AS n (purpose, home_of, state, days)";
    assert_eq!(execute(world.store(), checks).await.unwrap(), 5);
    let incidents = "INSERT INTO incidents (first, last, agent, delegation, ratio, state, probe,
            opened_at, changed_at, ended_at)
        SELECT d.first, d.last, 1, d.id, 2, 'away', d.id + 3, now(), now(),
               CASE d.id WHEN 2 THEN now() END
        FROM delegations d WHERE d.id < 3";
    assert_eq!(execute(world.store(), incidents).await.unwrap(), 2);
    let forget = || history::forget_checks(world.store(), NOW.plus_ms(-2 * DAY_MS));
    assert!(!forget().await.unwrap());
    for (left, expected) in [
        ("SELECT FROM probes WHERE search IS NULL", 3),
        ("SELECT FROM probes p JOIN incidents c ON c.probe = p.id WHERE c.ended_at IS NULL", 1),
        ("SELECT FROM probes WHERE search IS NOT NULL", 3),
    ] {
        assert_eq!(execute(world.store(), left).await.unwrap(), expected, "{left}");
    }
}

#[tokio::test]
async fn an_address_that_was_silent_long_ago_is_forgotten() {
    let world = World::new().await;
    let silent = "INSERT INTO silent_addresses
        SELECT '10.0.0.0'::inet + n, to_timestamp(1800000000) - interval '8 days'
        FROM generate_series(1, 501) AS n
        UNION ALL SELECT '192.0.2.1', to_timestamp(1800000000) - interval '6 days'";
    assert_eq!(execute(world.store(), silent).await.unwrap(), 502);
    let forget = || history::forget_silence(world.store(), NOW.plus_ms(-7 * DAY_MS));
    assert!(forget().await.unwrap(), "there may be more than a step");
    assert!(!forget().await.unwrap());
    let left = "SELECT FROM silent_addresses WHERE address = '192.0.2.1'";
    for left in [left, "SELECT FROM silent_addresses"] {
        assert_eq!(execute(world.store(), left).await.unwrap(), 1, "{left}");
    }
}
