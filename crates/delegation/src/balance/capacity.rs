//! Capacity of an agent: the pages a day that its owner offers, or what it did if that is less.

/// What an agent fetched per day, over the days that make up its load, and what it left undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyWork {
    /// Pages a day.
    pub fetched: u64,
    /// Pages that were fetched from the subnets that it holds now, also by agents before it.
    pub held: u64,
    /// Pages known and not fetched at the end.
    pub queued: u64,
}

/// Pages a day that an agent can crawl; `work` is `None` until it has worked for a day.
///
/// The capacity of an agent that keeps up is what its owner offers, since nothing shows that it
/// could not do more. The capacity of an agent that leaves more than a day's work undone is what it
/// did, or the load of the subnets that it has now if that is more. So it gets no further subnets,
/// and does not give those that came to it lately away at once.
pub fn capacity(offered: u64, work: Option<DailyWork>) -> u64 {
    match work {
        Some(DailyWork { fetched, held, queued }) if queued > fetched => {
            offered.min(fetched.max(held).max(1))
        }
        _ => offered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_agent_that_falls_behind_counts_with_what_it_did() {
        let work = |fetched, queued| Some(DailyWork { fetched, held: fetched, queued });
        assert_eq!(capacity(1_000, None), 1_000);
        assert_eq!(capacity(1_000, work(200, 200)), 1_000, "it keeps up");
        assert_eq!(capacity(1_000, work(200, 201)), 200);
        assert_eq!(capacity(1_000, work(5_000, 9_000)), 1_000, "never more than is offered");
        assert_eq!(capacity(1_000, work(0, 9)), 1);
    }

    #[test]
    fn an_agent_that_is_behind_keeps_the_subnets_that_came_to_it_and_gets_no_more() {
        let work = |held| Some(DailyWork { fetched: 100, held, queued: 5_000 });
        assert_eq!(capacity(1_000, work(80)), 100);
        assert_eq!(capacity(1_000, work(400)), 400, "others fetched most of it");
        assert_eq!(capacity(300, work(400)), 300, "never more than is offered");
    }
}
