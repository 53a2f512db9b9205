//! Reading of packages, which may come from a dishonest agent.

use data_encoding::HEXLOWER;
use model::CrawlUrl;
use sha2::{Digest as _, Sha256};

use super::{Header, MAGIC, PackageError, SIGNATURE_BYTES, body::Body, bounds, compression};
use crate::{
    key::{PublicKey, Purpose, Signature},
    limits,
    page::Entry,
};

/// A package with checked signature and hash; the body is still compressed.
#[derive(Debug)]
pub struct Package<'a> {
    header: Header,
    body: &'a [u8],
}

/// Checks size, format, signature and hash, in this order, and inflates nothing.
pub fn open<'a>(bytes: &'a [u8], key: &PublicKey) -> Result<Package<'a>, PackageError> {
    if bytes.len() > limits::PACKAGE_BYTES {
        return Err(PackageError::TooLarge(bytes.len()));
    }
    let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or(PackageError::Magic)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(PackageError::Truncated)?;
    let length = u32::from_be_bytes(*length) as usize;
    if length > limits::PACKAGE_HEADER_BYTES {
        return Err(PackageError::HeaderTooLarge(length));
    }
    let (json, rest) = rest.split_at_checked(length).ok_or(PackageError::Truncated)?;
    let (signature, body) =
        rest.split_at_checked(SIGNATURE_BYTES).ok_or(PackageError::Truncated)?;
    let signature = Signature::from_bytes(signature).map_err(PackageError::Signature)?;
    key.verify(Purpose::Package, json, &signature).map_err(PackageError::Signature)?;
    let header: Header = serde_json::from_slice(json).map_err(PackageError::Header)?;
    check(&header, body)?;
    Ok(Package { header, body })
}

fn check(header: &Header, body: &[u8]) -> Result<(), PackageError> {
    if HEXLOWER.encode(&Sha256::digest(body)) != header.body_sha256 {
        return Err(PackageError::BodyHash);
    }
    if header.entries > limits::PACKAGE_ENTRIES {
        return Err(PackageError::TooManyEntries(header.entries));
    }
    // An honest header is enough to refuse a bomb before it is inflated.
    let most = most_plain_bytes(body.len() as u64);
    if header.plain_bytes > most { Err(PackageError::Bomb(most)) } else { Ok(()) }
}

fn most_plain_bytes(compressed: u64) -> u64 {
    (compressed * limits::PACKAGE_RATIO)
        .clamp(limits::PACKAGE_RATIO_FLOOR, limits::PACKAGE_PLAIN_BYTES)
}

impl<'a> Package<'a> {
    /// The signed header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Iterates over the entries, with normalised URLs; the last item is an error when the body
    /// does not agree with the header.
    pub fn entries(&self) -> Result<Entries<'a>, PackageError> {
        let Header { plain_bytes, entries: promised, .. } = self.header;
        let inflated = compression::reader(self.body).map_err(PackageError::Inflate)?;
        let body = Body::new(inflated, plain_bytes);
        Ok(Entries { body, promised, found: 0, is_over: false })
    }
}

/// Iterator over the entries of a package, in bounded memory.
pub struct Entries<'a> {
    body: Body<'a>,
    promised: u32,
    found: u32,
    is_over: bool,
}

impl Entries<'_> {
    fn read(&mut self) -> Result<Option<Entry>, PackageError> {
        let promised = self.promised;
        let Some(entry) = self.body.take()? else { return self.end() };
        self.found += 1;
        let number = self.found;
        if number > promised {
            return Err(PackageError::EntryCount { promised, found: number });
        }
        bounds::check(&entry).map_err(|source| PackageError::Value { number, source })?;
        Ok(Some(normalised(entry)))
    }

    fn end(&self) -> Result<Option<Entry>, PackageError> {
        let promised = self.promised;
        let found = self.found;
        if promised == found { Ok(None) } else { Err(PackageError::EntryCount { promised, found }) }
    }
}

/// The entry with the URL of its fetch as [`CrawlUrl`] writes it: `http://a.example\@b.example/` is
/// a page of `a.example`, but a reader of the text may take it for one of `b.example`. A text that
/// is no URL for a crawler stays as it is; no host is found for it.
fn normalised(mut entry: Entry) -> Entry {
    if let Entry::Fetch(fetch) = &mut entry
        && let Ok(url) = CrawlUrl::parse(&fetch.url)
    {
        url.as_str().clone_into(&mut fetch.url);
    }
    entry
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, PackageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let item = self.read().transpose();
        self.is_over = !matches!(item, Some(Ok(_)));
        item
    }
}
