//! Means of figures over several runs.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The mean of each number: field by field, and element by element up to the shortest list. All
/// runs have the same fields; what is not a number is that of the first run.
pub fn mean<Figures, Mean>(runs: &[Figures]) -> serde_json::Result<Mean>
where
    Figures: Serialize,
    Mean: DeserializeOwned,
{
    let values = runs.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
    serde_json::from_value(mean_value(&values.iter().collect::<Vec<_>>()))
}

fn mean_value(runs: &[&Value]) -> Value {
    match runs.first() {
        None => Value::Null,
        Some(Value::Number(_)) => {
            let sum: f64 = runs.iter().filter_map(|run| run.as_f64()).sum();
            Value::from(sum / runs.len() as f64)
        }
        Some(Value::Array(_)) => {
            let lists = runs.iter().filter_map(|run| run.as_array());
            let shortest = lists.map(Vec::len).min().unwrap_or(0);
            (0..shortest).map(|at| mean_value(&parts(runs, at))).collect()
        }
        Some(Value::Object(fields)) => {
            fields.keys().map(|name| (name.clone(), mean_value(&parts(runs, name)))).collect()
        }
        Some(other) => (*other).clone(),
    }
}

/// One field or element of each run.
fn parts<'v>(runs: &[&'v Value], index: impl serde_json::value::Index) -> Vec<&'v Value> {
    runs.iter().filter_map(|run| run.get(&index)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_averaged_wherever_they_are() {
        let runs = [
            json!({ "name": "a", "count": 1, "list": [{ "x": 1.0 }, { "x": 2.0 }] }),
            json!({ "name": "a", "count": 2, "list": [{ "x": 4.0 }] }),
        ];
        let mean: Value = mean(&runs).unwrap();
        assert_eq!(mean, json!({ "name": "a", "count": 1.5, "list": [{ "x": 2.5 }] }));
    }

    #[test]
    fn no_runs_have_no_mean() {
        assert!(mean::<Value, Vec<f64>>(&[]).is_err());
    }
}
