//! Names of companies appear only in few responses and never in bulk, because registries do not
//! allow their WHOIS data to be republished. A new response that names companies fails this test.

use std::collections::BTreeSet;

use serde_json::Value;

/// The operations whose responses name companies: of agents' homes, of delegations, and of the
/// subnets around one address.
const NAMING: [&str; 6] = [
    "/api/v1/agents",
    "/api/v1/agents/{id}",
    "/api/v1/delegations",
    "/api/v1/delegations/{id}",
    "/api/v1/delegations/{id}/explanation",
    "/api/v1/hierarchy/{address}",
];

/// Most items of a page.
const PAGE: u64 = 500;

fn document() -> Value {
    // A test beside the routes holds that the program serves this document.
    serde_json::from_str(include_str!("../../openapi.json")).unwrap()
}

/// True when a value of this schema contains the name of a company.
fn names_a_company(document: &Value, schema: &Value, visited: &mut BTreeSet<String>) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        let new = visited.insert(name.to_owned());
        return new && names_a_company(document, &document["components"]["schemas"][name], visited);
    }
    let is_text = |field: &Value| field["type"].to_string().contains("string");
    if schema["properties"].get("company").is_some_and(is_text) {
        return true;
    }
    match schema {
        Value::Object(fields) => {
            fields.values().any(|field| names_a_company(document, field, visited))
        }
        Value::Array(several) => several.iter().any(|one| names_a_company(document, one, visited)),
        _ => false,
    }
}

#[test]
fn companies_are_named_in_few_responses_and_never_in_bulk() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let gets = paths.iter().filter_map(|(path, item)| Some((path.as_str(), item.get("get")?)));
    let naming: Vec<_> = gets
        .filter(|(_, get)| names_a_company(&document, &get["responses"], &mut BTreeSet::new()))
        .collect();
    assert_eq!(naming.iter().map(|(path, _)| *path).collect::<Vec<_>>(), NAMING);
    for (path, get) in naming.iter().filter(|(path, _)| !path.contains('{')) {
        let parameters = get["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|parameter| parameter["name"] == "limit").unwrap();
        assert_eq!(limit["schema"]["maximum"], PAGE, "{path}");
        assert!(
            get["security"].as_array().is_some_and(|by| !by.is_empty()),
            "{path} needs a session"
        );
    }
}
