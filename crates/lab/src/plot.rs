//! Scatter plots with lines as SVG text, without any style sheet or script.

use std::fmt::Write as _;

/// Points of one kind, joined in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What they are.
    pub name: String,
    /// Across and up.
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// Drawn in this order.
    pub curves: Vec<Curve>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 60.0;
/// Told apart by readers who see colours otherwise (Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"];
/// Lines of the grid in each direction.
const TICKS: u32 = 5;

impl Plot {
    pub fn svg(&self) -> String {
        let x_label = self.span(|point| point.0);
        let y_label = self.span(|point| point.1);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        svg.push_str(&text(WIDTH / 2.0, 22.0, "middle", &self.title));
        svg.push_str(&text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14.0, "middle", &self.x_label));
        svg.push_str(&text(LEFT, TOP - 6.0, "start", &self.y_label));
        for tick in 0..=TICKS {
            svg.push_str(&grid(x_label, y_label, f64::from(tick) / f64::from(TICKS)));
        }
        for (number, curve) in self.curves.iter().enumerate() {
            svg.push_str(&drawn(curve, number, x_label, y_label));
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// From zero, or from the least value below it, in round steps to the greatest or beyond.
    fn span(&self, of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = || {
            self.curves
                .iter()
                .flat_map(|curve| &curve.points)
                .map(of)
                .filter(|value| value.is_finite())
        };
        let least = values().fold(0.0, f64::min);
        let ticks = f64::from(TICKS);
        (least, least + ticks * round_step((values().fold(least, f64::max) - least) / ticks))
    }
}

/// The least round number that is not less; 1 for nothing.
fn round_step(step: f64) -> f64 {
    if step <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let round = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0].map(|first| first * power);
    // A hair less is the same, so that 1 does not become 1.2.
    round.into_iter().find(|round| *round >= step * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

fn x(value: f64, span: (f64, f64)) -> f64 {
    LEFT + (value - span.0) / (span.1 - span.0) * (WIDTH - LEFT - RIGHT)
}

fn y(value: f64, span: (f64, f64)) -> f64 {
    HEIGHT - BOTTOM - (value - span.0) / (span.1 - span.0) * (HEIGHT - TOP - BOTTOM)
}

fn grid(x_label: (f64, f64), y_label: (f64, f64), share: f64) -> String {
    let at = |span: (f64, f64)| span.0 + share * (span.1 - span.0);
    let column = x(at(x_label), x_label);
    let row = y(at(y_label), y_label);
    let right = WIDTH - RIGHT;
    let bottom = HEIGHT - BOTTOM;
    let lines = format!(
        "<path d=\"M{column:.1} {TOP}V{bottom}M{LEFT} {row:.1}H{right}\" stroke=\"#ddd\" \
         fill=\"none\"/>\n"
    );
    let below = text(column, bottom + 18.0, "middle", &number(at(x_label)));
    lines + &below + &text(LEFT - 8.0, row + 4.0, "end", &number(at(y_label)))
}

fn number(value: f64) -> String {
    let text = if value.abs() < 0.1 { format!("{value:.3}") } else { format!("{value:.2}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn drawn(curve: &Curve, place: usize, x_label: (f64, f64), y_label: (f64, f64)) -> String {
    let colour = COLOURS[place % COLOURS.len()];
    let points: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (x(point.0, x_label), y(point.1, y_label))).collect();
    let mut line = String::new();
    let mut marks = String::new();
    for (x, y) in points {
        let _ = write!(line, "{x:.1},{y:.1} ");
        let _ = writeln!(marks, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    let legend = WIDTH - RIGHT + 16.0;
    let row = TOP + 10.0 + 18.0 * place as f64;
    format!(
        "<polyline points=\"{}\" stroke=\"{colour}\" fill=\"none\"/>\n{marks}\
         <circle cx=\"{legend}\" cy=\"{row}\" r=\"4\" fill=\"{colour}\"/>\n{}",
        line.trim_end(),
        text(legend + 10.0, row + 4.0, "start", &curve.name)
    )
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_inside_the_frame_and_words_are_escaped() {
        let points = vec![(0.0, 0.0), (10.0, 1.0), (5.0, 0.5)];
        let curve = Curve { name: "a < b & c".into(), points };
        let words = String::new;
        let svg =
            Plot { title: words(), x_label: words(), y_label: words(), curves: vec![curve] }.svg();
        assert!(svg.contains("a &lt; b &amp; c") && svg.matches("<circle").count() == 4);
        for mark in svg
            .split("cx=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok())
        {
            assert!((LEFT..=WIDTH).contains(&mark), "{mark}");
        }
    }

    #[test]
    fn steps_are_round_and_never_too_short() {
        for (step, round) in
            [(0.2, 0.2), (0.201, 0.25), (12.08, 15.0), (0.0, 1.0), (9.0, 10.0), (1.0, 1.0)]
        {
            assert!((round_step(step) - round).abs() < 1e-9, "{step}: {}", round_step(step));
        }
        assert_eq!(
            [0.0, 0.2, 0.025, 15.0, 1.5, 100.0].map(number),
            ["0", "0.2", "0.025", "15", "1.5", "100"]
        );
    }

    #[test]
    fn nothing_to_draw_is_no_error() {
        let words = String::new;
        let svg =
            Plot { title: words(), x_label: words(), y_label: words(), curves: Vec::new() }.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
