//! `log`: prints the activity log.

use std::{
    io::{BufWriter, ErrorKind, Write as _},
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};

use super::ConfigArgs;
use crate::{
    activity_log::{ActivityEntry, entries},
    data_dir::ACTIVITY_LOG,
    status::StatusFile,
};

#[derive(Debug, Args)]
pub(super) struct Log {
    #[command(flatten)]
    config_args: ConfigArgs,
    /// Shows only entries since a day, a time or a time ago, like 2026-11-20,
    /// 2026-11-20T08:00:00Z, 2h or 3d.
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
    /// Shows only entries with this text in their URL or address.
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    /// Format of the output.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Csv,
    Jsonl,
}

fn since(text: &str) -> Result<Timestamp, String> {
    let ago = || {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let hours: i64 = number.parse().ok().filter(|n| (0..1_000_000).contains(n))?;
        let hours = match unit {
            "h" => hours,
            "d" => hours * 24,
            _ => return None,
        };
        Timestamp::now().checked_sub(SignedDuration::from_hours(hours)).ok()
    };
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
    let found = text.parse().ok().or_else(day).or_else(ago);
    found.ok_or_else(|| {
        "write a day (2026-11-20), a time (2026-11-20T08:00:00Z) or a time ago (2h, 3d)".into()
    })
}

pub(super) fn print(log: &Log) -> anyhow::Result<ExitCode> {
    let (_, dir) = log.config_args.open()?;
    let activity = dir.join(ACTIVITY_LOG);
    // Whether the log exists is unknown to a user who may not read the directory.
    StatusFile::read_if_sound(&dir)?;
    if !activity.exists() {
        return Err(log.config_args.no_agent(&dir));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let wanted = |entry: &ActivityEntry| {
        let is_in_address =
            |text: &str| entry.address.is_some_and(|address| address.to_string().contains(text));
        let is_in = |text: &String| entry.target.contains(text) || is_in_address(text);
        log.contains.as_ref().is_none_or(is_in)
    };
    let mut write = || -> anyhow::Result<()> {
        if log.format == Format::Csv {
            writeln!(out, "at,kind,target,address,outcome,bytes,ms")?;
        }
        for entry in entries(&activity, log.since)?.filter(wanted) {
            writeln!(out, "{}", line(&entry, log.format)?)?;
        }
        Ok(out.flush()?)
    };
    match write() {
        // The reader has seen enough: `log | head`.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other.map(|()| ExitCode::SUCCESS),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}

fn line(entry: &ActivityEntry, format: Format) -> anyhow::Result<String> {
    let ActivityEntry { at, kind, target, address, outcome, bytes, ms } = entry;
    let kind = kind.as_str();
    let address = address.map(|address| address.to_string()).unwrap_or_default();
    Ok(match format {
        Format::Text => format!("{at:.0} {kind:6} {target} {address} {outcome} {bytes} B {ms} ms"),
        Format::Csv => {
            format!("{at},{kind},{},{address},{},{bytes},{ms}", quoted(target), quoted(outcome))
        }
        Format::Jsonl => serde_json::to_string(entry)?,
    })
}

/// Quotes a CSV field (RFC 4180).
fn quoted(field: &str) -> String {
    format!("\"{}\"", field.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_status_that_cannot_be_parsed_does_not_hide_the_log() {
        let dir = TempDir::new().unwrap();
        let config = dir.path().join("agent.toml");
        let keys = "coordinator = \"https://c.example\"\ncontact = \"https://o.example/bot\"\n";
        fs::write(&config, keys).unwrap();
        fs::create_dir(dir.path().join("activity")).unwrap();
        fs::write(dir.path().join("status.json"), "{").unwrap();
        let config_args = ConfigArgs { config, data_dir: Some(dir.path().to_owned()) };
        let log = Log { config_args, since: None, contains: None, format: Format::Text };
        print(&log).unwrap();
    }

    #[test]
    fn lines_have_three_formats() {
        let entry = ActivityEntry {
            at: "2026-11-20T12:00:00.5Z".parse().unwrap(),
            kind: crate::activity_log::Activity::Page,
            target: "http://e.org/\"a,b".into(),
            address: Some("192.0.2.1".parse().unwrap()),
            outcome: "200".into(),
            bytes: 5,
            ms: 6,
        };
        let of = |format| line(&entry, format).unwrap();
        assert_eq!(
            of(Format::Text),
            "2026-11-20T12:00:00Z page   http://e.org/\"a,b 192.0.2.1 200 5 B 6 ms"
        );
        assert_eq!(
            of(Format::Csv),
            "2026-11-20T12:00:00.5Z,page,\"http://e.org/\"\"a,b\",192.0.2.1,\"200\",5,6"
        );
        assert_eq!(serde_json::from_str::<ActivityEntry>(&of(Format::Jsonl)).unwrap(), entry);
    }

    #[test]
    fn since_accepts_days_times_and_ages() {
        assert_eq!(since("2026-11-20").unwrap().to_string(), "2026-11-20T00:00:00Z");
        assert_eq!(since("2026-11-20T08:00:00Z").unwrap().to_string(), "2026-11-20T08:00:00Z");
        let ago = Timestamp::now().as_second() - since("2d").unwrap().as_second();
        assert!((172_799..172_802).contains(&ago), "{ago}");
        for bad in ["", "yesterday", "2w", "h", "-1h", "é"] {
            assert!(since(bad).is_err(), "{bad}");
        }
    }
}
