//! Enrolment: once in an agent's life.

use protocol::enrol::{EnrolRequest, EnrolResponse};

use super::{LinkError, Wire};

/// Shows the join token and the key; the answer says who the agent is from now on. Enrolling the
/// same key again is harmless.
pub async fn enrol(wire: &Wire, request: &EnrolRequest) -> Result<EnrolResponse, LinkError> {
    wire.post("enrol", request).await
}
