//! Silences: times in which the database server does not answer, and may be gone without closing
//! its connections.
//!
//! What waits on such a connection waits until TCP gives up, for a quarter of an hour or for ever.
//! Then the pool has no room for new connections: it tests a connection whose statement was
//! cancelled with a query first, without a time limit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sqlx::PgPool;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// A server that did not answer in time.
#[derive(Debug)]
pub(crate) struct Silence {
    noted_at: Instant,
    is_over: AtomicBool,
}

impl Silence {
    /// A silence that lasts longer than this is taken for the loss of the server.
    pub(crate) const LIMIT: Duration = Duration::from_secs(30);

    /// The server answered late.
    pub(crate) fn was_short(&self) {
        self.is_over.store(true, Ordering::Release);
    }
}

/// The pool in use, which is replaced when its server falls silent.
#[derive(Debug)]
pub(crate) struct ReplacedPool {
    current: RwLock<Current>,
    /// When the last silence was noted that was longer than [`Silence::LIMIT`].
    lost: watch::Sender<Option<Instant>>,
}

#[derive(Debug)]
struct Current {
    pool: PgPool,
    /// None for the first pool.
    since: Option<Instant>,
}

impl ReplacedPool {
    pub(crate) fn new(pool: PgPool) -> Self {
        let current = RwLock::new(Current { pool, since: None });
        Self { current, lost: watch::Sender::default() }
    }

    /// The pool for new statements.
    pub(crate) fn current(&self) -> PgPool {
        self.current.read().unwrap_or_else(PoisonError::into_inner).pool.clone()
    }

    /// Notes that the server is silent. New statements use new connections from now on.
    pub(crate) fn note_silence(self: &Arc<Self>) -> Arc<Silence> {
        let noted_at = Instant::now();
        let silence = Arc::new(Silence { noted_at, is_over: AtomicBool::new(false) });
        // A server that is overloaded would get further connections with each silence.
        self.replace(|since| since.elapsed() >= Silence::LIMIT);
        tokio::spawn(judge(Arc::clone(self), Arc::clone(&silence)));
        silence
    }

    /// Replaces the pool, if it is the first one or as old as that.
    fn replace(&self, is_old: impl Fn(Instant) -> bool) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if current.pool.is_closed() || !current.since.is_none_or(is_old) {
            return;
        }
        let options = current.pool.options().clone();
        let pool = options.connect_lazy_with((*current.pool.connect_options()).clone());
        let new = Current { pool, since: Some(Instant::now()) };
        let old = std::mem::replace(&mut *current, new);
        tokio::spawn(close(old.pool));
    }

    /// Returns when a silence that began after the call has lasted for [`Silence::LIMIT`]. One that
    /// began before does not count: what begins now uses the new connections. That the server
    /// answers on those does not count either, because it may be another one.
    pub(crate) async fn lost(&self) {
        let begun = Instant::now();
        let mut lost = self.lost.subscribe();
        let is_later = |noted: &Option<Instant>| noted.is_some_and(|noted| noted > begun);
        if lost.wait_for(is_later).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Says after [`Silence::LIMIT`] that the server is lost, unless it has answered.
async fn judge(pools: Arc<ReplacedPool>, silence: Arc<Silence>) {
    sleep(Silence::LIMIT).await;
    if silence.is_over.load(Ordering::Acquire) {
        return;
    }
    // A pool that was new when the server fell silent has connections to it.
    pools.replace(|since| since < silence.noted_at);
    pools.lost.send_replace(Some(silence.noted_at));
}

/// Closes the idle connections at once, and the others as they come back.
async fn close(pool: PgPool) {
    while let Some(idle) = pool.try_acquire() {
        tokio::spawn(timeout(Silence::LIMIT, idle.close()));
    }
    pool.close().await;
}

#[cfg(test)]
mod tests {
    use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
    use tokio::task::yield_now;

    use super::*;

    fn pools() -> Arc<ReplacedPool> {
        let nowhere = PgConnectOptions::new_without_pgpass().socket("/nowhere");
        Arc::new(ReplacedPool::new(PgPoolOptions::new().connect_lazy_with(nowhere)))
    }

    /// How many seconds pass until the server counts as lost for work that begins now.
    async fn until_lost(pools: Arc<ReplacedPool>) -> Option<u64> {
        let begun = Instant::now();
        let lost = timeout(Duration::from_mins(10), pools.lost()).await;
        lost.ok().map(|()| begun.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_lost_when_it_is_silent_for_long() {
        let pools = pools();
        let waiting = tokio::spawn(until_lost(Arc::clone(&pools)));
        sleep(Duration::from_secs(1)).await;
        pools.note_silence();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(
            until_lost(Arc::clone(&pools)).await,
            None,
            "what begins now uses new connections"
        );
        assert_eq!(waiting.await.unwrap(), Some(31));
    }

    #[tokio::test(start_paused = true)]
    async fn each_silence_is_judged_by_itself() {
        let pools = pools();
        let waiting = tokio::spawn(until_lost(Arc::clone(&pools)));
        for (is_short, pause) in [(true, 9), (false, 9), (true, 0)] {
            sleep(Duration::from_secs(1)).await;
            let silence = pools.note_silence();
            if is_short {
                silence.was_short();
            }
            sleep(Duration::from_secs(pause)).await;
        }
        assert_eq!(waiting.await.unwrap(), Some(11 + 30), "the second one alone was long");
    }

    #[tokio::test(start_paused = true)]
    async fn the_pool_is_replaced_seldom_and_after_each_loss() {
        let pools = pools();
        let is_replaced = async |pool: &PgPool| {
            yield_now().await;
            pool.is_closed()
        };
        let first = pools.current();
        pools.note_silence().was_short();
        assert!(is_replaced(&first).await);
        let second = pools.current();
        sleep(Duration::from_secs(20)).await;
        pools.note_silence();
        assert!(!is_replaced(&second).await, "it is new");
        sleep(Duration::from_secs(31)).await;
        assert!(is_replaced(&second).await, "it has connections to a server that is lost");
        assert!(!pools.current().is_closed());
    }
}
