//! Made-up instances on the geographic world.

use delegation::balance::{AgentCost, AssignmentProblem, InvalidProblem, Subnet};

use crate::{CityId, Noise, World};

/// Settings of a generated problem.
#[derive(Debug, Clone, Copy, PartialEq, clap::Args)]
pub struct GeneratedSettings {
    /// How many agents, in turn over the cities
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub agents: u32,
    /// How many subnets; a few cities have most of them
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub subnets: u32,
    /// Loads are drawn uniformly from 1 to this, in pages a day
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub largest_load: u64,
    /// Capacity beyond the load, as a share; all agents have the same capacity
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = share)]
    pub slack: f64,
    /// Agents with a known cost per subnet: mostly the nearest by city, one in eight drawn at
    /// random [default: all]
    #[arg(long, value_name = "N")]
    pub known: Option<usize>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
    if (0.0..=10.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{text} is not between 0 and 10"))
    }
}

/// Keys of independent streams of chance.
#[derive(Clone, Copy)]
enum Stream {
    City = 201,
    Load,
    Route,
    Access,
    Far,
}

/// Route deviation and access time as in the honest world of the delegation experiment.
const ROUTE_SIGMA: f64 = 0.12;
const ACCESS_MS: f64 = 4.0;
const ACCESS_SIGMA: f64 = 0.8;
/// Exponent of the uniform number that draws the city of a subnet: a few cities have most subnets.
const CROWDING: f64 = 1.5;

/// Generates a problem; the cost of a subnet is its load times the round trip.
pub fn generate(settings: GeneratedSettings) -> Result<AssignmentProblem, InvalidProblem> {
    let world = World::geographic(settings.seed);
    let noise = Noise::new(settings.seed);
    let cities = world.cities().len();
    let agents: Vec<CityId> =
        (0..settings.agents as usize).map(|agent| CityId::new(agent * 7 % cities)).collect();
    let orders: Vec<Vec<u32>> =
        world.ids().map(|city| nearest_first(&world, &agents, city)).collect();
    let subnets: Vec<Subnet> = (0..u64::from(settings.subnets))
        .map(|number| {
            let drawn = noise.uniform(&[Stream::City as u64, number]).powf(CROWDING);
            let city = CityId::new((drawn * cities as f64) as usize);
            let load = 1
                + (noise.uniform(&[Stream::Load as u64, number]) * settings.largest_load as f64)
                    as u64;
            let access_ms =
                ACCESS_MS * noise.lognormal(ACCESS_SIGMA, &[Stream::Access as u64, number]);
            let cell = |agent: u32| {
                let route =
                    noise.lognormal(ROUTE_SIGMA, &[Stream::Route as u64, number, u64::from(agent)]);
                let time_ms = route * world.rtt_ms(agents[agent as usize], city) + access_ms;
                AgentCost::measured(agent, load as f64 * time_ms)
            };
            let known = known(settings, noise, &orders[city.get()], number);
            Subnet { load, costs: known.into_iter().map(cell).collect() }
        })
        .collect();
    let total: u64 = subnets.iter().map(|subnet| subnet.load).sum();
    let capacity =
        (total as f64 * (1.0 + settings.slack) / f64::from(settings.agents.max(1))).ceil() as u64;
    AssignmentProblem::new(vec![capacity; settings.agents as usize], subnets)
}

fn nearest_first(world: &World, agents: &[CityId], city: CityId) -> Vec<u32> {
    let mut order: Vec<u32> = (0..agents.len() as u32).collect();
    let time = |agent: &u32| world.rtt_ms(agents[*agent as usize], city);
    order.sort_by(|a, b| time(a).total_cmp(&time(b)));
    order
}

fn known(settings: GeneratedSettings, noise: Noise, order: &[u32], number: u64) -> Vec<u32> {
    let Some(count) = settings.known.filter(|count| *count < order.len()) else {
        return order.to_vec();
    };
    let far = count / 8;
    let (near, rest) = order.split_at(count - far);
    let drawn = (0..far as u64)
        .map(|n| noise.uniform(&[Stream::Far as u64, number, n]) * rest.len() as f64);
    let mut known: Vec<u32> = drawn.filter_map(|place| rest.get(place as usize).copied()).collect();
    known.sort_unstable();
    known.dedup();
    known.extend(near);
    known
}
