//! SIGTERM and Ctrl-C: the first signal stops the coordinator in order, the second at once.

use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::runtime::failure::Failure;

/// Exit code after a second signal: that of a shell after Ctrl-C.
const SECOND_SIGNAL: i32 = 130;
/// How long the runtime waits for its blocking threads.
const BLOCKING_LIMIT: Duration = Duration::from_secs(1);

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

/// Ends the runtime after a command. Blocking work is given up after a second: the removal of
/// leftovers may take minutes, and a second signal has no effect any more. Everything that has to
/// be closed, such as the private Postgres, is closed by the command itself.
pub fn end(runtime: Runtime) {
    runtime.shutdown_timeout(BLOCKING_LIMIT);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn blocking_work_does_not_hold_up_the_end() {
        let runtime = Runtime::new().unwrap();
        let (sender, first_step) = mpsc::channel();
        let (finish, finished) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || {
            sender.send(()).unwrap();
            finished.recv_timeout(30 * BLOCKING_LIMIT)
        });
        first_step.recv().unwrap();
        let before = Instant::now();
        end(runtime);
        assert!(before.elapsed() < 10 * BLOCKING_LIMIT);
        drop(finish);
    }
}
