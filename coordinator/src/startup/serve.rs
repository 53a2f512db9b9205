//! `serve`: runs the coordinator until a signal stops it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use store::{Store, restored};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use crate::http;
use crate::http::admin::first_admin;
use crate::http::agent::Installation;
use crate::http::agent::tokens::Tokens;
use crate::http::connections;
use crate::registry::generation_listener;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::startup::cli::ServeArgs;
use crate::startup::database::{self, Database};
use crate::startup::output::{self, print_line};
use crate::startup::{boot, configuration, descriptors, disk, log, shutdown};
use crate::tasks::coordinator::Coordinator;
use crate::tasks::driver::TaskSet;
use crate::tasks::table::TABLE;
use crate::tasks::{delegation_sync, election, peer_notifications};

/// How long open requests may take to end after the signal.
const REQUEST_DRAIN: Duration = Duration::from_secs(5);
/// How long background tasks may take to end their present run.
const TASK_DRAIN: Duration = Duration::from_secs(3);

/// Serves until SIGTERM or Ctrl-C, then drains within ten seconds and stops what it started.
pub async fn serve(args: ServeArgs) -> Result<(), Failure> {
    let mut config = configuration::load(args, cluster::default_data_dir)?;
    log::start(config.log_format);
    descriptors::make_room_for_connections(&mut config.limits);
    // Fails only if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stop = shutdown::on_signals()?;
    // The port comes first: a port in use is reported before Postgres takes seconds to start.
    let listener = bind(config.listen).await?;
    let metrics_listener = match config.metrics_listen {
        Some(address) => Some(bind(address).await?),
        None => None,
    };
    let booting = boot(config, stop.clone());
    let (coordinator, database) = tokio::select! {
        booted = booting => booted?,
        () = stop.cancelled() => return Ok(()),
    };
    let coordinator = Arc::new(coordinator);
    if let Some(listener) = metrics_listener {
        if let Ok(address) = listener.local_addr() {
            print_line(format_args!("metrics at http://{address}/metrics"));
        }
        tokio::spawn(http::metrics::serve(Arc::clone(&coordinator), listener));
    }
    let served = run(coordinator, listener).await;
    database::close(database).await;
    served
}

async fn boot(
    config: Config,
    stop: tokio_util::sync::CancellationToken,
) -> Result<(Coordinator, Database), Failure> {
    disk::check(&config.data_dir)?;
    let database = database::open(&config).await?;
    make_first_admin(&config, &database).await?;
    print_line(format_args!("postgres: {}", database.store.address()));
    let coordinator =
        boot::coordinator(config, Arc::new(SystemClock), database.store.clone(), stop).await?;
    Ok((coordinator, database))
}

/// Creates the first admin if there is none. A generated password is printed only now.
async fn make_first_admin(config: &Config, database: &Database) -> Result<(), Failure> {
    let configured = config.admin_password.as_deref();
    let now = SystemClock.now();
    let made = first_admin::ensure(&database.store, configured, rand::random(), now).await;
    let Some(password) = made.map_err(|error| Failure::other(chain(&error)))? else {
        return Ok(());
    };
    let name = first_admin::NAME;
    output::write_line(format_args!("first admin: {name} {password}")).map_err(|error| {
        Failure::other(format!(
            "cannot print the password of the first admin: {error}; set one with \
             --admin-password-file at the next start"
        ))
    })
}

/// Binds the port, with errors that name the remedy.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "the port is taken; choose another with --listen, or stop what uses it".to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "ports below 1024 need a privilege; choose a higher one".to_owned()
            }
            io::ErrorKind::AddrNotAvailable => "this machine does not have that address".to_owned(),
            _ => error.to_string(),
        };
        Failure::cannot_create(format!("cannot listen on {address}: {remedy}"))
    })
}

/// The routes of agents, people and the public.
fn app(coordinator: &Arc<Coordinator>, installation: Installation) -> Router {
    http::agent::router(coordinator, installation)
        .merge(http::router(Arc::clone(coordinator)))
        .layer(axum::middleware::from_fn_with_state(
            coordinator.store.clone(),
            http::lost_database::give_up,
        ))
        .layer(axum::middleware::from_fn(http::problem::complete_problems))
        .layer(axum::middleware::from_fn_with_state(
            coordinator.request_metrics.clone(),
            http::metrics::count_request,
        ))
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(coordinator),
            http::forwarded_for::resolve_client_address,
        ))
}

async fn installation(store: &Store) -> Result<Installation, Failure> {
    let lost_before = restored::contents_lost_before(store).await;
    Ok(Installation {
        tokens: Tokens::new(boot::token_secret(store).await?),
        key: boot::coordinator_key(store).await?,
        contents_lost_before: lost_before.map_err(|error| Failure::other(chain(&error)))?,
    })
}

/// Serves requests and runs background tasks until the coordinator stops, then drains both.
pub async fn run(coordinator: Arc<Coordinator>, listener: TcpListener) -> Result<(), Failure> {
    let address = listener
        .local_addr()
        .map_err(|e| Failure::other(format!("the listening socket is lost: {e}")))?;
    let installation = installation(&coordinator.store).await?;
    let tracker = TaskTracker::new();
    let tasks = Arc::new(TaskSet::subscribe(TABLE, &coordinator.events));
    tasks.start(&coordinator, &tracker);
    tracker.spawn(election::run(Arc::clone(&coordinator)));
    tracker.spawn({
        let coordinator = Arc::clone(&coordinator);
        async move {
            let Coordinator { store, events, stop, .. } = &*coordinator;
            generation_listener::run(store, events, stop).await;
        }
    });
    tracker.spawn(peer_notifications::run(Arc::clone(&coordinator), tasks));
    tracker.spawn(delegation_sync::run(Arc::clone(&coordinator)));
    print_line(format_args!("listening on http://{address}"));
    serve_requests(&coordinator, installation, listener).await;
    coordinator.stop.cancel();
    tracker.close();
    if tokio::time::timeout(TASK_DRAIN, tracker.wait()).await.is_err() {
        tracing::warn!("a task did not end in time; it continues at the next start");
    }
    Ok(())
}

async fn serve_requests(
    coordinator: &Arc<Coordinator>,
    installation: Installation,
    listener: TcpListener,
) {
    let stop = coordinator.stop.clone();
    let options = connections::Options::new(&coordinator.config);
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(REQUEST_DRAIN).await;
    };
    tokio::select! {
        () = connections::serve(listener, app(coordinator, installation), &options, &stop) => {}
        () = late => {}
    }
}
