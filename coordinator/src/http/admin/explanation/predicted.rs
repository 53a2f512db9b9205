//! Sentences about the probes of a predictive search.

use crate::http::admin::dto::explanation::TrailProbe;

/// What the search expected of the chosen agent, which others it asked, and why it stopped.
/// `stopped` is true when the search ended because no other agent was worth a probe.
pub(super) fn trail(probes: &[TrailProbe], chosen: &TrailProbe, stopped: bool) -> String {
    let others: Vec<&TrailProbe> = probes.iter().filter(|probe| !probe.chosen).collect();
    let others_asked = match others.as_slice() {
        [] => String::new(),
        [one] => format!(" The search asked one other agent: {}.", measured(one)),
        many => {
            let results: Vec<String> = many.iter().map(|probe| measured(probe)).collect();
            format!(" The search asked {} other agents: {}.", many.len(), results.join(", "))
        }
    };
    let end = match (stopped, others.is_empty()) {
        (true, _) => " No other agent was likely enough to be nearer to be worth a probe.",
        (false, true) => " The search asked no other agent.",
        (false, false) => "",
    };
    format!("{}{others_asked}{end}", expectation(chosen))
}

/// "The search asked it first, because it was the most likely to be nearest (probability 91 %).
/// The expected round trip was 14 ms with a standard deviation of 3 ms."
fn expectation(chosen: &TrailProbe) -> String {
    let percent = chosen.probability.unwrap_or_default() * 100.0;
    let why = if chosen.order == 1 {
        format!("first, because it was the most likely to be nearest (probability {percent:.0} %)")
    } else {
        format!(
            "as number {}, with a probability of {percent:.0} % to be nearer than the best so far",
            chosen.order
        )
    };
    format!(
        "The search asked it {why}. The expected round trip was {:.0} ms with a standard deviation \
         of {:.0} ms.",
        chosen.expected_ms.unwrap_or_default(),
        chosen.deviation_ms.unwrap_or_default()
    )
}

/// "north measured 40.0 ms (expected 14 ms)".
fn measured(probe: &TrailProbe) -> String {
    let name = &probe.agent.name;
    let expected =
        probe.expected_ms.map(|ms| format!(" (expected {ms:.0} ms)")).unwrap_or_default();
    match probe.rtt_ms {
        Some(rtt) => format!("{name} measured {rtt:.1} ms{expected}"),
        None => format!("{name} measured nothing{expected}"),
    }
}
