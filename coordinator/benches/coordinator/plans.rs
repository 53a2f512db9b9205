//! Plans of the statements that background tasks run, as Postgres explains them.
//!
//! The module `auto_explain` of Postgres sends the plan of each statement to the client as a
//! notice, the statements of triggers included. sqlx logs notices; a layer collects them.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use store::Store;
use store::testing::{execute, growing_tables};
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Target of the events in which sqlx logs notices.
const NOTICES: &str = "sqlx::postgres::notice";

/// Every notice since the last [`Recorder::take`].
static NOTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Collects plans of the connections that are opened after it was made.
pub(crate) struct Recorder {
    growing: BTreeSet<String>,
}

impl Recorder {
    /// Explains every statement of later connections to this database. Judged are growing tables
    /// with at least so many rows: the planner rightly reads a table of one page as a whole.
    pub(crate) async fn install(store: &Store, rows: u32) -> Self {
        execute(store, SETTINGS).await.unwrap();
        tracing_subscriber::registry().with(Notices).init();
        Self { growing: growing_tables(store, rows).await.unwrap().into_iter().collect() }
    }

    /// Statements since the last call that scan a growing table, each with the table, and the
    /// number of all statements.
    pub(crate) fn take(&self) -> (BTreeSet<String>, usize) {
        let noted = std::mem::take(&mut *NOTED.lock().unwrap_or_else(PoisonError::into_inner));
        let plans: Vec<Value> = noted.iter().filter_map(|text| plan(text)).collect();
        let mut scans = BTreeSet::new();
        for explained in &plans {
            for table in scanned(&explained["Plan"]) {
                if self.growing.contains(table) {
                    scans.insert(format!("{table}: {}", one_line(&explained["Query Text"])));
                }
            }
        }
        (scans, plans.len())
    }
}

/// The settings are those of the database, so that they need no change of the product.
const SETTINGS: &str = "DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = auto_explain',
        current_database());
    EXECUTE format('ALTER DATABASE %I SET auto_explain.log_min_duration = 0', current_database());
    EXECUTE format('ALTER DATABASE %I SET auto_explain.log_nested_statements = on',
        current_database());
    EXECUTE format('ALTER DATABASE %I SET auto_explain.log_level = notice', current_database());
    EXECUTE format('ALTER DATABASE %I SET auto_explain.log_format = json', current_database());
END $$";

/// The JSON of a notice of `auto_explain`, which follows a line with the duration.
fn plan(notice: &str) -> Option<Value> {
    serde_json::from_str(&notice[notice.find("plan:\n")? + "plan:\n".len()..]).ok()
}

/// Tables that a plan reads sequentially. What a limit above it ends is still counted: the rows
/// before the first that fits may be all of them.
fn scanned(node: &Value) -> Vec<&str> {
    let mut tables = Vec::new();
    let is_scan = node["Node Type"].as_str().is_some_and(|kind| kind == "Seq Scan");
    if is_scan {
        tables.extend(node["Relation Name"].as_str());
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        tables.extend(scanned(child));
    }
    tables
}

fn one_line(text: &Value) -> String {
    text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Notices;

impl<S: tracing::Subscriber> Layer<S> for Notices {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == NOTICES {
            event.record(&mut Message);
        }
    }
}

/// Keeps the message of an event.
struct Message;

impl Visit for Message {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            NOTED.lock().unwrap_or_else(PoisonError::into_inner).push(value.to_owned());
        }
    }

    /// The message of a notice is a string.
    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
