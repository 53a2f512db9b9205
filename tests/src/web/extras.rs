//! What a crawler meets on the real web beside documents: forbidden pages with links to them, pages
//! that only look forbidden, redirects, errors, files, and decoys that an HTML parser does not take
//! for links.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::href::Style;
use super::plan::WebPlan;
use super::random_streams::{Topic, pick, stream};
use super::site::{FileKind, Goal, Host, Kind, Link, Page, PageId};
use super::trees::link;
use super::word::word;

/// Numbers of words for extras start here, far above those of documents.
const FIRST_WORD: usize = 500_000;
/// Words kept for each host's extras.
const WORDS_A_HOST: usize = 400;

/// Adds the extras of a host.
pub(super) fn add(hosts: &mut [Host], number: usize, plan: &WebPlan) {
    let documents = hosts[number].tree;
    let mut garden = HostExtras {
        host: &mut hosts[number],
        number,
        seed: plan.seed,
        words: 0,
        random_streams: stream(plan.seed, Topic::Extras, number as u64, 0),
    };
    for _ in 0..=documents / 10 {
        garden.forbid();
    }
    garden.allow();
    for _ in 0..=documents / 8 {
        garden.redirect();
    }
    for _ in 0..documents / 10 {
        garden.break_something();
    }
    for _ in 0..documents / 6 {
        garden.file();
    }
    garden.ignore_some();
    garden.decoy();
    garden.mail();
}

/// A host while its extras are added.
struct HostExtras<'h> {
    host: &'h mut Host,
    number: usize,
    seed: u64,
    words: usize,
    random_streams: ChaCha8Rng,
}

impl HostExtras<'_> {
    /// A page that robots.txt forbids, linked, and one behind it that nobody can know of without
    /// having been there.
    fn forbid(&mut self) {
        let behind = self.word();
        let word = self.word();
        let Some(path) = self.host.robots.forbidden(&word) else { return };
        let behind = self.host.add(Page::new(format!("/behind/{behind}.html"), DOCUMENT));
        let forbidden = self.linked(Page { allowed: false, ..Page::new(path, DOCUMENT) });
        link(self.host, self.number, forbidden, behind, &mut self.random_streams);
    }

    /// A page that only looks forbidden.
    fn allow(&mut self) {
        let word = self.word();
        if let Some(path) = self.host.robots.allowed_all_the_same(&word) {
            self.linked(Page::new(path, DOCUMENT));
        }
    }

    /// One of the ways in which pages lead elsewhere.
    fn redirect(&mut self) {
        let status = pick(&[301, 302, 303, 307, 308], &mut self.random_streams);
        let goal = self.random_streams.random_range(0..self.host.tree);
        let goal = self.own(goal);
        match self.random_streams.random_range(0..6) {
            0 => self.redirect_chain(status, goal),
            1 => self.redirect_loop(status),
            2 => self.redirect_to_forbidden(status, goal),
            _ => drop(self.linked_redirect(status, goal)),
        }
    }

    fn redirect_chain(&mut self, status: u16, goal: PageId) {
        let path = format!("/moved/{}", self.word());
        let second = self.host.add(Page::new(path, Kind::Redirect { status, to: goal }));
        self.linked_redirect(302, self.own(second));
    }

    /// Two pages that send each other's visitors back.
    fn redirect_loop(&mut self, status: u16) {
        let one = self.linked_redirect(status, self.own(0));
        let path = format!("/moved/{}", self.word());
        let other = self.host.add(Page::new(path, Kind::Redirect { status, to: self.own(one) }));
        self.host.pages[one].kind = Kind::Redirect { status, to: self.own(other) };
    }

    /// A forbidden page stays forbidden when a redirect leads to it.
    fn redirect_to_forbidden(&mut self, status: u16, otherwise: PageId) {
        let forbidden = self.host.pages.iter().position(|page| !page.allowed);
        let goal = forbidden.map_or(otherwise, |page| self.own(page));
        self.linked_redirect(status, goal);
    }

    fn linked_redirect(&mut self, status: u16, to: PageId) -> usize {
        let path = format!("/go/{}", self.word());
        self.linked(Page::new(path, Kind::Redirect { status, to }))
    }

    fn break_something(&mut self) {
        let status = pick(&[404, 404, 410, 500], &mut self.random_streams);
        let path = format!("/lost/{}.html", self.word());
        self.linked(Page::new(path, Kind::Error { status }));
    }

    fn file(&mut self) {
        let (kind, ending) = match self.random_streams.random_range(0..3) {
            0 => (FileKind::Text, "txt"),
            1 => (FileKind::Picture, "png"),
            _ => (FileKind::Paper, "pdf"),
        };
        let path = format!("/files/{}.{ending}", self.word());
        self.linked(Page::new(path, Kind::File(kind)));
    }

    /// Leaves a few documents out of search engines; only ones that no other page hangs from.
    fn ignore_some(&mut self) {
        if self.random_streams.random_range(0..4) == 0 {
            let path = format!("/aside/{}.html", self.word());
            self.linked(Page::new(path, Kind::Document { noindex: true }));
        }
    }

    /// A page named only in a comment and a script.
    fn decoy(&mut self) {
        let path = format!("/decoy/{}.html", self.word());
        let decoy = self.host.add(Page::new(path, DOCUMENT));
        let from = self.random_streams.random_range(0..self.host.tree);
        let decoy = self.own(decoy);
        self.host.pages[from].decoys.push(decoy);
    }

    /// Links that lead to no page at all.
    fn mail(&mut self) {
        let mail = format!("mailto:office@{}", self.host.name());
        for goal in [mail, "javascript:history.back()".to_owned(), "tel:+35722000000".to_owned()] {
            let from = self.random_streams.random_range(0..self.host.tree);
            self.host.pages[from]
                .links
                .push(Link { to: Goal::Elsewhere(goal), style: Style::Rooted });
        }
    }

    /// Adds a page and a link to it from one of the documents.
    fn linked(&mut self, page: Page) -> usize {
        let page = self.host.add(page);
        let from = self.random_streams.random_range(0..self.host.tree);
        link(self.host, self.number, from, page, &mut self.random_streams);
        page
    }

    fn own(&self, page: usize) -> PageId {
        PageId { host: self.number, page }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        word(FIRST_WORD + self.number * WORDS_A_HOST + self.words, self.seed)
    }
}

const DOCUMENT: Kind = Kind::Document { noindex: false };
