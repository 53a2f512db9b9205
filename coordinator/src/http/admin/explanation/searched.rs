//! Sentences for delegations that a search made, and for home delegations.

use model::{Phase, ProbeMethod, ProbeVerdict, Reason};
use store::delegations::DelegationSummary;
use store::searches::SearchTrail;

use crate::http::admin::delegations::ms;
use crate::http::admin::dto::explanation::TrailProbe;
use crate::http::admin::explanation::predicted;

const PROVISIONAL: &str = " The delegation is provisional: the search is still open, because a \
     nearer agent may not have been asked or may not have answered yet.";

/// What the sentences are made of.
pub(super) struct Subject<'a> {
    /// The delegation that is explained.
    pub(super) found: &'a DelegationSummary,
    /// Its search; none for a home delegation.
    pub(super) search: Option<&'a SearchTrail>,
    /// All probes of the search, in order.
    pub(super) trail: &'a [TrailProbe],
    /// Company that holds the subnet.
    pub(super) company: Option<&'a str>,
}

/// Why this agent crawls the subnet, in plain sentences.
pub(super) fn summary(subject: &Subject<'_>) -> String {
    let chosen = subject.trail.iter().find(|probe| probe.chosen);
    match (subject.search, chosen) {
        (Some(search), Some(chosen)) => measured(subject, search, chosen),
        _ => unmeasured(subject),
    }
}

fn unmeasured(subject: &Subject<'_>) -> String {
    let DelegationSummary { agent_name, agent_home, subnet, reason, .. } = subject.found;
    if *reason == Reason::Home {
        return format!(
            "{agent_name} crawls {subnet} because its own address, {agent_home}, lies in it. A \
             home subnet needs no probe."
        );
    }
    if *reason == Reason::Company && subject.search.is_none() {
        return format!(
            "{agent_name} has {subnet} because its address lay in it before its machine moved or \
             the subnet changed. A search looks for the nearest agent."
        );
    }
    // No search of ours ends like this, so the reason is stated without an explanation.
    let reason = reason.as_str();
    format!("{agent_name} crawls {subnet} ({reason}). No measurement of it is stored.")
}

fn measured(subject: &Subject<'_>, search: &SearchTrail, chosen: &TrailProbe) -> String {
    let DelegationSummary { agent_name, subnet, .. } = subject.found;
    let because = because(subject, search, chosen);
    let rtt = round(chosen.rtt_ms.unwrap_or_default(), ms(search.threshold_us));
    let method = chosen.method.map_or("probe", method_name);
    let target = search.target;
    let trail = if chosen.expected_ms.is_some() {
        predicted::trail(subject.trail, chosen, subject.found.reason == Reason::Predicted)
    } else {
        trail(subject, chosen)
    };
    let finding = match &search.finding {
        Some((_, finding)) => format!(" The probes also showed this about the subnet: {finding}."),
        None => String::new(),
    };
    let provisional = if subject.found.provisional && search.open { PROVISIONAL } else { "" };
    format!(
        "{agent_name} crawls {subnet} because {because}. It measured {rtt} ms to {target} by \
         {method}. {trail}{finding}{provisional}"
    )
}

const fn method_name(method: ProbeMethod) -> &'static str {
    match method {
        ProbeMethod::Icmp => "ICMP echo",
        ProbeMethod::Tcp => "TCP connect",
        ProbeMethod::Head => "HTTP HEAD",
    }
}

fn because(subject: &Subject<'_>, search: &SearchTrail, chosen: &TrailProbe) -> String {
    let threshold = short(ms(search.threshold_us));
    match subject.found.reason {
        Reason::Company => {
            let company = subject.company.map(|name| format!(" ({name})")).unwrap_or_default();
            format!(
                "it crawls another subnet of the same company{company} and is under the threshold \
                 of {threshold} ms"
            )
        }
        Reason::Threshold => {
            format!("it was the first agent under the threshold of {threshold} ms")
        }
        Reason::Predicted => "no other agent is likely enough to be nearer".to_owned(),
        _ if chosen.expected_ms.is_some() => {
            "it is the nearest of the agents that have measured the subnet so far".to_owned()
        }
        _ => format!(
            "no agent was under the threshold of {threshold} ms and its round trip was the lowest"
        ),
    }
}

/// The other agents that were asked, and why the chosen one was. Where the search stopped at the
/// chosen agent, only those asked before it count.
fn trail(subject: &Subject<'_>, chosen: &TrailProbe) -> String {
    let stopped = matches!(subject.found.reason, Reason::Company | Reason::Threshold);
    let others = subject
        .trail
        .iter()
        .filter(|probe| !probe.chosen && (!stopped || probe.order < chosen.order));
    let others: Vec<&TrailProbe> = others.collect();
    let when = if stopped { " before it" } else { " besides" };
    let asked = match others.len() {
        0 if stopped => "No agent was asked before it.".to_owned(),
        0 => "No other agent was asked.".to_owned(),
        1 => format!("One agent was asked{when}: {}.", outcomes(&others)),
        count => format!("{count} agents were asked{when}: {}.", outcomes(&others)),
    };
    format!("{asked}{} {}.", best(&others), why_asked(chosen))
}

fn why_asked(chosen: &TrailProbe) -> String {
    let level = chosen.level.as_deref().unwrap_or_default();
    let because = match chosen.phase {
        Phase::Company => "it crawls another subnet of the company".to_owned(),
        Phase::Sibling => format!("it crawls a subnet directly under {level}"),
        Phase::SiblingChild => format!("it crawls a subnet inside {level}"),
        Phase::Rest => "the search asks every agent in the end".to_owned(),
        Phase::Predicted => "it was the most likely to be nearest".to_owned(),
        Phase::Control => "its measurement checks the report of another agent".to_owned(),
    };
    format!("The search asked it because {because}")
}

/// "3 too slow, 1 could not measure it".
fn outcomes(probes: &[&TrailProbe]) -> String {
    let count = |verdict| probes.iter().filter(|probe| probe.verdict == verdict).count();
    let kinds = [
        (count(ProbeVerdict::Satisfies), "under the threshold"),
        (count(ProbeVerdict::TooSlow), "too slow"),
        (count(ProbeVerdict::Measured), "measured"),
        (count(ProbeVerdict::Unreachable), "could not measure it"),
        (count(ProbeVerdict::Expired), "did not report in time"),
        (count(ProbeVerdict::Pending), "not reported yet"),
    ];
    let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
    kinds.map(|(count, kind)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}

/// The lowest round trip among `probes`, as a sentence with a leading space.
fn best(probes: &[&TrailProbe]) -> String {
    let measured =
        probes.iter().filter_map(|probe| Some((probe.agent.name.as_str(), probe.rtt_ms?)));
    match measured.min_by(|(_, a), (_, b)| a.total_cmp(b)) {
        Some((name, rtt)) => format!(" The best of them was {name} with {rtt:.1} ms."),
        None => String::new(),
    }
}

/// One decimal, or three where one would round to the other side of the threshold.
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
    use crate::http::admin::dto::agents::AgentRef;

    fn delegation(reason: Reason, provisional: bool) -> DelegationSummary {
        DelegationSummary {
            id: DelegationId::new(1),
            subnet: "41.0.0.0/16".parse().unwrap(),
            agent: AgentId::new(5),
            agent_name: "cape".into(),
            agent_home: "41.0.3.4".parse().unwrap(),
            fencing_number: 1,
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

    fn search(open: bool) -> SearchTrail {
        SearchTrail {
            id: SearchId::new(1),
            target: "41.0.0.1".parse().unwrap(),
            host: "a.example".into(),
            strategy: model::Strategy::Threshold,
            threshold_us: 50_000,
            open,
            opened_at: UnixMillis(0),
            decided_at: None,
            finding: None,
            probes: vec![],
        }
    }

    fn probe(order: u64, phase: Phase, rtt_ms: Option<f64>, verdict: ProbeVerdict) -> TrailProbe {
        TrailProbe {
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
            probability: None,
            verdict,
            chosen: rtt_ms.is_some(),
            asked_at: UnixMillis(0).into(),
            answered_at: None,
            error: None,
        }
    }

    fn explained(reason: Reason, provisional: bool, trail: &[TrailProbe]) -> String {
        let found = delegation(reason, provisional);
        let search = search(provisional);
        summary(&Subject { found: &found, search: Some(&search), trail, company: Some("ACME") })
    }

    #[test]
    fn each_reason_has_plain_sentences() {
        let near = |phase| [probe(1, phase, Some(12.345), ProbeVerdict::Satisfies)];
        assert_eq!(
            explained(Reason::Threshold, false, &near(Phase::Sibling)),
            "cape crawls 41.0.0.0/16 because it was the first agent under the threshold of 50 \
             ms. It measured 12.3 ms to 41.0.0.1 by ICMP echo. No agent was asked before it. \
             The search asked it because it crawls a subnet directly under 41.0.0.0/8."
        );
        assert_eq!(
            explained(Reason::Company, false, &near(Phase::Company)),
            "cape crawls 41.0.0.0/16 because it crawls another subnet of the same company \
             (ACME) and is under the threshold of 50 ms. It measured 12.3 ms to 41.0.0.1 by \
             ICMP echo. No agent was asked before it. The search asked it because it crawls \
             another subnet of the company."
        );
        let far = [
            probe(1, Phase::SiblingChild, Some(82.1), ProbeVerdict::TooSlow),
            TrailProbe {
                chosen: false,
                ..probe(2, Phase::Rest, Some(140.26), ProbeVerdict::TooSlow)
            },
            probe(3, Phase::Rest, None, ProbeVerdict::Unreachable),
        ];
        assert_eq!(
            explained(Reason::Lowest, false, &far),
            "cape crawls 41.0.0.0/16 because no agent was under the threshold of 50 ms and its \
              round trip was the lowest. It measured 82.1 ms to 41.0.0.1 by ICMP echo. 2 \
             agents were asked besides: 1 too slow, 1 could not measure it. The best of them \
             was cape with 140.3 ms. The search asked it because it crawls a subnet inside \
             41.0.0.0/8."
        );
        assert!(explained(Reason::Lowest, true, &far).ends_with("may not have answered yet."));
    }

    #[test]
    fn a_prediction_states_its_expectation_and_why_it_stopped() {
        let predicted = |order, rtt_ms: f64, expected_ms, probability| TrailProbe {
            expected_ms: Some(expected_ms),
            deviation_ms: Some(3.2),
            probability: Some(probability),
            level: None,
            ..probe(order, Phase::Predicted, Some(rtt_ms), ProbeVerdict::Measured)
        };
        let alone = [predicted(1, 12.345, 14.0, 0.914)];
        assert_eq!(
            explained(Reason::Predicted, false, &alone),
            "cape crawls 41.0.0.0/16 because no other agent is likely enough to be nearer. It \
             measured 12.3 ms to 41.0.0.1 by ICMP echo. The search asked it first, because it \
             was the most likely to be nearest (probability 91 %). The expected round trip was \
              14 ms with a standard deviation of 3 ms. No other agent was likely enough to be \
             nearer to be worth a probe."
        );
        let mut third = probe(3, Phase::Predicted, None, ProbeVerdict::Unreachable);
        third.expected_ms = Some(15.0);
        let north = AgentRef { id: AgentId::new(6), name: "north".into() };
        let first = TrailProbe { agent: north, chosen: false, ..predicted(1, 40.0, 14.0, 0.6) };
        let second = [first, predicted(2, 12.345, 25.0, 0.31), third];
        assert_eq!(
            explained(Reason::Predicted, false, &second),
            "cape crawls 41.0.0.0/16 because no other agent is likely enough to be nearer. It \
             measured 12.3 ms to 41.0.0.1 by ICMP echo. The search asked it as number 2, with \
             a probability of 31 % to be nearer than the best so far. The expected round trip \
             was 25 ms with a standard deviation of 3 ms. The search asked 2 other agents: \
             north measured 40.0 ms (expected 14 ms), cape measured nothing (expected 15 ms). \
             No other agent was likely enough to be nearer to be worth a probe."
        );
        assert_eq!(
            explained(Reason::Lowest, true, &second),
            "cape crawls 41.0.0.0/16 because it is the nearest of the agents that have \
             measured the subnet so far. It measured 12.3 ms to 41.0.0.1 by ICMP echo. The \
             search asked it as number 2, with a probability of 31 % to be nearer than the \
             best so far. The expected round trip was 25 ms with a standard deviation of 3 ms. \
              The search asked 2 other agents: north measured 40.0 ms (expected 14 ms), cape \
             measured nothing (expected 15 ms). The delegation is provisional: the search is \
             still open, because a nearer agent may not have been asked or may not have \
             answered yet."
        );
    }

    #[test]
    fn a_home_delegation_needs_no_probe() {
        let found = delegation(Reason::Home, false);
        let subject = Subject { found: &found, search: None, trail: &[], company: None };
        assert_eq!(
            summary(&subject),
            "cape crawls 41.0.0.0/16 because its own address, 41.0.3.4, lies in it. A home \
             subnet needs no probe."
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
