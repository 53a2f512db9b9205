//! Routes on their way to the agent.

use protocol::Route;

/// Routes in one answer, as shipped.
const A_HEARTBEAT: usize = 500;

/// The routes that are not confirmed yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Routes {
    waiting: Vec<Route>,
}

impl Routes {
    /// One route for each URL, numbered from 1.
    pub(super) fn new(urls: &[String]) -> Self {
        let route = |(seq, url): (u64, &String)| Route { seq, url: url.clone(), redirects: 0 };
        Self { waiting: (1..).zip(urls).map(route).collect() }
    }

    /// What the next answer carries, when everything up to a number is confirmed.
    pub(super) fn after(&mut self, confirmed: u64) -> Vec<Route> {
        self.waiting.retain(|route| route.seq > confirmed);
        self.waiting.iter().take(A_HEARTBEAT).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_repeated_until_they_are_confirmed() {
        let urls: Vec<String> = (0..700).map(|n| format!("http://h{n}.test/")).collect();
        let mut routes = Routes::new(&urls);
        assert_eq!(routes.after(0).len(), 500);
        assert_eq!(routes.after(0)[0].seq, 1);
        let rest = routes.after(500);
        assert_eq!((rest.len(), rest[0].seq), (200, 501));
        assert_eq!(rest[199].url, "http://h699.test/");
        assert!(routes.after(700).is_empty());
    }
}
