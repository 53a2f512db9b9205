//! Tables for people and rows for files.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::measurement::Measurement;
use crate::process::usage::Usage;

/// Columns of the table: title, and the figure of a crawl.
const COLUMNS: [(&str, Figure); 15] = [
    ("pages/s", |it| Some(it.pages_per_s)),
    ("CPU us/page", |it| it.cpu_us_per_page),
    ("peak MB", |it| it.by.usage.map(|usage| usage.peak_bytes as f64 / 1e6)),
    ("coverage %", |it| Some(it.coverage * 100.0)),
    ("repeated", |it| Some(it.referee.repeated as f64)),
    ("robots", |it| Some(it.referee.robots as f64)),
    ("in flight", |it| Some(f64::from(it.referee.most_in_flight))),
    ("gap ms", |it| it.referee.smallest_gap_ms),
    ("addr gap ms", |it| it.referee.smallest_gap_address_ms),
    ("ideal %", |it| it.ideal_share.map(|share| share * 100.0)),
    ("disk MB", |it| it.by.usage.map(|usage| usage.disk_bytes as f64 / 1e6)),
    ("plain:ship", |it| it.by.shipped.map(|ship| per(it.referee.plain_bytes, ship.bytes))),
    ("wire:ship", |it| it.by.shipped.map(|ship| per(it.referee.wire_bytes, ship.bytes))),
    ("connections", |it| Some(it.referee.connections as f64)),
    ("referee s", |it| Some(it.referee.referee_cpu_s)),
];

/// A ratio of bytes; zero where nothing was shipped.
fn per(bytes: u64, shipped: u64) -> f64 {
    if shipped == 0 { 0.0 } else { bytes as f64 / shipped as f64 }
}

type Figure = fn(&Measurement) -> Option<f64>;
/// A value of a crawl, as the file of raw runs has it.
type Raw = fn(&Measurement) -> String;

/// A line for one crawl.
pub fn line(it: &Measurement) -> String {
    let mut text = format!(
        "{:8} {:14} round {}: {:6.0} pages/s, {:6.2} % of the pages",
        it.case,
        it.peer.name(),
        it.round,
        it.pages_per_s,
        it.coverage * 100.0,
    );
    if let Some((usage, cpu_us)) = it.by.usage.zip(it.cpu_us_per_page) {
        let peak_mb = usage.peak_bytes as f64 / 1e6;
        let _ = write!(text, ", {cpu_us:.0} us of CPU a page, {peak_mb:.1} MB");
    }
    if it.by.cut {
        text.push_str(", cut off");
    }
    if let Some(fsyncs) = it.by.fsyncs {
        let _ = write!(text, ", {fsyncs} calls of fsync");
    }
    text
}

/// Medians of the rounds, a row for each case and peer.
pub fn table(all: &[Measurement]) -> String {
    let mut text = format!("{:8} {:14}", "case", "peer");
    for (title, _) in COLUMNS {
        let _ = write!(text, " {title:>11}");
    }
    text.push('\n');
    for rows in groups(all) {
        let _ = write!(text, "{:8} {:14}", rows[0].case, rows[0].peer.name());
        for (_, figure) in COLUMNS {
            let figures = rows.iter().filter_map(|row| figure(row)).collect();
            let shown = median(figures).map_or_else(|| "-".to_owned(), number);
            let _ = write!(text, " {shown:>11}");
        }
        text.push('\n');
    }
    text
}

/// Crawls of the same case by the same peer, in the order of the first of each; crawls whose calls
/// of fsync were counted are left out.
fn groups(all: &[Measurement]) -> Vec<Vec<&Measurement>> {
    let mut groups: Vec<Vec<&Measurement>> = Vec::new();
    for it in all.iter().filter(|it| it.by.fsyncs.is_none()) {
        let same = |group: &&mut Vec<&Measurement>| {
            group.first().is_some_and(|first| first.case == it.case && first.peer == it.peer)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups
}

/// The middle one of some figures, the larger of two in the middle; none of none.
fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// Three significant digits or more.
fn number(figure: f64) -> String {
    if figure.fract() == 0.0 || figure >= 1_000.0 {
        format!("{figure:.0}")
    } else if figure >= 10.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.3}")
    }
}

/// Columns of the file of raw runs, after date and processor.
const RAW: [(&str, Raw); 26] = [
    ("load", |it| format!("{:.2}", it.load)),
    ("case", |it| it.case.to_owned()),
    ("peer", |it| it.peer.name().to_owned()),
    ("round", |it| it.round.to_string()),
    ("cut", |it| it.by.cut.to_string()),
    ("requests", |it| it.referee.requests.to_string()),
    ("pages", |it| it.referee.unique.to_string()),
    ("connections", |it| it.referee.connections.to_string()),
    ("span_s", |it| format!("{:.3}", it.referee.span_s)),
    ("pages_per_s", |it| format!("{:.1}", it.pages_per_s)),
    ("cpu_us_per_page", |it| given(it.cpu_us_per_page)),
    ("peak_mb", |it| used(it, |usage| usage.peak_bytes)),
    ("coverage", |it| format!("{:.4}", it.coverage)),
    ("repeated", |it| it.referee.repeated.to_string()),
    ("robots", |it| it.referee.robots.to_string()),
    ("most_in_flight", |it| it.referee.most_in_flight.to_string()),
    ("smallest_gap_ms", |it| given(it.referee.smallest_gap_ms)),
    ("smallest_gap_address_ms", |it| given(it.referee.smallest_gap_address_ms)),
    ("ideal_share", |it| given(it.ideal_share)),
    ("disk_mb", |it| used(it, |usage| usage.disk_bytes)),
    ("written_mb", |it| used(it, |usage| usage.written_bytes)),
    ("plain_mb", |it| mb(it.referee.plain_bytes)),
    ("wire_mb", |it| mb(it.referee.wire_bytes)),
    ("shipped_mb", |it| it.by.shipped.map_or_else(String::new, |shipped| mb(shipped.bytes))),
    ("fsyncs", |it| it.by.fsyncs.map_or_else(String::new, |fsyncs| fsyncs.to_string())),
    ("referee_cpu_s", |it| format!("{:.2}", it.referee.referee_cpu_s)),
];

fn given(figure: Option<f64>) -> String {
    figure.map_or_else(String::new, |figure| format!("{figure:.3}"))
}

fn mb(bytes: u64) -> String {
    format!("{:.3}", bytes as f64 / 1e6)
}

fn used(it: &Measurement, field: fn(Usage) -> u64) -> String {
    it.by.usage.map(field).map_or_else(String::new, mb)
}

/// A file for raw runs.
#[derive(Debug)]
pub struct CsvFile {
    path: PathBuf,
    writer: csv::Writer<File>,
}

impl CsvFile {
    /// Makes the file.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let writer = csv::Writer::from_path(path).with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_owned(), writer })
    }

    /// Writes raw runs.
    pub fn write(mut self, date: &str, processor: &str, all: &[Measurement]) -> anyhow::Result<()> {
        let cannot = || cannot_write(&self.path);
        let titles = RAW.iter().map(|(title, _)| *title);
        let titles = ["date", "processor"].into_iter().chain(titles);
        self.writer.write_record(titles).with_context(cannot)?;
        for it in all {
            let figures = RAW.iter().map(|(_, figure)| figure(it));
            let row = [date, processor].map(str::to_owned).into_iter().chain(figures);
            self.writer.write_record(row).with_context(cannot)?;
        }
        self.writer.flush().with_context(cannot)
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0]), Some(4.0));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [12_345.6, 99.94, 0.5, 7.0].map(number);
        assert_eq!(shown, ["12346", "99.9", "0.500", "7"]);
    }
}
