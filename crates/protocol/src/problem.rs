//! Problem documents (RFC 9457) of the coordinator, by which an agent tells its answers from those
//! of proxies in between.

/// Media type of a problem document.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Start of `type` in every problem document of a coordinator; the kind of problem follows.
pub const TYPE_PREFIX: &str = "urn:nearcrawl:problem:";

/// Kinds of problem that say more to an agent than their status does.
pub mod kind {
    /// 401: the nonce has expired or was used; the next one may be good.
    pub const NONCE: &str = "nonce";
    /// 401: the session is over or is not known; the agent opens another one.
    pub const NO_SESSION: &str = "no-session";
    /// 401: signed with another key than that of the enrolment.
    pub const SIGNATURE: &str = "signature";
    /// 403: an admin has not approved the agent, or has paused it.
    pub const NOT_APPROVED: &str = "not-approved";
    /// 403: the agent was revoked or deregistered.
    pub const REVOKED: &str = "revoked";
    /// 404: the coordinator has no such agent.
    pub const UNKNOWN_AGENT: &str = "unknown-agent";
    /// 409: the clocks of agent and coordinator differ too much for an enrolment.
    pub const CLOCK_OFF: &str = "clock-off";
    /// 409: another package was received under this number.
    pub const PACKAGE_CONFLICT: &str = "package-conflict";
    /// 426: the programs speak different versions of the protocol.
    pub const PROTOCOL_VERSION: &str = "protocol-version";
}
