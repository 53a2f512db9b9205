use super::*;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
const DAY_MS: i64 = 24 * 3_600_000;

fn key() -> ReleaseKey {
    ReleaseKey::from_seed([3; 32])
}

fn release() -> Release {
    let program = |target: &str| Program {
        name: format!("nearcrawl-agent-{target}"),
        target: target.to_owned(),
        bytes: 1_000,
        sha256: "0123456789abcdef".repeat(4),
    };
    Release {
        format: FORMAT,
        version: Version::new(0, 2, 0),
        signed_at: NOW,
        expires_at: NOW.plus_ms(90 * DAY_MS),
        share_percent: 100,
        programs: vec![program("x86_64"), program("aarch64")],
    }
}

/// The outcome for an agent of version 0.1.0 on x86_64 that has seen a release of this time.
fn outcome(file: &[u8], now: UnixMillis, newest: Option<UnixMillis>) -> &'static str {
    let check = || {
        let release = Release::verify(file, &key().public())?;
        release.check_time(now, newest)?;
        let version = Version::new(0, 1, 0);
        let rejected = [Version::new(0, 3, 0)];
        let agent = AgentId::new(1);
        let applicant =
            Applicant { agent, version: &version, target: "x86_64", rejected: &rejected };
        release.program_for(&applicant).cloned()
    };
    check().map_or_else(|refusal| refusal.as_str(), |_| "taken")
}

fn signed(change: impl FnOnce(&mut Release)) -> String {
    let mut release = release();
    change(&mut release);
    release.sign(&key()).unwrap()
}

#[test]
fn each_check_has_an_outcome_of_its_own() {
    type Change = fn(&mut Release);
    let cases: [(&str, Change); 17] = [
        ("taken", |_| {}),
        ("format", |release| release.format = 2),
        ("future", |release| release.signed_at = NOW.plus_ms(DAY_MS + 1)),
        ("taken", |release| release.signed_at = NOW.plus_ms(DAY_MS)),
        ("expired", |release| release.expires_at = NOW),
        ("older", |release| release.signed_at = NOW.plus_ms(-1)),
        ("not_newer", |release| release.version = Version::new(0, 1, 0)),
        ("not_newer", |release| release.version = Version::new(0, 0, 9)),
        ("not_newer", |release| release.version = "0.1.0-rc.1".parse().unwrap()),
        ("not_newer", |release| release.version = "0.1.0+other".parse().unwrap()),
        ("rejected", |release| release.version = Version::new(0, 3, 0)),
        ("share", |release| release.share_percent = 0),
        ("target", |release| drop(release.programs.remove(0))),
        ("program", |release| release.programs[0].bytes = PROGRAM_BYTES + 1),
        ("program", |release| release.programs[0].bytes = 0),
        ("program", |release| release.programs[0].name = "nearcrawl-agent/../x".into()),
        ("program", |release| release.programs[0].sha256 = "short".into()),
    ];
    for (expected, change) in cases {
        let file = signed(change);
        assert_eq!(outcome(file.as_bytes(), NOW, Some(NOW)), expected, "{file}");
    }
    let other = release().sign(&ReleaseKey::from_seed([4; 32])).unwrap();
    assert_eq!(outcome(other.as_bytes(), NOW, None), "signature");
    let long_after = NOW.plus_ms(91 * DAY_MS);
    assert_eq!(outcome(signed(|_| {}).as_bytes(), long_after, None), "expired");
}

/// The first check that fails gives the outcome.
#[test]
fn the_checks_have_an_order() {
    let change = |release: &mut Release| {
        release.expires_at = NOW;
        release.version = Version::new(0, 0, 1);
        release.share_percent = 0;
        release.programs.clear();
    };
    assert_eq!(outcome(signed(change).as_bytes(), NOW, None), "expired");
    let file = signed(|release| {
        change(release);
        release.expires_at = NOW.plus_ms(1);
    });
    assert_eq!(outcome(file.as_bytes(), NOW, Some(NOW.plus_ms(1))), "older");
    assert_eq!(outcome(file.as_bytes(), NOW, None), "not_newer");
}

#[test]
fn no_bit_of_the_file_can_be_changed() {
    let file = signed(|_| {}).into_bytes();
    assert_eq!(outcome(&file, NOW, None), "taken");
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[at] ^= 1 << bit;
            let outcome = outcome(&changed, NOW, None);
            let text = String::from_utf8_lossy(&changed);
            assert!(["signature", "unreadable"].contains(&outcome), "{outcome}: {text}");
        }
    }
    for length in 0..file.len() {
        assert_eq!(outcome(&file[..length], NOW, None), "unreadable", "{length} bytes");
    }
}

#[test]
fn a_signature_for_another_purpose_does_not_count() {
    let document = serde_json::to_string(&release()).unwrap();
    let signature = key().sign(Purpose::Roster, document.as_bytes());
    let file = serde_json::to_vec(&SignedRelease { document, signature }).unwrap();
    assert_eq!(outcome(&file, NOW, None), "signature");
}

#[test]
fn a_larger_share_includes_a_smaller_one() {
    let taken = |share_percent: u8, agent: i64| {
        let release = Release { share_percent, ..release() };
        let version = Version::new(0, 1, 0);
        let agent = AgentId::new(agent);
        let applicant = Applicant { agent, version: &version, target: "x86_64", rejected: &[] };
        release.program_for(&applicant).is_ok()
    };
    for agent in 1..=1_000 {
        assert!(!taken(0, agent) && taken(100, agent));
        assert!((1..=100).all(|share| taken(share, agent) || !taken(share - 1, agent)));
    }
    let tenth = (1..=1_000).filter(|agent| taken(10, *agent)).count();
    assert!((70..=130).contains(&tenth), "{tenth} of 1000 agents are in a share of 10 per cent");
    let places = |version| (1..=100).map(move |n| place_in_roll_out(AgentId::new(n), &version));
    assert!(places(Version::new(0, 2, 0)).ne(places(Version::new(0, 3, 0))));
}
