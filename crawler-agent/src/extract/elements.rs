//! Elements of HTML: what their text is, and which are open at a place of a page.

/// Inline elements: their tags do not separate words, as in `T<b>w</b>o`.
const INLINE: [Name; 34] = Name::all([
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
]);

/// Elements without content and end tag.
const VOID: [Name; 14] = Name::all([
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
]);

/// Elements whose text is not the subject of the page; used only when there is no other text.
const BOILERPLATE: [Name; 8] =
    Name::all(["nav", "footer", "aside", "template", "select", "datalist", "button", "dialog"]);

/// Elements in which only their own end tag is markup, and whose text no reader sees. The text of a
/// title is raw, too.
const RAW: [Name; RAW_NAMES.len()] = Name::all(RAW_NAMES);
const RAW_NAMES: [&str; 9] = [
    "script",
    "style",
    "textarea",
    "noscript",
    "iframe",
    "xmp",
    "noembed",
    "noframes",
    "plaintext",
];

/// Headings of sections.
const HEADINGS: [Name; 6] = Name::all(["h1", "h2", "h3", "h4", "h5", "h6"]);

/// Elements with content of another language, in which a slash ends an element.
const FOREIGN: [Name; 2] = Name::all(["svg", "math"]);

/// Most open elements that are known. Elements that are deeper count to those around them; browsers
/// have such a bound, too.
const MAX_OPEN: usize = 2_048;

/// Most comparisons of open elements with end tags that match none. After these, end tags are
/// compared with the innermost [`NEAR`] elements, so that millions of them take little time.
const MAX_COMPARED: usize = 4 << 20;
const NEAR: usize = 32;

/// Name of an element in any case, as a number that is compared at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name(u64);

impl Name {
    pub(super) const SCRIPT: Self = Self::of(b"script");
    const NOSCRIPT: Self = Self::of(b"noscript");
    const ANCHOR: Self = Self::of(b"a");
    const TITLE: Self = Self::of(b"title");

    /// The FNV-1a hash of the name in lower case.
    pub(super) const fn of(name: &[u8]) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut at = 0;
        while at < name.len() {
            hash ^= name[at].to_ascii_lowercase() as u64;
            hash = hash.wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        Self(hash)
    }

    const fn all<const N: usize>(names: [&str; N]) -> [Self; N] {
        let mut all = [Self(0); N];
        let mut at = 0;
        while at < N {
            all[at] = Self::of(names[at].as_bytes());
            at += 1;
        }
        all
    }

    /// The name as a text, if it is that of an element whose text is raw.
    pub(super) fn of_raw(self) -> Option<&'static str> {
        if self == Self::TITLE {
            return Some("title");
        }
        RAW.iter().position(|raw| *raw == self).map(|at| RAW_NAMES[at])
    }

    pub(super) fn is_heading(self) -> bool {
        HEADINGS.contains(&self)
    }

    /// Whether tags of the element separate words.
    pub(super) fn separates_words(self) -> bool {
        !INLINE.contains(&self)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// The subject of the page.
    Main,
    /// Navigation and the like.
    Boilerplate,
    /// The title of the page.
    Title,
    /// Text that no reader sees.
    Hidden,
}

/// What an element means for the text inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Anchor,
    Heading,
    Boilerplate,
    Title,
    Hidden,
    Foreign,
}

/// Number of roles; the last one is named here.
const ROLES: usize = Role::Foreign as usize + 1;

/// The elements that are open at a place of a page.
///
/// An end tag ends the innermost element of its name with all inside of it, and without such an
/// element nothing. So the end of a menu that was forgotten is where the element around it ends.
#[derive(Debug, Default)]
pub(super) struct OpenElements {
    open: Vec<(Name, Role)>,
    /// Number of open elements of each role.
    of_role: [usize; ROLES],
    /// Elements that were opened so far.
    opened: usize,
    /// Number of open elements that were compared with end tags and did not match.
    compared: usize,
}

impl OpenElements {
    /// Opens an element; returns whether its text is raw.
    pub(super) fn start(&mut self, name: Name, self_closing: bool) -> bool {
        let role = self.role(name);
        let is_foreign = role == Role::Foreign || self.is_in(Role::Foreign);
        if VOID.contains(&name) || (self_closing && is_foreign) {
            return false;
        }
        // As in browsers: a heading whose end was forgotten ends where the next one begins.
        if role == Role::Heading && self.open.last().is_some_and(|(_, last)| *last == role) {
            self.close_from(self.open.len() - 1);
        }
        self.opened += 1;
        let is_raw = name == Name::TITLE || role == Role::Hidden;
        // An element with raw text is needed to know that it is hidden.
        if self.open.len() < MAX_OPEN || is_raw {
            self.open.push((name, role));
            self.of_role[role as usize] += 1;
        }
        is_raw
    }

    /// Ends the innermost element of this name. As in browsers, the end tag of a heading ends a
    /// heading of any level.
    pub(super) fn end(&mut self, name: Name) {
        let is_heading = name.is_heading();
        let is_it =
            |(open, role): &(Name, Role)| *open == name || (is_heading && *role == Role::Heading);
        // The search for an element that is found is paid for by the elements that it ends. The
        // cost of searches that find nothing is bounded.
        let reach = if self.compared < MAX_COMPARED { self.open.len() } else { NEAR };
        let outer = self.open.len().saturating_sub(reach);
        match self.open[outer..].iter().rposition(is_it) {
            Some(at) => self.close_from(outer + at),
            None => self.compared += self.open.len() - outer,
        }
    }

    /// Kind of the text here.
    pub(super) fn text_kind(&self) -> TextKind {
        if self.is_in(Role::Hidden) {
            TextKind::Hidden
        } else if self.is_in(Role::Boilerplate) {
            TextKind::Boilerplate
        } else if self.is_in(Role::Title) {
            TextKind::Title
        } else {
            TextKind::Main
        }
    }

    /// Whether the text here is that of a link.
    pub(super) fn is_in_anchor(&self) -> bool {
        self.is_in(Role::Anchor)
    }

    /// Whether the text here is that of a heading of the page's subject.
    pub(super) fn is_in_heading(&self) -> bool {
        self.is_in(Role::Heading) && self.text_kind() == TextKind::Main
    }

    /// Whether the text here is that of an element for readers without scripts.
    pub(super) fn is_in_noscript(&self) -> bool {
        // Raw text has no elements inside of it.
        self.open.last().is_some_and(|(name, _)| *name == Name::NOSCRIPT)
    }

    /// Elements that were opened so far.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }

    fn close_from(&mut self, at: usize) {
        for (_, role) in self.open.drain(at..) {
            self.of_role[role as usize] -= 1;
        }
    }

    fn role(&self, name: Name) -> Role {
        if name == Name::ANCHOR {
            Role::Anchor
        } else if name.is_heading() {
            Role::Heading
        } else if BOILERPLATE.contains(&name) {
            Role::Boilerplate
        } else if RAW.contains(&name) {
            Role::Hidden
        } else if FOREIGN.contains(&name) {
            Role::Foreign
        } else if name != Name::TITLE {
            Role::Plain
        } else if self.is_in(Role::Foreign) || self.is_in(Role::Boilerplate) {
            // The title of a drawing, or of a page in a template.
            Role::Hidden
        } else {
            Role::Title
        }
    }

    fn is_in(&self, role: Role) -> bool {
        self.of_role[role as usize] > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Name {
        Name::of(name.as_bytes())
    }

    #[test]
    fn names_are_the_same_in_any_case() {
        assert_eq!(name("BlockQuote"), name("blockquote"));
        assert_ne!(name("x-long-name-a"), name("x-long-name-b"));
        assert!(!name("SPAN").separates_words());
        assert!(name("blockquotation").separates_words());
    }

    #[test]
    fn an_end_tag_ends_all_inside_of_its_element() {
        let mut open = OpenElements::default();
        for element in ["div", "nav", "ul", "a"] {
            open.start(name(element), false);
        }
        open.end(name("p"));
        assert_eq!((open.text_kind(), open.is_in_anchor()), (TextKind::Boilerplate, true));
        open.end(name("ul"));
        assert_eq!((open.text_kind(), open.is_in_anchor()), (TextKind::Boilerplate, false));
        open.end(name("div"));
        assert_eq!(open.text_kind(), TextKind::Main);
    }

    #[test]
    fn end_tags_without_an_element_cost_little() {
        let mut open = OpenElements::default();
        open.start(name("nav"), false);
        for _ in 1..MAX_OPEN {
            open.start(name("div"), false);
        }
        for _ in 0..100_000 {
            open.end(name("p"));
        }
        assert!(open.compared < MAX_COMPARED + MAX_OPEN + 100_000 * NEAR);
        open.end(name("nav"));
        assert_eq!(open.text_kind(), TextKind::Boilerplate, "it is too far away by now");
        for _ in 1..MAX_OPEN {
            open.end(name("div"));
        }
        open.end(name("nav"));
        assert_eq!(open.text_kind(), TextKind::Main);
    }

    #[test]
    fn a_slash_ends_an_element_of_a_drawing_only() {
        let mut open = OpenElements::default();
        open.start(name("nav"), true);
        assert_eq!(open.text_kind(), TextKind::Boilerplate);
        let mut open = OpenElements::default();
        open.start(name("svg"), false);
        assert!(!open.start(name("title"), true));
        assert!(open.start(name("title"), false));
        assert_eq!(open.text_kind(), TextKind::Hidden);
        open.end(name("svg"));
        assert!(open.start(name("title"), false));
        assert_eq!(open.text_kind(), TextKind::Title);
    }

    #[test]
    fn elements_that_are_too_deep_count_to_those_around_them() {
        let mut open = OpenElements::default();
        open.start(name("nav"), false);
        for _ in 0..2 * MAX_OPEN {
            open.start(name("div"), false);
        }
        assert!(open.start(name("script"), false));
        assert_eq!(open.text_kind(), TextKind::Hidden);
        open.end(name("script"));
        open.end(name("nav"));
        assert_eq!((open.text_kind(), open.opened()), (TextKind::Main, 2 * MAX_OPEN + 2));
    }
}
