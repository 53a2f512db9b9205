//! All balance rules on one problem.

use delegation::balance::{AssignmentProblem, Optimum, Plan, optimal};
use model::BalanceRule;
use serde::Serialize;

use super::run_online;
use crate::ElapsedTime;
use crate::stopwatch::Stopwatch;

/// Results of all rules on a problem; costs in milliseconds a day.
#[derive(Debug, Clone)]
pub struct RuleComparison {
    /// Cost of the linear program: no plan within the capacities is cheaper.
    pub bound: f64,
    /// Cost with every subnet at its nearest agent, whatever the capacities.
    pub nearest: f64,
    /// The optimum first, then the online rules.
    pub results: Vec<RuleResult>,
}

/// Result of one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleResult {
    /// `optimal` or the rule's word.
    pub rule: &'static str,
    /// Milliseconds a day.
    pub cost: f64,
    /// Subnets moved: for the optimum those that are not at their nearest agent, for an online rule
    /// its decisions.
    pub moves: usize,
    /// Share of decisions with no cheaper one at that moment; `None` for the optimum.
    pub best_share: Option<f64>,
    /// Pages a day over capacity.
    pub overload: u64,
    /// Subnets without an agent.
    pub unplaced: usize,
    #[serde(flatten)]
    pub elapsed: ElapsedTime,
}

/// Runs the optimum and the online rules.
pub fn compare_rules(problem: &AssignmentProblem, rules: &[BalanceRule]) -> RuleComparison {
    let stopwatch = Stopwatch::start();
    let optimum = optimal(problem);
    let elapsed = stopwatch.elapsed();
    let nearest = problem.nearest();
    let mut results = vec![of_optimum(problem, &optimum, &nearest, elapsed)];
    results.extend(rules.iter().map(|rule| of_rule(problem, *rule)));
    RuleComparison { bound: optimum.bound, nearest: problem.total_cost(&nearest), results }
}

fn of_optimum(
    problem: &AssignmentProblem,
    optimum: &Optimum,
    nearest: &Plan,
    elapsed: ElapsedTime,
) -> RuleResult {
    let pairs = optimum.plan.iter().zip(nearest);
    let moves = pairs.filter(|(chosen, nearest)| chosen != nearest).count();
    RuleResult { moves, elapsed, ..result(problem, "optimal", &optimum.plan) }
}

fn of_rule(problem: &AssignmentProblem, rule: BalanceRule) -> RuleResult {
    let stopwatch = Stopwatch::start();
    let run = run_online(problem, rule);
    let elapsed = stopwatch.elapsed();
    let best_share = Some(run.best_moves as f64 / run.moves.max(1) as f64);
    let moves = run.moves;
    RuleResult { moves, best_share, elapsed, ..result(problem, rule.as_str(), &run.plan) }
}

fn result(problem: &AssignmentProblem, rule: &'static str, plan: &Plan) -> RuleResult {
    RuleResult {
        rule,
        cost: problem.total_cost(plan),
        moves: 0,
        best_share: None,
        overload: problem.overload(plan),
        unplaced: plan.iter().filter(|agent| agent.is_none()).count(),
        elapsed: ElapsedTime::default(),
    }
}
