//! Enrolment: once in an agent's life.

use protocol::enrol::{EnrolAnswer, EnrolRequest};

use super::{LinkError, Wire};

/// Shows the join token and the key; the answer says who the agent is from now on. Enrolling the
/// same key again is harmless.
pub async fn enrol(wire: &Wire, request: &EnrolRequest) -> Result<EnrolAnswer, LinkError> {
    wire.post("enrol", request).await
}
