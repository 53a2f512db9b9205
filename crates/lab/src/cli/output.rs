//! How a report is printed.

use serde::Serialize;
use serde_json::Value;

/// One JSON object on one line, or lines of `name value`.
pub(crate) fn print(report: &impl Serialize, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(report)?);
    } else {
        show("", &serde_json::to_value(report)?);
    }
    Ok(())
}

fn show(path: &str, value: &Value) {
    let inner =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| show(&inner(name), value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| show(&inner(&n.to_string()), item));
        }
        value => println!("{path:36} {value}"),
    }
}
