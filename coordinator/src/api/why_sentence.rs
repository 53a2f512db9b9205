//! The search behind a delegation in one sentence.

use store::lists::{Delegation, Search};

use super::body::{AskedProbe, Phase, Verdict};
use super::delegations::ms;

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

/// One plain sentence that says why this agent.
pub(super) fn sentence(case: &Case<'_>) -> String {
    let chosen = case.probes.iter().find(|probe| probe.chosen);
    match (case.search, chosen) {
        (Some(search), Some(probe)) => measured(case, search, probe),
        _ => at_home(case),
    }
}

fn at_home(case: &Case<'_>) -> String {
    let Delegation { agent_name, agent_home, subnet, reason, .. } = case.found;
    if reason == "home" {
        return format!("home: {agent_name} lives at {agent_home}, inside {subnet}, so no probe was needed.");
    }
    // Cannot come from our own search; said as it stands rather than made up.
    format!("{reason}: the subnet {subnet} went to {agent_name}; no measurement of it is on record.")
}

fn measured(case: &Case<'_>, search: &Search, probe: &AskedProbe) -> String {
    let time = time(search, probe);
    let who = format!("{} ({})", probe.agent.name, found_by(case, probe));
    let count = case.probes.len();
    let text = match case.found.reason.as_str() {
        "company" => format!("company: {who} was near enough, {time}; probe {} of {count}", probe.order),
        "threshold" => {
            format!("rir hierarchy: {who} was near enough, {time}; probe {} of {count}", probe.order)
        }
        _ => format!(
            "lowest: nobody was near enough, and {who} had the lowest round trip, {time}; {}",
            tally(case.probes)
        ),
    };
    if case.found.provisional && search.open {
        return format!(
            "{text}. Provisional: the search goes on, since a nearer agent may not have been asked or answered yet."
        );
    }
    format!("{text}.")
}

/// "12.3 ms < 50 ms by ICMP echo to 41.0.0.1".
fn time(search: &Search, probe: &AskedProbe) -> String {
    let (rtt, threshold) = (probe.rtt_ms.unwrap_or_default(), ms(search.threshold_us));
    let sign = if probe.verdict == Verdict::Satisfies { "<" } else { ">=" };
    let method = probe.method.map_or("probe", super::body::Method::in_words);
    format!("{} ms {sign} {} ms by {method} to {}", round(rtt, threshold), short(threshold), search.target)
}

fn found_by(case: &Case<'_>, probe: &AskedProbe) -> String {
    let level = probe.level.as_deref().unwrap_or_default();
    match probe.phase {
        Phase::Company => {
            let company = case.company.map(|company| format!(" {company}")).unwrap_or_default();
            format!("holds another subnet of the company{company}")
        }
        Phase::Sibling => format!("holds siblings under {level}"),
        Phase::SiblingChild => format!("holds subnets below the siblings under {level}"),
        Phase::Rest => "holds nothing near, asked so that nobody is left out".to_owned(),
    }
}

/// "4 asked: 3 too slow, 1 unreachable".
fn tally(probes: &[AskedProbe]) -> String {
    let count = |verdict| probes.iter().filter(|probe| probe.verdict == verdict).count();
    let kinds = [
        (count(Verdict::Satisfies), "near enough"),
        (count(Verdict::TooSlow), "too slow"),
        (count(Verdict::Unreachable), "unreachable"),
        (count(Verdict::Expired), "without an answer"),
        (count(Verdict::Pending), "not answered yet"),
    ];
    let told: Vec<String> = kinds
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    format!("{} asked: {}", probes.len(), told.join(", "))
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
    use protocol::{AgentId, DelegationId, ProbeId, SearchId, UnixMillis};

    use super::*;
    use crate::api::body::{AgentRef, Method};

    fn delegation(reason: &str, provisional: bool) -> Delegation {
        Delegation {
            id: DelegationId::new(1),
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: AgentId::new(5),
            agent_name: "cape".into(),
            agent_home: "41.0.3.4".parse().unwrap(),
            generation: 1,
            reason: reason.into(),
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
            strategy: "threshold".into(),
            threshold_us: 50_000,
            open,
            opened_at: UnixMillis(0),
            probes: vec![],
        }
    }

    fn probe(order: u64, phase: Phase, rtt_ms: Option<f64>, verdict: Verdict) -> AskedProbe {
        AskedProbe {
            id: ProbeId::new(1),
            order,
            agent: AgentRef { id: AgentId::new(5), name: "cape".into() },
            phase,
            level: Some("41.0.0.0/8".into()),
            method: Some(Method::Icmp),
            rtt_ms,
            samples: Some(3),
            threshold_ms: 50.0,
            verdict,
            chosen: rtt_ms.is_some(),
            asked_at: UnixMillis(0).into(),
            answered_at: None,
            error: None,
        }
    }

    fn told(reason: &str, provisional: bool, probes: &[AskedProbe]) -> String {
        let (found, search) = (delegation(reason, provisional), search(provisional));
        sentence(&Case { found: &found, search: Some(&search), probes, company: Some("ACME") })
    }

    #[test]
    fn each_reason_reads_well() {
        let near = |phase| [probe(1, phase, Some(12.345), Verdict::Satisfies)];
        insta::assert_snapshot!(told("threshold", false, &near(Phase::Sibling)), @"rir hierarchy: cape (holds siblings under 41.0.0.0/8) was near enough, 12.3 ms < 50 ms by ICMP echo to 41.0.0.1; probe 1 of 1.");
        insta::assert_snapshot!(told("company", false, &near(Phase::Company)), @"company: cape (holds another subnet of the company ACME) was near enough, 12.3 ms < 50 ms by ICMP echo to 41.0.0.1; probe 1 of 1.");
        let far = [
            probe(1, Phase::SiblingChild, Some(82.1), Verdict::TooSlow),
            probe(2, Phase::Rest, None, Verdict::Unreachable),
        ];
        insta::assert_snapshot!(told("lowest", false, &far), @"lowest: nobody was near enough, and cape (holds subnets below the siblings under 41.0.0.0/8) had the lowest round trip, 82.1 ms >= 50 ms by ICMP echo to 41.0.0.1; 2 asked: 1 too slow, 1 unreachable.");
        assert!(told("lowest", true, &far).ends_with("may not have been asked or answered yet."));
    }

    #[test]
    fn home_needs_no_probe() {
        let found = delegation("home", false);
        let told = sentence(&Case { found: &found, search: None, probes: &[], company: None });
        assert_eq!(told, "home: cape lives at 41.0.3.4, inside 41.0.0.0/16, so no probe was needed.");
    }

    #[test]
    fn rounding_never_contradicts_the_verdict() {
        assert_eq!(
            (round(49.97, 50.0), round(50.0, 50.0), round(12.34, 50.0)),
            ("49.970".into(), "50.0".into(), "12.3".into())
        );
        assert_eq!((short(50.0), short(12.5), short(0.001)), ("50".into(), "12.5".into(), "0.001".into()));
    }
}
