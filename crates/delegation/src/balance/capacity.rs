//! How many pages a day an agent can crawl: what its owner offers, unless it was seen to do less.

/// What an agent did in the last day, and what it left undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyWork {
    /// Pages that it fetched in the last 24 hours.
    pub fetched: u64,
    /// Pages that it knew of and had not fetched at the end.
    pub queued: u64,
}

/// Pages a day. Who keeps up is taken at its owner's word, since nobody asked for more; who leaves
/// more than a day's work undone is taken at what it did. `None` for who has not worked for a day
/// yet.
pub fn capacity(offered: u64, shown: Option<DailyWork>) -> u64 {
    match shown {
        Some(DailyWork { fetched, queued }) if queued > fetched => offered.min(fetched.max(1)),
        _ => offered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_falls_behind_is_taken_at_what_it_did() {
        let shown = |fetched, queued| Some(DailyWork { fetched, queued });
        assert_eq!(capacity(1_000, None), 1_000);
        assert_eq!(capacity(1_000, shown(200, 200)), 1_000, "it keeps up");
        assert_eq!(capacity(1_000, shown(200, 201)), 200);
        assert_eq!(capacity(1_000, shown(5_000, 9_000)), 1_000, "never more than is offered");
        assert_eq!(capacity(1_000, shown(0, 9)), 1);
    }
}
