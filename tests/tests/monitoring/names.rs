//! Names of metrics in expressions, documents and dashboards.

use serde_json::Value;

/// Beginning of the names of our metrics.
const PREFIX: &str = "nearcrawl_";

/// Endings of the time series of one histogram.
const SERIES: [&str; 3] = ["_bucket", "_count", "_sum"];

/// The metrics of ours that a text names, with repetitions.
pub(crate) fn metrics(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    words.filter(|word| word.starts_with(PREFIX)).map(str::to_owned)
}

/// The name under which the guides explain a time series: that of its histogram, or its own.
pub(crate) fn family(name: &str) -> &str {
    SERIES.into_iter().find_map(|series| name.strip_suffix(series)).unwrap_or(name)
}

/// Every `expr` in a dashboard, its variables replaced by their defaults.
pub(crate) fn expressions(dashboard: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(dashboard, &mut found);
    for expression in &mut found {
        for variable in dashboard["templating"]["list"].as_array().into_iter().flatten() {
            if let (Some(name), Some(value)) =
                (variable["name"].as_str(), variable["query"].as_str())
            {
                *expression = expression.replace(&format!("${name}"), value);
            }
        }
        *expression = expression.replace("$__rate_interval", "1m");
    }
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| collect(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

#[test]
fn names_are_found_and_variables_replaced() {
    let expression = "rate(nearcrawl_a_total{job=~\"$jobs\"}[$__rate_interval]) > 2 * up";
    let dashboard = serde_json::json!({
        "panels": [{ "targets": [{ "expr": expression }] }],
        "templating": { "list": [{ "name": "jobs", "query": "x" }] },
    });
    let found = expressions(&dashboard);
    assert_eq!(found, ["rate(nearcrawl_a_total{job=~\"x\"}[1m]) > 2 * up"]);
    assert_eq!(metrics(&found[0]).collect::<Vec<_>>(), ["nearcrawl_a_total"]);
    assert_eq!(family("nearcrawl_wait_seconds_bucket"), "nearcrawl_wait_seconds");
}
