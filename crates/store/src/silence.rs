//! Silences: times in which the database server does not answer, and may be gone without having
//! closed its connections.
//!
//! What waits on such a connection waits until TCP gives up, for a quarter of an hour or for ever.
//! The pool has no room for others then: a connection whose statement was given up is asked for a
//! sign of life first, without a time limit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::watch;

/// A server that did not answer in time.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    is_over: AtomicBool,
}

impl Silence {
    /// A silence that lasts longer than this is not that of a busy server.
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
    silences: watch::Sender<Arc<Silence>>,
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
        Self { current, silences: watch::Sender::default() }
    }

    /// The pool for new statements.
    pub(crate) fn current(&self) -> PgPool {
        self.current.read().unwrap_or_else(PoisonError::into_inner).pool.clone()
    }

    /// Notes that the server is silent. New statements use new connections from now on.
    pub(crate) fn note_silence(&self) -> Arc<Silence> {
        self.replace();
        let silence = Arc::<Silence>::default();
        self.silences.send_replace(Arc::clone(&silence));
        silence
    }

    fn replace(&self) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // A server that is overloaded would get further connections with each silence.
        let is_new = current.since.is_some_and(|since| since.elapsed() < Silence::LIMIT);
        if is_new || current.pool.is_closed() {
            return;
        }
        let options = current.pool.options().clone();
        let pool = options.connect_lazy_with((*current.pool.connect_options()).clone());
        let new = Current { pool, since: Some(Instant::now()) };
        let old = std::mem::replace(&mut *current, new);
        tokio::spawn(async move { old.pool.close().await });
    }

    /// Returns when the server has fallen silent and has not answered for [`Silence::LIMIT`]. A
    /// silence that has begun before does not count: what begins now uses the new connections. That
    /// the server answers on those does not count either, because it may be another one.
    pub(crate) async fn lost(&self) {
        let mut silences = self.silences.subscribe();
        while silences.changed().await.is_ok() {
            let silence = Arc::clone(&silences.borrow_and_update());
            tokio::time::sleep(Silence::LIMIT).await;
            if !silence.is_over.load(Ordering::Acquire) {
                return;
            }
        }
        std::future::pending().await
    }
}
