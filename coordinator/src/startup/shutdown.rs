//! SIGTERM and Ctrl-C: the first signal stops the coordinator in order, the second at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::runtime::failure::Failure;

/// Exit code after a second signal: that of a shell after Ctrl-C.
const SECOND_SIGNAL: i32 = 130;

/// A token that the first signal cancels. A second signal ends the process at once; acknowledged
/// packages are durable by then.
pub fn on_signals() -> Result<CancellationToken, Failure> {
    let listen =
        |kind| signal(kind).map_err(|e| Failure::other(format!("cannot listen for signals: {e}")));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        either(&mut terminate, &mut interrupt).await;
        tracing::info!("stopping; a second signal ends at once");
        cancel.cancel();
        either(&mut terminate, &mut interrupt).await;
        std::process::exit(SECOND_SIGNAL);
    });
    Ok(stop)
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
