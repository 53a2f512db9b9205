//! All rules on one instance.

use delegation::{
    balance::AssignmentProblem, balance::MinCostFlow, balance::Optimum, balance::Plan,
    balance::arrivals, balance::whole,
};
use model::BalanceRule;

use crate::Took;
use crate::clock::Start;

/// What every rule made of an instance.
#[derive(Debug, Clone)]
pub struct Contest {
    /// Cost of the linear program: no plan within the capacities is cheaper.
    pub bound: f64,
    /// Cost with every subnet at its nearest agent, whatever the capacities.
    pub nearest: f64,
    /// The optimum first, then the online rules.
    pub entries: Vec<Entry>,
    /// The flow behind the optimum, to go on with.
    pub flow: MinCostFlow,
}

/// One rule's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// `optimal` or the rule's word.
    pub rule: &'static str,
    /// Milliseconds a day.
    pub cost: f64,
    /// Subnets moved: for the optimum those that are not at their nearest agent, for an online rule
    /// its decisions.
    pub moves: usize,
    /// Share of decisions than which none was cheaper at that moment; `None` for the optimum.
    pub best_share: Option<f64>,
    /// Pages a day over capacity.
    pub overload: u64,
    /// Subnets without an agent.
    pub unplaced: usize,
    /// Computing time.
    pub took: Took,
}

/// Runs the optimum and the online rules.
pub fn contest(instance: &AssignmentProblem, rules: &[BalanceRule]) -> Contest {
    let begun = Start::now();
    let flow = MinCostFlow::of(instance);
    let optimum = whole(instance, &flow);
    let nearest = instance.nearest();
    let mut entries = vec![of_optimum(instance, &optimum, &nearest, begun)];
    entries.extend(rules.iter().map(|rule| of_rule(instance, *rule)));
    Contest { bound: optimum.bound, nearest: instance.total_cost(&nearest), entries, flow }
}

fn of_optimum(
    instance: &AssignmentProblem,
    optimum: &Optimum,
    nearest: &Plan,
    begun: Start,
) -> Entry {
    let took = begun.took();
    let moves =
        optimum.plan.iter().zip(nearest).filter(|(chosen, nearest)| chosen != nearest).count();
    Entry { moves, took, ..entry(instance, "optimal", &optimum.plan) }
}

fn of_rule(instance: &AssignmentProblem, rule: BalanceRule) -> Entry {
    let begun = Start::now();
    let seen = arrivals(instance, rule);
    let took = begun.took();
    let best_share = Some(seen.best_moves as f64 / seen.moves.max(1) as f64);
    Entry { moves: seen.moves, best_share, took, ..entry(instance, rule.as_str(), &seen.plan) }
}

fn entry(instance: &AssignmentProblem, rule: &'static str, plan: &Plan) -> Entry {
    Entry {
        rule,
        cost: instance.total_cost(plan),
        moves: 0,
        best_share: None,
        overload: instance.overload(plan),
        unplaced: plan.iter().filter(|place| place.is_none()).count(),
        took: Took::default(),
    }
}
