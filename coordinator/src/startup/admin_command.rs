//! `admin`: accounts and the audit log, on the database, also while the coordinator runs.

use std::io::{BufRead as _, stdin};

use data_encoding::BASE32_NOPAD;
use model::UnixMillis;
use serde_json::json;
use store::admins::{self, Account, Change, Outcome};
use store::audit::{self, Filter};
use store::restored;
use store::{SchemaChange, Store};

use crate::http::admin::accounts::{name_error, password_error};
use crate::http::admin::password;
use crate::http::timestamp::Timestamp;
use crate::packages::recover::{Recovery, recover};
use crate::placement::regions::restored::skip_epochs;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::quantity::quantity;
use crate::startup::boot::coordinator_key;
use crate::startup::cli::{AdminArgs, AdminCommand, LogArgs};
use crate::startup::output::print_line;
use crate::startup::{admin_api, configuration, database, storage};

/// Actor of these changes in the audit log.
const ACTOR: &str = "command line";

/// Accounts that a list holds at most; more are an installation of another kind.
const ACCOUNTS_MAX: i64 = 10_000;

/// Runs one of the commands and prints its result.
pub async fn run(args: AdminArgs) -> Result<(), Failure> {
    let AdminArgs { place, connection, command } = args;
    let command = match command {
        AdminCommand::Api(command) => return admin_api::run(place, &connection, command).await,
        command => command,
    };
    let config = configuration::load(place.into(), cluster::default_data_dir)?;
    let database = database::open_shared(&config, schema_change(&command)).await?;
    let done = dispatch(&database.store, &config, command).await;
    database::close(database).await;
    done
}

/// After a restore no coordinator runs, and the backup may be of an older version. At any other
/// time coordinators of that version may run.
fn schema_change(command: &AdminCommand) -> SchemaChange {
    match command {
        AdminCommand::AfterRestore => SchemaChange::Migrate,
        _ => SchemaChange::None,
    }
}

async fn dispatch(store: &Store, config: &Config, command: AdminCommand) -> Result<(), Failure> {
    match command {
        // Handled before the database is opened.
        AdminCommand::Api(_) => Ok(()),
        AdminCommand::List { json } => list(store, json).await,
        AdminCommand::Create { name, role, password_stdin } => {
            if let Some(error) = name_error(&name) {
                return Err(Failure::other(error.message));
            }
            let password = new_password(password_stdin)?;
            let hash = hash(&password).await?;
            let now = SystemClock.now();
            let created = admins::create(store, &name, role, &hash, ACTOR, now).await;
            if created.map_err(|error| failed(&error))?.is_none() {
                return Err(Failure::other(format!("there is an account {name:?} already")));
            }
            announce(&name, &password);
            Ok(())
        }
        AdminCommand::Role { name, role } => change(store, &name, Change::Role(role)).await,
        AdminCommand::Password { name, password_stdin } => {
            let password = new_password(password_stdin)?;
            let hash = hash(&password).await?;
            change(store, &name, Change::reset_password(&hash)).await?;
            announce(&name, &password);
            Ok(())
        }
        AdminCommand::Remove { name } => change(store, &name, Change::Remove).await,
        AdminCommand::Log(args) => log(store, &args).await,
        AdminCommand::AfterRestore => after_restore(store, config).await,
        AdminCommand::ForgetStorage => forget_storage(store).await,
    }
}

async fn forget_storage(store: &Store) -> Result<(), Failure> {
    let place = storage::forget(store, ACTOR, SystemClock.now()).await?;
    print_line(format_args!(
        "forgot {place}; the next coordinator that starts brings its storage, and packages that \
         are only in the former one are set aside where they are still needed"
    ));
    Ok(())
}

/// Tenths of a second since 2026, so that a later restore of the same backup leaves out more
/// numbers than an earlier one. Agents accept steps up to [`protocol::limits::ROUTE_GAP`].
fn left_out(now: UnixMillis) -> u32 {
    const START_OF_2026: UnixMillis = UnixMillis(1_767_225_600_000);
    u32::try_from(now.0.saturating_sub(START_OF_2026.0) / 100).unwrap_or(u32::MAX)
}

async fn after_restore(store: &Store, config: &Config) -> Result<(), Failure> {
    let now = SystemClock.now();
    let lent_until = now.plus_ms(i64::try_from(config.regions.loan_ms()).unwrap_or(i64::MAX));
    // Agents go on until their leases end, and members of regions until the loan does. They hear of
    // the loss after that at the latest.
    let lease_until = now.plus_ms(1_000 * i64::from(config.limits.lease_s));
    let unaware_until = lent_until.max(lease_until);
    let skipped = restored::skip_numbers(store, left_out(now), unaware_until, ACTOR, now).await;
    skipped.map_err(|error| failed(&error))?;
    let key = coordinator_key(store).await?;
    let renewed = skip_epochs(store, &key, left_out(now), lent_until).await;
    for region in renewed.map_err(|error| failed(&error))? {
        print_line(format_args!("this region rests, because its roster cannot be read: {region}"));
    }
    let blobs = storage::open(config, store).await?;
    let recovery = recover(store, &blobs, now).await;
    let Recovery { entered, left_out } = recovery.map_err(|error| {
        Failure::unavailable(format!("{}; then repeat this command", chain(&error)))
    })?;
    print_line(format_args!(
        "{} since the backup entered, {left_out} left out",
        quantity(entered, "package")
    ));
    if left_out > 0 {
        print_line(format_args!(
            "the warnings say why; where the storage failed for a while, repeat this command"
        ));
    }
    print_line(format_args!(
        "numbers that agents may have seen are left out; remove the directory `index` of every \
         coordinator, then start it"
    ));
    Ok(())
}

/// A password, and whether it was generated, so that it has to be printed.
struct NewPassword {
    text: String,
    is_generated: bool,
}

fn new_password(from_stdin: bool) -> Result<NewPassword, Failure> {
    if !from_stdin {
        let text = BASE32_NOPAD.encode(&rand::random::<[u8; 15]>()).to_ascii_lowercase();
        return Ok(NewPassword { text, is_generated: true });
    }
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::other(format!("cannot read the password: {error}")))?;
    let text = line.trim_end_matches(['\r', '\n']).to_owned();
    match password_error("password", &text) {
        Some(error) => Err(Failure::other(format!("the password is {}", error.message))),
        None => Ok(NewPassword { text, is_generated: false }),
    }
}

async fn hash(password: &NewPassword) -> Result<String, Failure> {
    password::hash(password.text.clone(), ()).await.map_err(|error| Failure::other(chain(&error)))
}

fn announce(name: &str, password: &NewPassword) {
    if password.is_generated {
        print_line(format_args!("password of {name}: {}", password.text));
    }
}

async fn change(store: &Store, name: &str, change: Change<'_>) -> Result<(), Failure> {
    let found = admins::find(store, name).await.map_err(|error| failed(&error))?;
    let account = found.ok_or_else(|| unknown(name))?;
    let outcome = admins::change(store, account.id, change, ACTOR, SystemClock.now()).await;
    match outcome.map_err(|error| failed(&error))? {
        Outcome::Done => Ok(()),
        Outcome::Unknown => Err(unknown(name)),
        Outcome::LastAdmin => Err(Failure::other(format!(
            "{name} is the last account that may change anything; make another admin first"
        ))),
    }
}

fn unknown(name: &str) -> Failure {
    Failure::other(format!("there is no account {name:?}"))
}

fn failed(error: &store::StoreError) -> Failure {
    Failure::other(chain(error))
}

async fn list(store: &Store, as_json: bool) -> Result<(), Failure> {
    let listed = admins::list(store, i64::MAX, ACCOUNTS_MAX).await;
    let accounts = listed.map_err(|error| failed(&error))?;
    if as_json {
        let row = |account: &Account| {
            json!({
                "id": account.id, "name": account.name, "role": account.role,
                "created_at": Timestamp(account.created_at),
                "last_seen_at": account.seen_at.map(Timestamp),
            })
        };
        print_line(format_args!("{:#}", json!(accounts.iter().map(row).collect::<Vec<_>>())));
        return Ok(());
    }
    for account in accounts {
        let created = Timestamp(account.created_at).to_iso();
        print_line(format_args!(
            "{:<8} {:<8} {created}  {}",
            account.id,
            account.role.as_str(),
            account.name
        ));
    }
    Ok(())
}

async fn log(store: &Store, args: &LogArgs) -> Result<(), Failure> {
    let filter = Filter {
        actor: args.actor.as_deref(),
        action: args.action.as_deref(),
        subject: args.subject.as_deref(),
        ..Filter::default()
    };
    let before = args.before.unwrap_or(i64::MAX);
    let entries = audit::list(store, &filter, before, i64::from(args.limit)).await;
    for entry in entries.map_err(|error| failed(&error))? {
        let at = Timestamp(entry.at);
        if args.json {
            let row = json!({
                "id": entry.id, "at": at, "actor": entry.actor, "action": entry.action,
                "subject": entry.subject, "detail": entry.detail,
            });
            print_line(row);
            continue;
        }
        let audit::AuditEntry { id, actor, action, subject, detail, .. } = entry;
        print_line(format_args!("{id} {} {actor}: {action} {subject} {detail}", at.to_iso()));
    }
    Ok(())
}
