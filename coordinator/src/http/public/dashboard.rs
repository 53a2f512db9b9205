//! The dashboard's files, embedded in this binary.
//!
//! A path that names a page of the dashboard returns the index page, whose router shows the page.
//! Other paths return it with status 404, because it also has the page that says so; paths under
//! `/api` and `/assets`, and paths that end like a file, are a problem document instead.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::http::problem::Problem;

/// `stub`, or the first twelve hex digits of the built dashboard's hash.
pub const VERSION: &str = env!("NEARCRAWL_DASHBOARD");

const INDEX: &str = "index.html";

/// Pages without a parameter, by the one segment of their path, as in
/// `web-ui/src/routing/route.ts`.
const PAGES: [&str; 20] = [
    "",
    "sign-in",
    "overview",
    "inspector",
    "agents",
    "delegations",
    "hosts",
    "errors",
    "constraints",
    "hidden",
    "hierarchy",
    "seeds",
    "policy",
    "accounts",
    "audit",
    "crawler",
    "host-an-agent",
    "invitation",
    "regions",
    "maps",
];

/// Crawlers of others find the page about this crawler and nothing to search.
const ROBOTS: &str = "\
# The crawler of this installation calls itself nearcrawl. /crawler says what it does and how to
# slow it down or stop it.
User-agent: *
Allow: /crawler$
Allow: /host-an-agent$
Allow: /$
Disallow: /
";

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
    if path == "robots.txt" {
        return ([(header::CONTENT_TYPE, media_type(path))], ROBOTS).into_response();
    }
    let name = if path.is_empty() { INDEX } else { path };
    match Files::get(name).map(|file| (name, file)).or_else(|| page(path)) {
        Some((INDEX, file)) if !is_page(path) => {
            let mut response = response(INDEX, file, &HeaderMap::new());
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
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

/// Whether the dashboard has a page at this path; a trailing slash is ignored.
fn is_page(path: &str) -> bool {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        [] | ["index.html"] => true,
        [page] => PAGES.contains(page),
        ["agents" | "hosts", _id] | ["delegations", _id, "explanation"] => true,
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The pages of the web interface, as its router lists them.
    const ROUTES: &str = include_str!("../../../../web-ui/src/routing/route.ts");

    #[test]
    fn every_page_of_the_router_is_known_here() {
        let (_, from) = ROUTES.split_once("const plain = [").unwrap();
        let (names, _) = from.split_once("] as const").unwrap();
        let listed: BTreeSet<&str> = names.split('\'').skip(1).step_by(2).collect();
        let known: BTreeSet<&str> = PAGES.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(known, listed, "pages of this program, and of the router");
    }

    #[test]
    fn pages_with_a_parameter_are_known() {
        for path in ["", "index.html", "agents", "agents/", "hosts/hst_1"] {
            assert!(is_page(path), "{path}");
        }
        assert!(is_page("delegations/dlg_1/explanation"));
        for path in ["nope", "agents/agt_1/x", "delegations/dlg_1", "constructor"] {
            assert!(!is_page(path), "{path}");
        }
    }
}
