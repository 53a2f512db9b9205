//! Instances as CSV, in either of two forms.
//!
//! *Long*: columns `subnet,agent,cost,load,capacity` in any order, one line per pair. The load
//! stands on at least one line of its subnet, the capacity on at least one of its agent; a pair
//! without a line may not be used.
//!
//! *Wide*: the header is `subnet,load` and the agents' names. The line whose subnet is `capacity`
//! has the capacities (its load is empty), every other one has a subnet's costs; an empty field may
//! not be used.

use std::collections::BTreeMap;
use std::path::Path;

use delegation::balance::{AgentCost, AssignmentProblem, InvalidProblem, Subnet};

/// Why a problem could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProblemFileError {
    /// The file is missing or is not CSV.
    #[error("cannot read the problem {file}")]
    Read {
        /// Path of the file.
        file: String,
        /// What the reader said.
        source: csv::Error,
    },
    /// Neither of the two headers.
    #[error(
        "{file}: the header must be subnet,agent,cost,load,capacity in any order, or subnet,load \
         and the agents' names"
    )]
    Header {
        /// Path of the file.
        file: String,
    },
    /// A field is not a number of its kind.
    #[error("{file}, line {line}: {field:?} is no {what}")]
    Field {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// What stands there.
        field: String,
        what: &'static str,
    },
    /// A number that is needed stands nowhere, or two different ones do.
    #[error("{file}: {of} {name:?} has {found}; give it exactly one {what}")]
    Number {
        /// Path of the file.
        file: String,
        /// `subnet` or `agent`.
        of: &'static str,
        name: String,
        /// How it is.
        found: &'static str,
        /// `load` or `capacity`.
        what: &'static str,
    },
    /// The numbers make no sense together.
    #[error("{file} is no problem")]
    Sense {
        /// Path of the file.
        file: String,
        /// What is wrong.
        source: InvalidProblem,
    },
}

/// Reads a problem. Agents and subnets are numbered in the order in which they come first. Costs
/// are those of the whole subnet; with `per_page` they are multiplied by its load.
pub fn read_problem(file: &Path, per_page: bool) -> Result<AssignmentProblem, ProblemFileError> {
    let name = file.display().to_string();
    let read = |source| ProblemFileError::Read { file: name.clone(), source };
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(file).map_err(read)?;
    let header: Vec<String> = reader.headers().map_err(read)?.iter().map(str::to_owned).collect();
    let records = reader.records().collect::<Result<Vec<_>, _>>().map_err(read)?;
    let mut sheet =
        ProblemFile { file: name.clone(), agents: Names::default(), subnets: Names::default() };
    let column = |wanted: &str| header.iter().position(|title| title == wanted);
    match (column("subnet"), column("agent"), column("cost"), column("load"), column("capacity")) {
        (Some(subnet), Some(agent), Some(cost), Some(load), Some(capacity)) => {
            sheet.long(&records, [subnet, agent, cost, load, capacity])?;
        }
        (Some(0), None, None, Some(1), None) => sheet.wide(&records, &header[2..])?,
        _ => return Err(ProblemFileError::Header { file: name }),
    }
    sheet.problem(per_page)
}

/// Named things in the order in which they came, with one number each and the costs of a subnet.
#[derive(Default)]
struct Names {
    place: BTreeMap<String, usize>,
    rows: Vec<Row>,
}

#[derive(Default)]
struct Row {
    name: String,
    number: Option<u64>,
    contradiction: bool,
    costs: Vec<(usize, f64)>,
}

struct ProblemFile {
    file: String,
    agents: Names,
    subnets: Names,
}

impl Names {
    fn at(&mut self, name: &str) -> usize {
        if let Some(place) = self.place.get(name) {
            return *place;
        }
        self.rows.push(Row { name: name.to_owned(), ..Row::default() });
        self.place.insert(name.to_owned(), self.rows.len() - 1);
        self.rows.len() - 1
    }

    fn number(&mut self, place: usize, number: Option<u64>) {
        let row = &mut self.rows[place];
        row.contradiction |= number.is_some() && row.number.is_some() && row.number != number;
        row.number = row.number.or(number);
    }
}

impl ProblemFile {
    fn long(
        &mut self,
        records: &[csv::StringRecord],
        columns: [usize; 5],
    ) -> Result<(), ProblemFileError> {
        for record in records {
            let [subnet, agent, cost, load, capacity] =
                columns.map(|column| record.get(column).unwrap_or(""));
            let subnet = self.subnets.at(subnet);
            let agent = self.agents.at(agent);
            let load = self.parse(record, load, "load")?;
            let capacity = self.parse(record, capacity, "capacity")?;
            self.subnets.number(subnet, load);
            self.agents.number(agent, capacity);
            if let Some(cost) = self.parse(record, cost, "cost")? {
                self.subnets.rows[subnet].costs.push((agent, cost));
            }
        }
        Ok(())
    }

    fn wide(
        &mut self,
        records: &[csv::StringRecord],
        agents: &[String],
    ) -> Result<(), ProblemFileError> {
        for agent in agents {
            self.agents.at(agent);
        }
        for record in records {
            let name = record.get(0).unwrap_or("");
            let load = record.get(1).unwrap_or("");
            let fields = record.iter().skip(2).enumerate();
            if name == "capacity" {
                for (agent, field) in fields {
                    let capacity = self.parse(record, field, "capacity")?;
                    self.agents.number(agent, capacity);
                }
                continue;
            }
            let subnet = self.subnets.at(name);
            let load = self.parse(record, load, "load")?;
            self.subnets.number(subnet, load);
            for (agent, field) in fields {
                if let Some(cost) = self.parse(record, field, "cost")? {
                    self.subnets.rows[subnet].costs.push((agent, cost));
                }
            }
        }
        Ok(())
    }

    /// A number or nothing.
    fn parse<Number: std::str::FromStr>(
        &self,
        record: &csv::StringRecord,
        field: &str,
        what: &'static str,
    ) -> Result<Option<Number>, ProblemFileError> {
        if field.is_empty() {
            return Ok(None);
        }
        let line = record.position().map_or(0, csv::Position::line);
        let wrong = |_| ProblemFileError::Field {
            file: self.file.clone(),
            line,
            field: field.into(),
            what,
        };
        field.parse().map(Some).map_err(wrong)
    }

    fn problem(self, per_page: bool) -> Result<AssignmentProblem, ProblemFileError> {
        let numbers = |names: &Names, of, what| {
            let number = |row: &Row| {
                row.number.filter(|_| !row.contradiction).ok_or(missing(&self.file, row, of, what))
            };
            names.rows.iter().map(number).collect::<Result<Vec<u64>, _>>()
        };
        let capacities = numbers(&self.agents, "agent", "capacity")?;
        let loads = numbers(&self.subnets, "subnet", "load")?;
        let subnets = self.subnets.rows.into_iter().zip(loads).map(|(row, load)| {
            let factor = if per_page { load as f64 } else { 1.0 };
            let costs = row
                .costs
                .into_iter()
                .map(|(agent, cost)| AgentCost::measured(agent as u32, factor * cost));
            Subnet { load, costs: costs.collect() }
        });
        AssignmentProblem::new(capacities, subnets.collect())
            .map_err(|source| ProblemFileError::Sense { file: self.file.clone(), source })
    }
}

fn missing(file: &str, row: &Row, of: &'static str, what: &'static str) -> ProblemFileError {
    let found = if row.contradiction { "two different ones" } else { "none" };
    ProblemFileError::Number { file: file.into(), of, name: row.name.clone(), found, what }
}
