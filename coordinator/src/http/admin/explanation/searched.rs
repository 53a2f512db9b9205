//! The search behind a delegation, told.

use model::{Phase, ProbeMethod, ProbeVerdict, Reason};
use store::lists::{Delegation, Search};

use crate::http::admin::delegations::ms;
use crate::http::admin::dto::AskedProbe;
use crate::http::admin::explanation::predicted;

/// What there is to tell.
pub(super) struct Case<'a> {
    /// The delegation.
    pub(super) found: &'a Delegation,
    /// Its search; none for home.
    pub(super) search: Option<&'a Search>,
    /// The probes of the search, in order.
    pub(super) probes: &'a [AskedProbe],
    /// Who holds the subnet.
    pub(super) company: Option<&'a str>,
}

/// Why this agent, as a colleague would say it.
pub(super) fn sentence(case: &Case<'_>) -> String {
    let chosen = case.probes.iter().find(|probe| probe.chosen);
    match (case.search, chosen) {
        (Some(search), Some(probe)) => measured(case, search, probe),
        _ => unmeasured(case),
    }
}

fn unmeasured(case: &Case<'_>) -> String {
    let Delegation { agent_name, agent_home, subnet, reason, .. } = case.found;
    if *reason == Reason::Home {
        return format!(
            "{agent_name} crawls {subnet} because it lives there: its own address is {agent_home}. No probe was needed."
        );
    }
    // Cannot come from our own search; said as it stands rather than made up.
    format!(
        "{agent_name} crawls {subnet} ({}); no measurement of it is on record.",
        reason.as_str()
    )
}

fn measured(case: &Case<'_>, search: &Search, probe: &AskedProbe) -> String {
    let Delegation { agent_name, subnet, .. } = case.found;
    let road = if probe.expected_ms.is_some() {
        predicted::road(case.probes, probe, case.found.reason == Reason::Predicted)
    } else {
        asked(case, probe)
    };
    let odd =
        search.finding.as_ref().map(|(_, detail)| format!(" Odd about the subnet: {detail}."));
    let (because, odd) = (because(case, search, probe), odd.unwrap_or_default());
    let mut told = format!("{agent_name} crawls {subnet} because {because}. {road}{odd}");
    if case.found.provisional && search.open {
        told.push_str(
            " This is provisional: the search goes on, since a nearer agent may not have been asked or answered yet.",
        );
    }
    told
}

/// As a sentence names the method.
const fn method_name(method: ProbeMethod) -> &'static str {
    match method {
        ProbeMethod::Icmp => "ICMP echo",
        ProbeMethod::Tcp => "TCP connect",
        ProbeMethod::Head => "HTTP HEAD",
    }
}

fn because(case: &Case<'_>, search: &Search, probe: &AskedProbe) -> String {
    let (rtt, threshold) = (probe.rtt_ms.unwrap_or_default(), ms(search.threshold_us));
    let method = probe.method.map_or("probe", method_name);
    let time = format!("{} ms by {method} to {}", round(rtt, threshold), search.target);
    let threshold = short(threshold);
    match case.found.reason {
        Reason::Company => {
            let company = case.company.map(|company| format!(", {company},")).unwrap_or_default();
            format!(
                "it already crawls another subnet of the same company{company} and is near enough: {time}, under the threshold of {threshold} ms"
            )
        }
        Reason::Threshold => {
            format!(
                "it was the first to be near enough: {time}, under the threshold of {threshold} ms"
            )
        }
        Reason::Predicted => format!("it is the nearest as far as anybody can tell: {time}"),
        _ if probe.expected_ms.is_some() => {
            format!("it is the nearest of those that have measured so far: {time}")
        }
        _ => {
            format!("nobody was under the threshold of {threshold} ms and it came nearest: {time}")
        }
    }
}

/// Who was asked besides: before it where the search stopped at it, at all where it went on.
fn asked(case: &Case<'_>, chosen: &AskedProbe) -> String {
    let stopped = matches!(case.found.reason, Reason::Company | Reason::Threshold);
    let others = case
        .probes
        .iter()
        .filter(|probe| !probe.chosen && (!stopped || probe.order < chosen.order));
    let others: Vec<&AskedProbe> = others.collect();
    let tally = tally(&others);
    let when = if stopped { " before it" } else { " besides" };
    let whom = match others.len() {
        0 if stopped => "It was the first that was asked.".to_owned(),
        0 => "No other agent was asked.".to_owned(),
        1 => format!("One agent was asked{when}: {tally}."),
        count => format!("{count} agents were asked{when}: {tally}."),
    };
    format!("{whom} {}.", found_by(chosen))
}

/// Why it was asked at its place in the order.
fn found_by(chosen: &AskedProbe) -> String {
    let level = chosen.level.as_deref().unwrap_or_default();
    match chosen.phase {
        Phase::Company => "It was asked for the company's sake".to_owned(),
        Phase::Sibling => format!("It was asked because it crawls a subnet directly under {level}"),
        Phase::SiblingChild => format!("It was asked because it crawls something inside {level}"),
        Phase::Rest => {
            "It was asked so that nobody is left out, though it crawls nothing near".to_owned()
        }
        Phase::Predicted => "It was asked because it was the likeliest to be nearest".to_owned(),
    }
}

/// "3 too slow (the best, north, 71.2 ms), 1 unreachable".
fn tally(probes: &[&AskedProbe]) -> String {
    let count = |verdict| probes.iter().filter(|probe| probe.verdict == verdict).count();
    let kinds = [
        (count(ProbeVerdict::Satisfies), "near enough"),
        (count(ProbeVerdict::TooSlow), "too slow"),
        (count(ProbeVerdict::Measured), "measured"),
        (count(ProbeVerdict::Unreachable), "could not measure it"),
        (count(ProbeVerdict::Expired), "did not report in time"),
        (count(ProbeVerdict::Pending), "not reported yet"),
    ];
    let told = kinds.into_iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, kind)| format!("{count} {kind}")).collect();
    match best(probes) {
        Some((name, rtt)) => {
            format!("{}; the best of them was {name} with {rtt:.1} ms", told.join(", "))
        }
        None => told.join(", "),
    }
}

fn best<'a>(probes: &[&'a AskedProbe]) -> Option<(&'a str, f64)> {
    let measured =
        probes.iter().filter_map(|probe| Some((probe.agent.name.as_str(), probe.rtt_ms?)));
    measured.min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// One decimal, or as many more as show on which side of the threshold it is.
fn round(rtt: f64, threshold: f64) -> String {
    let one = (rtt * 10.0).round() / 10.0;
    if (one < threshold) == (rtt < threshold) { format!("{one:.1}") } else { format!("{rtt:.3}") }
}

fn short(threshold: f64) -> String {
    let text = format!("{threshold:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use model::{AgentId, DelegationId, ProbeId, SearchId, UnixMillis};

    use super::*;
    use crate::http::admin::dto::AgentRef;

    fn delegation(reason: Reason, provisional: bool) -> Delegation {
        Delegation {
            id: DelegationId::new(1),
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: AgentId::new(5),
            agent_name: "cape".into(),
            agent_home: "41.0.3.4".parse().unwrap(),
            generation: 1,
            reason,
            provisional,
            rtt_us: Some(12_345),
            decided_at: UnixMillis(0),
            ended_at: None,
            search: Some(SearchId::new(1)),
            threshold_us: Some(50_000),
            probes: 2,
            hosts: 1,
        }
    }

    fn search(open: bool) -> Search {
        Search {
            id: SearchId::new(1),
            target: "41.0.0.1".parse().unwrap(),
            host: "a.example".into(),
            strategy: model::Strategy::Threshold,
            threshold_us: 50_000,
            open,
            opened_at: UnixMillis(0),
            finding: None,
            probes: vec![],
        }
    }

    fn probe(order: u64, phase: Phase, rtt_ms: Option<f64>, verdict: ProbeVerdict) -> AskedProbe {
        AskedProbe {
            id: ProbeId::new(1),
            order,
            agent: AgentRef { id: AgentId::new(5), name: "cape".into() },
            phase,
            level: Some("41.0.0.0/8".into()),
            method: Some(ProbeMethod::Icmp),
            rtt_ms,
            samples: Some(3),
            threshold_ms: 50.0,
            expected_ms: None,
            deviation_ms: None,
            chance: None,
            verdict,
            chosen: rtt_ms.is_some(),
            asked_at: UnixMillis(0).into(),
            answered_at: None,
            error: None,
        }
    }

    fn told(reason: Reason, provisional: bool, probes: &[AskedProbe]) -> String {
        let (found, search) = (delegation(reason, provisional), search(provisional));
        sentence(&Case { found: &found, search: Some(&search), probes, company: Some("ACME") })
    }

    #[test]
    fn each_reason_reads_well() {
        let near = |phase| [probe(1, phase, Some(12.345), ProbeVerdict::Satisfies)];
        insta::assert_snapshot!(told(Reason::Threshold, false, &near(Phase::Sibling)), @"cape crawls 41.0.0.0/16 because it was the first to be near enough: 12.3 ms by ICMP echo to 41.0.0.1, under the threshold of 50 ms. It was the first that was asked. It was asked because it crawls a subnet directly under 41.0.0.0/8.");
        insta::assert_snapshot!(told(Reason::Company, false, &near(Phase::Company)), @"cape crawls 41.0.0.0/16 because it already crawls another subnet of the same company, ACME, and is near enough: 12.3 ms by ICMP echo to 41.0.0.1, under the threshold of 50 ms. It was the first that was asked. It was asked for the company's sake.");
        let far = [
            probe(1, Phase::SiblingChild, Some(82.1), ProbeVerdict::TooSlow),
            AskedProbe {
                chosen: false,
                ..probe(2, Phase::Rest, Some(140.26), ProbeVerdict::TooSlow)
            },
            probe(3, Phase::Rest, None, ProbeVerdict::Unreachable),
        ];
        insta::assert_snapshot!(told(Reason::Lowest, false, &far), @"cape crawls 41.0.0.0/16 because nobody was under the threshold of 50 ms and it came nearest: 82.1 ms by ICMP echo to 41.0.0.1. 2 agents were asked besides: 1 too slow, 1 could not measure it; the best of them was cape with 140.3 ms. It was asked because it crawls something inside 41.0.0.0/8.");
        assert!(
            told(Reason::Lowest, true, &far).ends_with("may not have been asked or answered yet.")
        );
    }

    #[test]
    fn a_prediction_says_what_was_expected_and_why_it_stopped() {
        let predicted = |order, rtt_ms: f64, expected_ms, chance| AskedProbe {
            expected_ms: Some(expected_ms),
            deviation_ms: Some(3.2),
            chance: Some(chance),
            level: None,
            ..probe(order, Phase::Predicted, Some(rtt_ms), ProbeVerdict::Measured)
        };
        let alone = [predicted(1, 12.345, 14.0, 0.914)];
        insta::assert_snapshot!(told(Reason::Predicted, false, &alone), @"cape crawls 41.0.0.0/16 because it is the nearest as far as anybody can tell: 12.3 ms by ICMP echo to 41.0.0.1. It was asked first, as the likeliest to be nearest (chance 91 %): 14 ms were expected, give or take 3. Nobody else was likely enough to be nearer to be worth a probe.");
        let mut third = probe(3, Phase::Predicted, None, ProbeVerdict::Unreachable);
        third.expected_ms = Some(15.0);
        let north = AgentRef { id: AgentId::new(6), name: "north".into() };
        let besides = AskedProbe { agent: north, chosen: false, ..predicted(1, 40.0, 14.0, 0.6) };
        let second = [besides, predicted(2, 12.345, 25.0, 0.31), third];
        insta::assert_snapshot!(told(Reason::Predicted, false, &second), @"cape crawls 41.0.0.0/16 because it is the nearest as far as anybody can tell: 12.3 ms by ICMP echo to 41.0.0.1. It was asked as number 2, with a chance of 31 % to be nearer than the best so far: 25 ms were expected, give or take 3. 2 others were asked: north measured 40.0 ms (14 expected), cape has no measurement (15 expected). Nobody else was likely enough to be nearer to be worth a probe.");
        insta::assert_snapshot!(told(Reason::Lowest, true, &second), @"cape crawls 41.0.0.0/16 because it is the nearest of those that have measured so far: 12.3 ms by ICMP echo to 41.0.0.1. It was asked as number 2, with a chance of 31 % to be nearer than the best so far: 25 ms were expected, give or take 3. 2 others were asked: north measured 40.0 ms (14 expected), cape has no measurement (15 expected). This is provisional: the search goes on, since a nearer agent may not have been asked or answered yet.");
    }

    #[test]
    fn home_needs_no_probe() {
        let found = delegation(Reason::Home, false);
        let told = sentence(&Case { found: &found, search: None, probes: &[], company: None });
        assert_eq!(
            told,
            "cape crawls 41.0.0.0/16 because it lives there: its own address is 41.0.3.4. No probe was needed."
        );
    }

    #[test]
    fn rounding_never_contradicts_the_verdict() {
        assert_eq!(
            (round(49.97, 50.0), round(50.0, 50.0), round(12.34, 50.0)),
            ("49.970".into(), "50.0".into(), "12.3".into())
        );
        assert_eq!(
            (short(50.0), short(12.5), short(0.001)),
            ("50".into(), "12.5".into(), "0.001".into())
        );
    }
}
