//! The pages of the dashboard, as they were built into this binary.
//!
//! A path that names no file is a page of the dashboard, which finds its way by itself; but what
//! looks like a file, and whatever is under `/api` or `/assets`, is 404 rather than a page in
//! disguise.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::http::problem::Problem;

/// `stub`, or the first twelve hex digits of the built dashboard's hash.
pub const DASHBOARD: &str = env!("NEARCRAWL_DASHBOARD");

const INDEX: &str = "index.html";

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/dashboard"]
struct Files;

/// Whatever is not the API.
pub async fn pages(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return nothing(uri.path());
    }
    let path = uri.path().trim_start_matches('/');
    let name = if path.is_empty() { INDEX } else { path };
    match Files::get(name).map(|file| (name, file)).or_else(|| page(path)) {
        Some((name, file)) => answer(name, file, &headers),
        None => nothing(uri.path()),
    }
}

fn nothing(path: &str) -> Response {
    let path: String = path.chars().take(200).collect();
    Problem::not_found(format!("There is nothing at {path}.")).into_response()
}

/// The dashboard, for paths that may be one of its rooms.
fn page(path: &str) -> Option<(&'static str, EmbeddedFile)> {
    let room = path.split('/').next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    // Rooms may be named after addresses and hosts, which have dots too; what a browser fetches by
    // itself has these endings.
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let like_a_file = matches!(
        extension,
        "js" | "mjs"
            | "css"
            | "map"
            | "svg"
            | "png"
            | "ico"
            | "json"
            | "txt"
            | "xml"
            | "woff2"
            | "html"
            | "php"
            | "webmanifest"
    );
    if matches!(room, "api" | "assets") || like_a_file {
        return None;
    }
    Files::get(INDEX).map(|file| (INDEX, file))
}

fn answer(name: &str, file: EmbeddedFile, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", HEXLOWER.encode(&file.metadata.sha256_hash()[..16]));
    // Files under assets/ have their hash in their name and never change.
    let keep = if name.starts_with("assets/") {
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
        (header::CACHE_CONTROL, keep),
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
