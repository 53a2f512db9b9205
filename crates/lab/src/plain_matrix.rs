//! Plain matrices: one line per host, times in milliseconds between blanks, as published for King,
//! PlanetLab and Meridian. No geography, no targets.

use std::{fs, path::Path};

use anyhow::{Context as _, ensure};

use crate::{City, World, measured::MOST_CITIES, partial_matrix::PartialMatrix};

impl World {
    /// Reads a square matrix. Empty lines and lines that begin with `#` are skipped; times of zero
    /// or less, `nan` and `inf` mean "not measured".
    pub fn matrix(file: &Path) -> anyhow::Result<World> {
        let name = file.display().to_string();
        let text = fs::read_to_string(file);
        parse(&name, &text.with_context(|| format!("cannot read the matrix {name}"))?)
    }
}

fn parse(file: &str, text: &str) -> anyhow::Result<World> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let side = lines.len();
    // A file that is no matrix fails here, before memory is taken for the square of its lines.
    if let Some((line, text)) = lines.first() {
        check_fields(file, *line, text.split_whitespace().count(), side)?;
    }
    ensure!(
        side <= MOST_CITIES,
        "{file} has {side} hosts, and at most {MOST_CITIES} fit in memory"
    );
    let mut costs = PartialMatrix::new(side);
    for (row, (line, text)) in lines.into_iter().enumerate() {
        let times = parse_line(file, line, text)?;
        check_fields(file, line, times.len(), side)?;
        for (column, ms) in times.into_iter().enumerate() {
            costs.set(row, column, ms);
        }
    }
    Ok(World::from_partial((0..side).map(City::nameless).collect(), &costs, vec![0.0; side * side]))
}

fn check_fields(file: &str, line: usize, found: usize, expected: usize) -> anyhow::Result<()> {
    ensure!(
        found == expected,
        "{file}, line {line}: {found} fields where {expected} were expected; the matrix must be \
         square"
    );
    Ok(())
}

fn parse_line(file: &str, line: usize, text: &str) -> anyhow::Result<Vec<f64>> {
    let number = |field: &str| {
        let wrong = || format!("{file}, line {line}: {field:?} is not a number of milliseconds");
        field.parse().with_context(wrong)
    };
    text.split_whitespace().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CityId, Gaps};

    #[test]
    fn a_small_matrix() {
        let world = parse("m", "# comment\n0 10 20\n10 0 -1\n\n20 nan 0\n").unwrap();
        assert_eq!(world.cities().len(), 3);
        assert!((world.rtt_ms(CityId::new(1), CityId::new(0)) - 10.0).abs() < 1e-9);
        assert_eq!(world.gaps(), Gaps { mirrored: 0, bridged: 1, unknown: 0 });
    }

    #[test]
    fn mistakes_name_their_line() {
        let shape = parse("m", "0 1\n1\n").unwrap_err().to_string();
        assert!(shape.contains("line 2: 1 fields where 2"), "{shape}");
        let text = parse("m", &"no matrix\n".repeat(200_000)).unwrap_err().to_string();
        assert!(text.contains("line 1: 2 fields where 200000"), "{text}");
        let large = format!("{}\n{}", "0 ".repeat(10_001), "0\n".repeat(10_000));
        let large = parse("m", &large).unwrap_err().to_string();
        assert!(large.contains("m has 10001 hosts"), "{large}");
        let field = parse("m", "0 1\n1 x\n").unwrap_err().to_string();
        assert!(field.contains("line 2: \"x\""), "{field}");
    }
}
