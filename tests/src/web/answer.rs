//! Responses of the web to requests, without HTTP.

use rand::Rng as _;

use super::page;
use super::random_streams::{Topic, stream};
use super::site::{FileKind, Kind, PageId, Resource, Web};
use super::sitemap;

/// An answer before compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub media_type: String,
    /// Where to go instead, for redirects.
    pub location: Option<String>,
    /// Changes whenever the body does.
    pub etag: Option<String>,
    pub body: Vec<u8>,
}

/// Bytes of a made-up picture or paper.
const FILE_BYTES: usize = 6_000;

impl Web {
    /// The answer of a host for what was asked.
    pub fn answer(&self, host: usize, what: &Resource) -> Answer {
        match what {
            Resource::Page(page) => self.page_answer(PageId { host, page: *page }),
            Resource::Robots => {
                match self.hosts.get(host).and_then(|h| h.robots.text(&self.origin(host))) {
                    Some(text) => Answer::plain(200, "text/plain", text),
                    None => Answer::plain(404, "text/plain", "no robots.txt\n".to_owned()),
                }
            }
            Resource::Sitemap => Answer::plain(200, "application/xml", sitemap::text(self, host)),
            Resource::Nothing => error(404),
        }
    }

    fn page_answer(&self, id: PageId) -> Answer {
        let Some(page) = self.page(id) else { return error(404) };
        match page.kind {
            Kind::Document { .. } => self.document(id),
            Kind::File(kind) => self.file(id, kind),
            Kind::Redirect { status, to } => self.redirect(id, status, to),
            Kind::Error { status } => error(status),
        }
    }

    fn document(&self, id: PageId) -> Answer {
        let host = &self.hosts[id.host];
        let version = self.version(id);
        let charset =
            host.announced.in_header().then(|| format!("; charset={}", host.charset.label()));
        let media_type = format!("text/html{}", charset.unwrap_or_default());
        self.versioned(id, version, media_type, page::bytes(self, id, version))
    }

    fn file(&self, id: PageId, kind: FileKind) -> Answer {
        let version = self.version(id);
        let mut noise = vec![0; FILE_BYTES];
        stream(self.seed, Topic::Bytes, id.host as u64, id.page as u64).fill_bytes(&mut noise);
        let (media_type, body) = match kind {
            FileKind::Text => ("text/plain; charset=utf-8", page::plain_text(self, id, version)),
            FileKind::Picture => ("image/png", [b"\x89PNG\r\n\x1a\n", noise.as_slice()].concat()),
            FileKind::Paper => ("application/pdf", [b"%PDF-1.7\n", noise.as_slice()].concat()),
        };
        self.versioned(id, version, media_type.to_owned(), body)
    }

    fn versioned(&self, id: PageId, version: u32, media_type: String, body: Vec<u8>) -> Answer {
        let etag = format!("\"{:x}-{:x}-{:x}-{version}\"", self.seed, id.host, id.page);
        Answer { status: 200, media_type, location: None, etag: Some(etag), body }
    }

    /// Every other redirect within a host names only the path, which HTTP allows.
    fn redirect(&self, id: PageId, status: u16, to: PageId) -> Answer {
        let short = id.host == to.host && id.page.is_multiple_of(2);
        let location = match self.page(to) {
            Some(page) if short => page.path.clone(),
            _ => self.url(to),
        };
        let body =
            format!("<!DOCTYPE html>\n<title>Moved</title>\n<p>Moved.</p>\n<!-- {status} -->\n");
        Answer { location: Some(location), ..Answer::plain(status, "text/html", body) }
    }
}

impl Answer {
    fn plain(status: u16, media_type: &str, body: String) -> Self {
        let media_type = media_type.to_owned();
        let body = body.into_bytes();
        Self { status, media_type, location: None, etag: None, body }
    }
}

/// An error page looks like a page: only the status tells.
fn error(status: u16) -> Answer {
    let body = format!(
        "<!DOCTYPE html>\n<title>Sorry</title>\n<p>Error {status}. <a href=\"/\">Start</a></p>\n"
    );
    Answer::plain(status, "text/html; charset=utf-8", body)
}
