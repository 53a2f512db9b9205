//! A small share of an instance changes: how long until the plan is the cheapest again?

use delegation::balance::{AssignmentProblem, InvalidProblem, MinCostFlow, whole};

use crate::clock::Start;
use crate::{Noise, Took};

/// What following the change took.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Subnets whose costs changed.
    pub subnets: usize,
    /// From the change to the new whole plan.
    pub took: Took,
    /// Cost of the new plan over its bound.
    pub ratio: f64,
    /// The new bound, milliseconds a day.
    pub bound: f64,
}

/// Keys of independent streams of chance.
#[derive(Clone, Copy)]
enum Stream {
    Which = 211,
    Factor,
}

/// New times differ by this much from the old ones (lognormal sigma).
const SIGMA: f64 = 0.3;

/// Changes all times of a `share` of the subnets and follows with the flow.
pub fn change(
    instance: &mut AssignmentProblem,
    flow: &mut MinCostFlow,
    share: f64,
    seed: u64,
) -> Result<Change, InvalidProblem> {
    let noise = Noise::new(seed);
    let drawn = |subnet: &usize| noise.uniform(&[Stream::Which as u64, *subnet as u64]) < share;
    let numbers: Vec<usize> = (0..instance.subnets().len()).filter(drawn).collect();
    let changed: Vec<_> =
        numbers.iter().map(|number| (*number, redrawn(instance, noise, *number))).collect();
    let begun = Start::now();
    for number in &numbers {
        flow.take_out(instance, *number);
    }
    for (number, subnet) in changed {
        instance.replace(number, subnet)?;
        flow.place(instance, number);
    }
    flow.settle(instance);
    let optimum = whole(instance, flow);
    let took = begun.took();
    Ok(Change {
        subnets: numbers.len(),
        took,
        ratio: optimum.cost / optimum.bound,
        bound: optimum.bound,
    })
}

fn redrawn(
    instance: &AssignmentProblem,
    noise: Noise,
    number: usize,
) -> delegation::balance::Subnet {
    let mut subnet = instance.subnets()[number].clone();
    for cell in &mut subnet.costs {
        cell.cost *=
            noise.lognormal(SIGMA, &[Stream::Factor as u64, number as u64, u64::from(cell.agent)]);
    }
    subnet
}
