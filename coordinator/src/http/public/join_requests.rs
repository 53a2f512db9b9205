//! The public form by which a partner asks to host an agent. Strangers reach it, so that every
//! field is bounded, and so are the requests of a network and those that wait.

use axum::extract::State;
use axum::http::StatusCode;
use delegation::places::{CityError, city};
use hierarchy::Country;
use model::{JoinRequestId, Span, is_contact};
use serde::{Deserialize, Serialize};
use store::join_requests::{self, EntryOutcome, Limits, New};
use utoipa::ToSchema;

use crate::http::admin::session::ClientAddress;
use crate::http::extract::{Json, PUBLIC_BODY_MAX, Validate};
use crate::http::network::Network;
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;

/// Requests of one network and of one IPv6 site in an hour, and undecided requests in all.
const LIMITS: Limits = Limits { per_network: 3, per_site: 9, window_ms: 3_600_000, waiting: 200 };
/// Spans of one request.
const SPANS_MAX: usize = 14;
/// Longest message, in characters.
const MESSAGE_MAX: usize = 1_000;

/// A request to host an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJoinRequest {
    /// Person, organisation or machine.
    #[schema(min_length = 1, max_length = 100, example = "Example University, library")]
    pub name: String,
    /// Mail address, or web page with the prefix http:// or https://, at which the operator answers
    /// and webmasters reach the owner of the machine.
    #[schema(min_length = 3, max_length = 200, example = "crawler@example.edu")]
    pub contact: String,
    /// City in which the machine is, with a country where several have such a city; may be empty.
    #[schema(max_length = 100, example = "Nicosia, CY")]
    #[serde(default)]
    pub place: String,
    /// IANA time zone of the spans.
    #[schema(max_length = 100, example = "Europe/Nicosia")]
    pub zone: String,
    /// Hours in which the agent may work, at most 14 spans; none means always.
    #[schema(example = json!(["mon-fri 22:00-06:00", "sat-sun 00:00-24:00"]))]
    #[serde(default)]
    pub spans: Vec<String>,
    /// What the operator should know; may be empty.
    #[schema(max_length = 1000)]
    #[serde(default)]
    pub message: String,
}

impl Validate for NewJoinRequest {
    const MOST_BYTES: Option<usize> = Some(PUBLIC_BODY_MAX);

    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        errors.extend(FieldError::of_line("name", &self.name, 1, 100));
        errors.extend(contact_error(&self.contact));
        errors.extend(place_error(&self.place));
        errors.extend(zone_error(&self.zone));
        errors.extend(spans_error(&self.spans));
        let is_text = |c: char| c == '\n' || !c.is_control();
        if self.message.chars().count() > MESSAGE_MAX || !self.message.chars().all(is_text) {
            let rule = format!("give at most {MESSAGE_MAX} characters without control characters");
            errors.push(FieldError::new("message", rule));
        }
        errors
    }
}

/// The agent accepts only cities that it knows, so an unknown one is refused here already.
fn place_error(place: &str) -> Option<FieldError> {
    if let Some(error) = FieldError::of_line("place", place, 0, 100) {
        return Some(error);
    }
    let text = place.trim();
    if text.is_empty() {
        return None;
    }
    let parts = text.rsplit_once(',').map(|(name, code)| (name, code.trim().parse().ok()));
    let (name, country) = match parts {
        Some((name, Some(country))) => (name, Some(country)),
        _ => (text, None),
    };
    let rule = match city(name, country) {
        Ok(_) => return None,
        Err(CityError::Unknown) => {
            "this city is not known: give a larger one nearby, alone or with the two letters \
             of its country, as in London, GB; or none"
                .to_owned()
        }
        Err(CityError::InSeveralCountries(countries)) => {
            let codes: Vec<&str> = countries.iter().map(Country::as_str).collect();
            format!(
                "several countries have it: add one of {}, as in {name}, {}",
                codes.join(", "),
                codes.first().copied().unwrap_or_default()
            )
        }
    };
    Some(FieldError::new("place", rule))
}

/// The owner of a web site that an agent visits must be able to write to a person.
fn contact_error(contact: &str) -> Option<FieldError> {
    let contact = contact.trim();
    let is_page = ["https://", "http://"].iter().any(|scheme| {
        contact.strip_prefix(scheme).is_some_and(|rest| rest.contains('.') && rest.len() > 3)
    });
    let is_mail = contact
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'));
    // The agent's configuration, which the invitation makes of it, has a URL.
    let has_scheme = contact.contains("://") || contact.starts_with("mailto:");
    let url = if has_scheme { contact.to_owned() } else { format!("mailto:{contact}") };
    let is_usable = (is_page || is_mail) && is_contact(&url) && contact.len() <= 200;
    let rule = "give a mail address such as crawler@example.org, or a web page that begins with \
                https://, in at most 200 characters of ASCII (international names as xn--…)";
    (!is_usable).then(|| FieldError::new("contact", rule))
}

/// The agent checks the zone with its own list of zones; here only its form counts.
fn zone_error(zone: &str) -> Option<FieldError> {
    let is_zone = (1..=100).contains(&zone.len())
        && zone.bytes().all(|b| b.is_ascii_alphanumeric() || b"_/+-".contains(&b));
    (!is_zone).then(|| FieldError::new("zone", "give a name such as Europe/Nicosia or UTC"))
}

fn spans_error(spans: &[String]) -> Option<FieldError> {
    if spans.len() > SPANS_MAX {
        return Some(FieldError::new("spans", format!("give at most {SPANS_MAX} spans")));
    }
    let wrong = spans.iter().find_map(|span| {
        let is_long = span.len() > 100;
        let parsed: Result<Span, _> = span.parse();
        if is_long {
            Some("a span is too long".to_owned())
        } else {
            Some(parsed.err()?.to_string())
        }
    });
    wrong.map(|rule| FieldError::new("spans", rule))
}

/// A request that waits for an admin.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnteredJoinRequest {
    /// Identifier of the request, to name it to the operator.
    #[schema(value_type = String, example = "jrq_3")]
    pub id: JoinRequestId,
}

/// Ask to host an agent. An admin decides, and sends a one-time link to the contact.
#[utoipa::path(post, path = "/api/v1/join-requests", operation_id = "create_join_request",
    tag = "joining", request_body = NewJoinRequest,
    responses((status = 201, body = EnteredJoinRequest)))]
pub async fn create(
    State(state): State<ApiState>,
    ClientAddress(from): ClientAddress,
    Json(request): Json<NewJoinRequest>,
) -> Result<(StatusCode, Json<EnteredJoinRequest>), Problem> {
    let new = New {
        name: request.name.trim(),
        contact: request.contact.trim(),
        place: request.place.trim(),
        zone: &request.zone,
        spans: &request.spans,
        message: request.message.trim(),
        network: Network::from(from).address(),
    };
    let core = &state.core;
    match join_requests::create(&core.store, &new, LIMITS, core.now()).await? {
        EntryOutcome::Entered(id) => Ok((StatusCode::CREATED, Json(EnteredJoinRequest { id }))),
        EntryOutcome::NetworkFull => {
            let detail = format!(
                "Your network has sent {} requests within an hour; try again later, or write to \
                 the operator.",
                LIMITS.per_network
            );
            Err(Problem::too_many(detail, 3_600))
        }
        EntryOutcome::QueueFull => Err(Problem::unavailable(
            "Too many requests wait for an answer; try again in a few days, or write to the \
             operator.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> NewJoinRequest {
        NewJoinRequest {
            name: "Library".into(),
            contact: "crawler@example.edu".into(),
            place: String::new(),
            zone: "Europe/Nicosia".into(),
            spans: vec!["mon-fri 22:00-06:00".into()],
            message: "two\nlines".into(),
        }
    }

    fn refused(request: &NewJoinRequest) -> Vec<String> {
        request.errors().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn a_request_with_all_fields_is_taken() {
        assert_eq!(refused(&request()), [""; 0]);
        let page = NewJoinRequest { contact: "https://example.edu/c".into(), ..request() };
        assert_eq!(refused(&page), [""; 0]);
    }

    #[test]
    fn every_field_is_bounded_and_named() {
        let long = "x".repeat(1_001);
        let wrong = NewJoinRequest {
            name: "  ".into(),
            contact: "example.edu".into(),
            place: "Nico\nsia".into(),
            zone: "not a zone".into(),
            spans: vec!["mon-fri 22:00".into()],
            message: long,
        };
        let fields = ["name", "contact", "place", "zone", "spans", "message"];
        assert_eq!(refused(&wrong), fields);
        let many = NewJoinRequest { spans: vec!["mon 01:00-02:00".into(); 15], ..request() };
        assert_eq!(refused(&many), ["spans"]);
    }

    #[test]
    fn a_city_is_one_that_the_agent_accepts() {
        for place in ["", "Nicosia", "nicosia, cy", "London, GB"] {
            assert!(place_error(place).is_none(), "{place}");
        }
        assert!(place_error("Atlantis").is_some());
        let several = place_error("London").unwrap().message;
        assert!(several.contains("GB") && several.contains("CA"), "{several}");
    }

    #[test]
    fn a_contact_is_an_address_to_which_somebody_can_write() {
        for contact in [
            "@example.org",
            "a@b",
            "a b@example.org",
            "ftp://example.org",
            "https://",
            "info@münchen.example",
            "https://münchen.example/",
            "ssh://crawler@example.org",
        ] {
            assert!(contact_error(contact).is_some(), "{contact}");
        }
    }
}
