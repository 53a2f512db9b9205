//! Tables and lines of answers of the API.

use serde_json::Value;

use crate::startup::output::print_line;

/// A column: its heading, and where its value is in an item.
pub(super) type Column = (&'static str, &'static str);

/// Prints a table with columns as wide as their content.
pub(super) fn table(items: &[Value], columns: &[Column]) {
    let head = columns.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let mut rows: Vec<Vec<String>> = vec![head];
    rows.extend(
        items.iter().map(|item| columns.iter().map(|(_, path)| cell(item.pointer(path))).collect()),
    );
    for row in aligned(&rows) {
        print_line(row);
    }
}

/// The rows with their cells padded to the widest of each column; the last is not padded.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.first().map_or(0, Vec::len);
    let width = |n: usize| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => plain(text),
        Some(Value::Array(items)) if items.is_empty() => "-".to_owned(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| cell(Some(item))).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

/// `text` without what a terminal obeys. Parts of answers come from agents and from the web.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Prints the steps of an explanation, one a line.
pub(super) fn explanation(answer: &Value) {
    let text = |value: &Value| plain(value.as_str().unwrap_or_default());
    print_line(format_args!("{}: {}", text(&answer["subject"]), text(&answer["conclusion"])));
    for step in answer["steps"].as_array().into_iter().flatten() {
        let name = text(&step["step"]);
        let state = text(&step["state"]);
        print_line(format_args!(
            "{name:<11} {state:<8} {} {}",
            text(&step["at"]),
            text(&step["sentence"])
        ));
        if let Some(advice) = step["advice"].as_str() {
            print_line(format_args!("{:<20} {}", "", plain(advice)));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_aligned_and_control_characters_are_left_out() {
        let rows = [vec!["ID".to_owned(), "NAME".to_owned()], vec!["agt_12".into(), "cs".into()]];
        assert_eq!(aligned(&rows), ["ID      NAME", "agt_12  cs"]);
        assert_eq!(cell(Some(&json!("a\u{1b}[31m\u{9b}2J"))), "a [31m 2J");
        assert_eq!(cell(Some(&json!(["a", "b"]))), "a, b");
        assert_eq!([cell(None), cell(Some(&Value::Null)), cell(Some(&json!(3)))], ["-", "-", "3"]);
    }
}
