//! Problem documents (RFC 9457) of the coordinator, by which an agent tells its answers from those
//! of proxies in between.

/// Media type of a problem document.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Start of `type` in every problem document of a coordinator; the kind of problem follows.
pub const TYPE_PREFIX: &str = "urn:nearcrawl:problem:";
