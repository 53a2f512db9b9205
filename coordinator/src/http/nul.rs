//! NUL characters: Postgres can hold them neither in text nor in JSON, so no request may contain
//! one. The extractors check this for all handlers.

use serde_json::Value;

/// The broken rule, for the problem document.
pub(super) const RULE: &str = "must not contain the character U+0000";

/// How JSON writes the character. Unescaped it is no JSON, so the parser refuses it.
const ESCAPED: &[u8] = b"\\u0000";

/// The first field of a JSON body that contains NUL, such as `urls[3]`.
pub(super) fn field_of_json(json: &[u8]) -> Option<String> {
    // Almost no body contains the escape; the others are not parsed a second time.
    if !json.windows(ESCAPED.len()).any(|window| window == ESCAPED) {
        return None;
    }
    let value: Value = serde_json::from_slice(json).ok()?;
    field_of_value(&value, "")
}

fn field_of_value(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then(|| path.to_owned()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| field_of_value(item, &format!("{path}[{index}]"))),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            let name = name.replace('\0', "\u{fffd}");
            let path = if path.is_empty() { name } else { format!("{path}.{name}") };
            field_of_value(field, &path)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The first parameter of a query string that contains NUL.
pub(super) fn parameter_of_query(query: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let (name, _) = pairs.find(|(name, value)| name.contains('\0') || value.contains('\0'))?;
    Some(name.replace('\0', "\u{fffd}"))
}

/// Whether the encoded path of a request contains NUL.
pub(super) fn is_in_path(path: &str) -> bool {
    path.contains("%00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_by_its_path() {
        let of = |json: &str| field_of_json(json.as_bytes());
        assert_eq!(of(r#"{"name":"a\u0000b"}"#).as_deref(), Some("name"));
        assert_eq!(of(r#"{"a":{"urls":["x","\u0000"]}}"#).as_deref(), Some("a.urls[1]"));
        assert_eq!(of(r#"["\u0000"]"#).as_deref(), Some("[0]"));
    }

    /// The escape of a backslash before `u0000` is no NUL.
    #[test]
    fn other_text_is_left_alone() {
        for json in [r#"{"name":"a\\u0000"}"#, r#"{"name":"u0000"}"#, "{", r#"{"n":0}"#] {
            assert_eq!(field_of_json(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn a_parameter_is_named() {
        assert_eq!(parameter_of_query("a=1&q=x%00y").as_deref(), Some("q"));
        assert_eq!(parameter_of_query("q=%2500"), None);
    }
}
