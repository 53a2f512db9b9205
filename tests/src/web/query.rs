//! Search queries with the results that they must find.

use serde::Serialize;

use super::expected::Class;
use super::prose;
use super::random_streams::{Topic, stream};
use super::site::{FileKind, Kind, PageId, Web};

/// A question and what must be among the answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Query {
    pub text: String,
    /// A document that must be found; none when any document of that language or host will do.
    pub url: Option<String>,
    /// The host that all answers must be of, where the question says so: as it stands in URLs, with
    /// a port that is not the usual one.
    pub host: Option<String>,
    /// The language that all answers must be in, where the question says so.
    pub language: Option<&'static str>,
}

impl Web {
    /// Three questions: a word that one document has, a word within a host, and a word within a
    /// language that is not English.
    pub fn queries(&self) -> Vec<Query> {
        let documents: Vec<_> = self.indexable().collect();
        let mark = documents.get(documents.len() / 2).map(|id| self.by_mark(*id));
        let foreign = |id: &&PageId| self.hosts[id.host].language.code != "en";
        let within = documents.iter().rfind(foreign).map(|id| self.within_host(*id));
        let language = documents.iter().find(foreign).map(|id| self.within_language(*id));
        [mark, within, language].into_iter().flatten().collect()
    }

    /// Documents that a search engine shall know.
    pub fn indexable(&self) -> impl Iterator<Item = PageId> + '_ {
        let expected = self.expected();
        let documents = expected.wanted().iter().filter(|(_, class)| **class == Class::Document);
        documents.map(|(id, _)| *id).filter(|id| !expected.noindex().contains(id))
    }

    /// Plain text files that a crawl shall fetch: a search engine knows them, too.
    pub fn plain_texts(&self) -> impl Iterator<Item = PageId> + '_ {
        let wanted = self.expected().wanted().keys().copied();
        wanted.filter(|id| self.hosts[id.host].pages[id.page].kind == Kind::File(FileKind::Text))
    }

    fn by_mark(&self, id: PageId) -> Query {
        let mark = prose::write(self, id, self.version(id)).mark;
        Query { text: mark, url: Some(self.url(id)), host: None, language: None }
    }

    fn within_host(&self, id: PageId) -> Query {
        let prose = prose::write(self, id, self.version(id));
        let text = format!("{} site:{}", prose.mark, self.hosts[id.host].name());
        let host = self.origin(id.host).trim_start_matches("http://").to_owned();
        Query { text, url: Some(self.url(id)), host: Some(host), language: None }
    }

    fn within_language(&self, id: PageId) -> Query {
        let language = self.hosts[id.host].language;
        let word = prose::common_word(language, &mut stream(self.seed, Topic::Queries, 0, 0));
        let text = format!("{word} lang:{}", language.code);
        Query { text, url: None, host: None, language: Some(language.code) }
    }
}
