//! Plain matrices: one line per host, times in milliseconds between blanks, as published for King,
//! PlanetLab and Meridian. No geography, no targets.

use std::{fs, path::Path};

use crate::{City, World, measured::MOST_CITIES, partial_matrix::PartialMatrix};

/// Why a matrix could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MatrixError {
    /// The file is missing or is not text.
    #[error("cannot read the matrix {file}")]
    Open {
        /// Path of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A field is not a number.
    #[error("{file}, line {line}: {field:?} is not a number of milliseconds")]
    Field {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What stands there.
        field: String,
    },
    /// A line is too long or too short.
    #[error(
        "{file}, line {line}: {found} fields where {expected} were expected; the matrix must be \
         square"
    )]
    Shape {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Fields on that line.
        found: usize,
        /// Number of lines of the matrix.
        expected: usize,
    },
    /// A matrix of that many hosts would not fit in memory.
    #[error("{file} has {hosts} hosts, and at most {MOST_CITIES} fit in memory")]
    TooMany {
        /// Path of the file.
        file: String,
        /// Number of lines of the matrix.
        hosts: usize,
    },
}

impl World {
    /// Reads a square matrix. Empty lines and lines that begin with `#` are skipped; times of zero
    /// or less, `nan` and `inf` mean "not measured".
    pub fn matrix(file: &Path) -> Result<World, MatrixError> {
        let name = file.display().to_string();
        match fs::read_to_string(file) {
            Ok(text) => parse(&name, &text),
            Err(source) => Err(MatrixError::Open { file: name, source }),
        }
    }
}

fn parse(file: &str, text: &str) -> Result<World, MatrixError> {
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
    if side > MOST_CITIES {
        return Err(MatrixError::TooMany { file: file.into(), hosts: side });
    }
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

fn check_fields(file: &str, line: usize, found: usize, expected: usize) -> Result<(), MatrixError> {
    if found == expected {
        Ok(())
    } else {
        Err(MatrixError::Shape { file: file.into(), line, found, expected })
    }
}

fn parse_line(file: &str, line: usize, text: &str) -> Result<Vec<f64>, MatrixError> {
    let number = |field: &str| {
        field.parse().map_err(|_| MatrixError::Field {
            file: file.into(),
            line,
            field: field.into(),
        })
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
