//! A search that predicted, told: whom it expected nearest and how sure, what was asked, why it
//! stopped.

use crate::http::admin::dto::AskedProbe;

/// The road to the agent that was chosen. `stopped` where the search ended because nobody else was
/// worth asking.
pub(super) fn road(probes: &[AskedProbe], chosen: &AskedProbe, stopped: bool) -> String {
    let others: Vec<&AskedProbe> = probes.iter().filter(|probe| !probe.chosen).collect();
    let besides = match others.as_slice() {
        [] => String::new(),
        [one] => format!(" One other agent was asked: {}.", measured(one)),
        many => format!(" {} others were asked: {}.", many.len(), list(many)),
    };
    let stop = match (stopped, others.is_empty()) {
        (true, _) => " Nobody else was likely enough to be nearer to be worth a probe.",
        (false, true) => " No other agent was asked.",
        (false, false) => "",
    };
    format!("{}{besides}{stop}", expectation(chosen))
}

/// "It was asked first, as the likeliest to be nearest (91 % sure): 14 ms were expected, give or
/// take 3."
fn expectation(chosen: &AskedProbe) -> String {
    let sure = chosen.chance.map(|chance| format!("{:.0} %", chance * 100.0)).unwrap_or_default();
    let whom = if chosen.order == 1 {
        format!("It was asked first, as the likeliest to be nearest (chance {sure})")
    } else {
        format!(
            "It was asked as number {}, with a chance of {sure} to be nearer than the best so far",
            chosen.order
        )
    };
    let deviation = chosen.deviation_ms.unwrap_or_default();
    format!(
        "{whom}: {:.0} ms were expected, give or take {deviation:.0}.",
        chosen.expected_ms.unwrap_or_default()
    )
}

fn list(probes: &[&AskedProbe]) -> String {
    probes.iter().map(|probe| measured(probe)).collect::<Vec<_>>().join(", ")
}

/// "north measured 40.0 ms (14 expected)".
fn measured(probe: &AskedProbe) -> String {
    let name = &probe.agent.name;
    let expected = probe.expected_ms.map(|ms| format!(" ({ms:.0} expected)")).unwrap_or_default();
    match probe.rtt_ms {
        Some(rtt) => format!("{name} measured {rtt:.1} ms{expected}"),
        None => format!("{name} has no measurement{expected}"),
    }
}
