//! The result of one run of a background task.

/// What one run of a background task achieved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing to do.
    Idle,
    /// All work that could be done is done. The text summarises it for the status page.
    Done(String),
    /// One batch is done and more is waiting: the driver runs the task again at once.
    More(String),
}
