//! SIGTERM and Ctrl-C: the first ends the work, the second ends the program.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::runtime::failure::Failure;

/// Exit code of a program that was told twice.
const TOLD_TWICE: i32 = 130;

/// A token that the first signal cancels. A second signal ends the program at once; nothing that
/// was acknowledged is lost.
pub fn on_signals() -> Result<CancellationToken, Failure> {
    let listen =
        |kind| signal(kind).map_err(|e| Failure::other(format!("cannot listen for signals: {e}")));
    let (mut terminate, mut interrupt) =
        (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        either(&mut terminate, &mut interrupt).await;
        tracing::info!("stopping; a second signal ends at once");
        cancel.cancel();
        either(&mut terminate, &mut interrupt).await;
        std::process::exit(TOLD_TWICE);
    });
    Ok(stop)
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
