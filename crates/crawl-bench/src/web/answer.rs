//! Whole HTTP answers, made before the clock starts.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

/// An answer of status 200, head and body in one piece of memory.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    plain: Form,
    gzip: Option<Form>,
    plain_bytes: usize,
}

/// Head and body as they are sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    bytes: Box<[u8]>,
    head: usize,
}

impl Answer {
    /// The answer with a body; `gzip` also prepares it compressed.
    pub(super) fn new(media_type: &str, body: &[u8], gzip: bool) -> io::Result<Self> {
        let packed = if gzip { Some(self::gzip(body)?) } else { None };
        let packed = packed.map(|body| Form::new(media_type, "Content-Encoding: gzip\r\n", &body));
        let plain = Form::new(media_type, "", body);
        Ok(Self { plain, gzip: packed, plain_bytes: body.len() })
    }

    /// The form for a client, by whether it accepts gzip.
    pub fn form(&self, accepts_gzip: bool) -> &Form {
        self.gzip.as_ref().filter(|_| accepts_gzip).unwrap_or(&self.plain)
    }

    /// Size of the body before compression.
    pub fn plain_bytes(&self) -> usize {
        self.plain_bytes
    }
}

impl Form {
    fn new(media_type: &str, more: &str, body: &[u8]) -> Self {
        let length = body.len();
        // HTTP/1.1 keeps connections anyway, but wget2 keeps only those of which the server says
        // so.
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{more}\
             Content-Length: {length}\r\nConnection: keep-alive\r\n\r\n"
        );
        let bytes = [head.as_bytes(), body].concat().into_boxed_slice();
        Self { bytes, head: head.len() }
    }

    /// What answers a GET request.
    pub fn whole(&self) -> &[u8] {
        &self.bytes
    }

    /// What answers a HEAD request.
    pub fn head(&self) -> &[u8] {
        &self.bytes[..self.head]
    }

    /// Size of the body as it is sent.
    pub fn wire_bytes(&self) -> usize {
        self.bytes.len() - self.head
    }
}

/// Compresses like a web server with its usual settings.
pub(super) fn gzip(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 2), Compression::new(6));
    encoder.write_all(plain)?;
    encoder.finish()
}
