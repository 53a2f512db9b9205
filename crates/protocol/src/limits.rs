//! Bounds that protect a reader from the other side, well above what honest senders need.

/// Largest JSON body of the agent API, in bytes.
pub const JSON_BODY_BYTES: usize = 1 << 20;
/// Largest package on the wire, in bytes.
pub const PACKAGE_BYTES: usize = 16 << 20;
/// Largest package header, in bytes.
pub const PACKAGE_HEADER_BYTES: usize = 4 << 10;
/// Largest package body once inflated, in bytes.
pub const PACKAGE_PLAIN_BYTES: u64 = 128 << 20;
/// Largest ratio of inflated to compressed body, once [`PACKAGE_RATIO_FLOOR`] is passed.
pub const PACKAGE_RATIO: u64 = 200;
/// Inflated size below which the ratio is not checked, in bytes.
pub const PACKAGE_RATIO_FLOOR: u64 = 1 << 20;
/// Most entries in a package.
pub const PACKAGE_ENTRIES: u32 = 50_000;
/// Largest block of a package, in bytes. The content of a page takes at most half of it.
pub const BLOCK_BYTES: usize = 4 << 20;
/// Most links of a page.
pub const PAGE_LINKS: u32 = 10_000;
/// Largest body of one fetch on the wire, in bytes. Owners' limits are some megabytes.
pub const FETCH_WIRE_BYTES: u64 = 1 << 40;
/// Largest slowdown of a page: its recent time over its usual time.
pub const SLOWDOWN: f64 = 1e6;
/// Most routes in one heartbeat's answer.
pub const ROUTES_PER_HEARTBEAT: usize = 1_000;
/// Largest step from the number of one route to that of the next.
pub const ROUTE_GAP: u64 = 1 << 32;
/// Most probe orders in one heartbeat's answer.
pub const PROBES_PER_HEARTBEAT: usize = 100;
/// Most host orders in one heartbeat's answer.
pub const HOST_ORDERS_PER_HEARTBEAT: usize = 1_000;
/// Accepted host orders in a heartbeat from which on its answer brings no others.
pub const HOST_ORDERS_UNDERWAY: usize = 20_000;
/// Most host bundles that one heartbeat's answer offers.
pub const BUNDLES_PER_HEARTBEAT: usize = 20;
/// Largest host bundle on the wire, in bytes. Hosts with a larger one are handed back URL by URL.
pub const BUNDLE_BYTES: usize = PACKAGE_BYTES;
/// Most questions about URLs in one heartbeat's answer, and most answers in the next request.
pub const QUESTIONS_PER_HEARTBEAT: usize = 20;
/// Longest sleep that an agent announces, in milliseconds. Spans repeat every week, so that the
/// next one begins within 8 days. An agent without a next span announces a longer sleep, which
/// counts as this one.
pub const SLEEP_MS: i64 = 8 * 24 * 3_600_000;
/// Largest value of a counter in a status: the largest integer that JSON carries exactly.
pub const COUNTER: u64 = (1 << 53) - 1;
/// Longest time for which a heartbeat may be held open, in milliseconds.
pub const HEARTBEAT_HOLD_MS: u32 = 25_000;
/// Largest difference between an agent's clock and the coordinator's, in milliseconds.
pub const CLOCK_OFF_MS: u64 = 10 * 60 * 1_000;
/// Lifetime of a session token, in seconds.
pub const SESSION_SECONDS: u32 = 600;
