//! `audit`: checks the delegation table and prints what should be repaired.

use std::sync::Arc;

use delegation::audit::Finding;
use serde_json::{Value, json};
use store::{SchemaChange, Store, StoreError, generations};

use crate::placement::audit::{self, AuditReport};
use crate::registry::unregistered_space::complete;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::failure::{Failure, chain};
use crate::startup::cli::AuditArgs;
use crate::startup::output::print_line;
use crate::startup::{configuration, database};

/// Prints the findings; with findings the exit code is 3. The coordinator may run meanwhile.
pub async fn run(args: AuditArgs) -> Result<(), Failure> {
    let as_json = args.json;
    let config = configuration::load(args.into(), cluster::default_data_dir)?;
    let database = database::open_shared(&config, SchemaChange::None).await?;
    let looked = look(&database.store).await;
    database::close(database).await;
    let audited = looked?;
    print(&audited, as_json);
    match audited.findings.len() {
        0 => Ok(()),
        count => Err(Failure::findings(count)),
    }
}

async fn look(store: &Store) -> Result<AuditReport, Failure> {
    let failed = |error: StoreError| Failure::other(chain(&error));
    let live = generations::live(store).await.map_err(failed)?;
    let hierarchy = match live {
        Some(live) => generations::read(store, live.id).await.map_err(failed)?,
        None => None,
    };
    let hierarchy = hierarchy.ok_or_else(|| {
        Failure::unavailable("no registry data is loaded yet; run rir-loader load")
    })?;
    let completed = complete(store, Arc::new(hierarchy)).await;
    let (hierarchy, _) = completed.map_err(|error| Failure::other(format!("{error:#}")))?;
    audit::audit_delegations(store, &hierarchy, SystemClock.now()).await.map_err(failed)
}

fn print(audited: &AuditReport, as_json: bool) {
    if as_json {
        print_line(format_args!(
            "{:#}",
            json!({ "at_ms": audited.at, "findings": rows(&audited.findings) })
        ));
        return;
    }
    for finding in &audited.findings {
        print_line(format_args!("{:<17} {finding}", finding.as_str()));
    }
    if audited.findings.is_empty() {
        print_line("nothing to repair");
    }
}

fn rows(findings: &[Finding]) -> Vec<Value> {
    findings
        .iter()
        .map(|found| json!({ "kind": found.as_str(), "sentence": found.to_string() }))
        .collect()
}
