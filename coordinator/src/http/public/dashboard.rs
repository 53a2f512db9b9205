//! The dashboard's files, embedded in this binary.
//!
//! A path that names no file returns the index page, whose router shows the right page. Paths under
//! `/api` and `/assets`, and paths that end like a file, are 404 instead of a page.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::http::problem::Problem;

/// `stub`, or the first twelve hex digits of the built dashboard's hash.
pub const VERSION: &str = env!("NEARCRAWL_DASHBOARD");

const INDEX: &str = "index.html";

/// Endings of files that browsers request by themselves. Pages may be named after addresses and
/// hosts, which contain dots too, so a dot alone does not make a file.
const FILE_EXTENSIONS: [&str; 14] = [
    "js",
    "mjs",
    "css",
    "map",
    "svg",
    "png",
    "ico",
    "json",
    "txt",
    "xml",
    "woff2",
    "html",
    "php",
    "webmanifest",
];

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/dashboard"]
struct Files;

/// Serves every path that is not the API's.
pub async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return not_found(uri.path());
    }
    let path = uri.path().trim_start_matches('/');
    let name = if path.is_empty() { INDEX } else { path };
    match Files::get(name).map(|file| (name, file)).or_else(|| page(path)) {
        Some((name, file)) => response(name, file, &headers),
        None => not_found(uri.path()),
    }
}

fn not_found(path: &str) -> Response {
    let path: String = path.chars().take(200).collect();
    Problem::not_found(format!("There is nothing at {path}.")).into_response()
}

/// The index page, for paths that may be a page of the dashboard.
fn page(path: &str) -> Option<(&'static str, EmbeddedFile)> {
    let folder = path.split('/').next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    if matches!(folder, "api" | "assets") || FILE_EXTENSIONS.contains(&extension) {
        return None;
    }
    Files::get(INDEX).map(|file| (INDEX, file))
}

fn response(name: &str, file: EmbeddedFile, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", HEXLOWER.encode(&file.metadata.sha256_hash()[..16]));
    // Names under assets/ contain a hash of the content, so those files never change.
    let caching = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let fresh = known.is_some_and(|known| {
        known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
    });
    let (status, body) = if fresh {
        (StatusCode::NOT_MODIFIED, Cow::Borrowed(&[][..]))
    } else {
        (StatusCode::OK, file.data)
    };
    let mut response = (status, body.into_owned()).into_response();
    let fields = [
        (header::CONTENT_TYPE, media_type(name)),
        (header::CACHE_CONTROL, caching),
        (header::ETAG, tag.as_str()),
    ];
    for (field, value) in fields {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(field, value);
        }
    }
    response
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}
