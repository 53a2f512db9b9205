//! The configuration as it is written. Every value knows where it stands, for the sake of good
//! complaints.

use serde::Deserialize;
use toml::Spanned;

pub(super) type Text = Spanned<String>;
pub(super) type Number = Option<Spanned<i64>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) coordinator: Option<Text>,
    pub(super) contact: Option<Text>,
    pub(super) name: Option<Text>,
    pub(super) data_dir: Option<String>,
    pub(super) capacity_pages_per_day: Number,
    pub(super) zone: Option<Text>,
    #[serde(default)]
    pub(super) spans: Vec<Text>,
    pub(super) bind: Option<Text>,
    #[serde(default)]
    pub(super) resolver: Vec<Text>,
    #[serde(default)]
    pub(super) probe: Probe,
    #[serde(default)]
    pub(super) guard: Guard,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default)]
    pub(super) ship: Ship,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Probe {
    pub(super) methods: Option<Vec<Text>>,
    pub(super) timeout_ms: Number,
    pub(super) new_targets_per_minute: Number,
    pub(super) concurrency: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Guard {
    pub(super) allow: Vec<Text>,
    pub(super) deny: Vec<Text>,
    pub(super) deny_hosts: Vec<Text>,
    pub(super) ports: Option<Vec<Spanned<i64>>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) host_delay_ms: Number,
    pub(super) concurrency: Number,
    pub(super) connect_ms: Number,
    pub(super) first_byte_ms: Number,
    pub(super) fetch_ms: Number,
    pub(super) retry_ms: Number,
    pub(super) wire_mib: Number,
    pub(super) plain_mib: Number,
    pub(super) disk_mib: Number,
    pub(super) disk_floor_mib: Number,
    pub(super) journal_days: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Ship {
    pub(super) age_ms: Number,
    pub(super) kib: Number,
}
