//! The plot of the delegation experiment as SVG text, without any style sheet or script.

/// All probes a subnet, and the share of optimal delegations.
pub(super) type Point = (f64, f64);

/// What is reached with one number of agents.
pub(super) struct Reached {
    pub(super) agents: usize,
    pub(super) predictive: Point,
    /// One point for each threshold.
    pub(super) threshold: Vec<Point>,
    pub(super) all_probe: Point,
}

/// Across and down in the picture.
type Place = (f64, f64);
/// Draws one point in a colour.
type Mark = fn(Place, &str) -> String;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 580.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 380.0;
/// Told apart by readers who see colours otherwise (Okabe and Ito).
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
/// Probes at the lines of the grid.
const PROBES: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0];
/// Shares at the lines of the grid.
const SHARES: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

/// Probes go across on a logarithmic scale, from 1 to those of all agents; shares go up.
pub(super) fn svg(title: &str, reached: &[Reached]) -> String {
    let most = reached.iter().map(|one| one.all_probe.0).fold(2.0, f64::max);
    let coloured = || reached.iter().zip(COLOURS.into_iter().cycle());
    let curves: String = coloured().map(|(one, colour)| curve(one, most, colour)).collect();
    let agents = coloured().map(|(one, colour)| {
        let words = format!("{} agents", one.agents);
        (disc as Mark, colour, words)
    });
    let kinds: [(Mark, &str); 3] =
        [(square, "predictive"), (disc, "threshold"), (ring, "all agents probe")];
    let kinds = kinds.map(|(mark, words)| (mark, "black", words.to_owned()));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}{}{}{}{curves}{}</svg>\n",
        text((WIDTH / 2.0, 20.0), "middle", title),
        text((LEFT, TOP - 8.0), "start", "share of optimal delegations"),
        text((LEFT.midpoint(RIGHT), BOTTOM + 40.0), "middle", "all probes a subnet"),
        grid(most),
        legend(agents.chain(kinds)),
    )
}

fn place((probes, share): Point, most: f64) -> Place {
    let across = probes.max(1.0).ln() / most.ln();
    (LEFT + across * (RIGHT - LEFT), BOTTOM - share * (BOTTOM - TOP))
}

fn grid(most: f64) -> String {
    let columns = PROBES.into_iter().filter(|probes| *probes <= most).map(|probes| {
        let (x, y) = place((probes, 0.0), most);
        let line = format!("<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"#ddd\"/>\n");
        line + &text((x, y + 18.0), "middle", &probes.to_string())
    });
    let rows = SHARES.into_iter().map(|share| {
        let (x, y) = place((1.0, share), most);
        let line = format!("<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/>\n");
        line + &text((x - 8.0, y + 4.0), "end", &format!("{:.0} %", 100.0 * share))
    });
    columns.chain(rows).collect()
}

fn curve(one: &Reached, most: f64, colour: &str) -> String {
    let places: Vec<Place> = one.threshold.iter().map(|point| place(*point, most)).collect();
    let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let discs: String = places.iter().map(|at| disc(*at, colour)).collect();
    format!(
        "<polyline points=\"{}\" stroke=\"{colour}\" fill=\"none\"/>\n{discs}{}{}",
        line.join(" "),
        ring(place(one.all_probe, most), colour),
        square(place(one.predictive, most), colour),
    )
}

fn legend<'c>(rows: impl Iterator<Item = (Mark, &'c str, String)>) -> String {
    let row = |(number, (mark, colour, words)): (u32, (Mark, &str, String))| {
        let x = RIGHT + 16.0;
        let y = TOP + 10.0 + 18.0 * f64::from(number);
        mark((x, y), colour) + &text((x + 10.0, y + 4.0), "start", &words)
    };
    (0..).zip(rows).map(row).collect()
}

fn disc((x, y): Place, colour: &str) -> String {
    format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>\n")
}

fn ring((x, y): Place, colour: &str) -> String {
    format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" stroke=\"{colour}\" fill=\"none\"/>\n")
}

fn square((x, y): Place, colour: &str) -> String {
    let left = x - 5.0;
    let top = y - 5.0;
    format!("<path d=\"M{left:.1} {top:.1}h10v10h-10z\" fill=\"{colour}\"/>\n")
}

fn text((x, y): Place, anchor: &str, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_inside_the_frame() {
        let one = Reached {
            agents: 12,
            predictive: (0.5, 1.0),
            threshold: vec![(1.2, 0.0), (10.0, 0.9)],
            all_probe: (12.0, 0.95),
        };
        assert_eq!(place(one.predictive, 12.0), (LEFT, TOP));
        assert_eq!(place((12.0, 0.0), 12.0), (RIGHT, BOTTOM));
        let svg = svg("title", &[one]);
        assert!(svg.contains(">10</text>") && !svg.contains(">20</text>"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
