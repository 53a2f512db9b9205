//! Checks the mirrors of registries' files.

use std::collections::BTreeMap;

use hierarchy::Registry;
use url::Url;

use crate::runtime::config::Registries;
use crate::runtime::failure::Failure;

/// Refuses what the loader would refuse at the next refresh, which may be in three months.
pub(super) fn check(registries: &Registries) -> Result<(), Failure> {
    let keys = [("mirrors", &registries.mirrors), ("whois_mirrors", &registries.whois_mirrors)];
    for (key, mirrors) in keys {
        check_key(key, mirrors)?;
    }
    Ok(())
}

fn check_key(key: &str, mirrors: &BTreeMap<String, String>) -> Result<(), Failure> {
    for (registry, url) in mirrors {
        if registry.parse::<Registry>().is_err() {
            let known = Registry::ALL.map(Registry::as_str).join(", ");
            return Err(Failure::configuration(format!(
                "[registries] {key}.{registry}: there is no such registry; known are {known}"
            )));
        }
        if !is_web(url) {
            return Err(Failure::configuration(format!(
                "[registries] {key}.{registry} must be an http or https URL, such as \
                 \"https://mirror.example.org/ripe/\""
            )));
        }
    }
    Ok(())
}

fn is_web(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_web_servers_of_registries() {
        let with = |registry: &str, url: &str| BTreeMap::from([(registry.into(), url.into())]);
        let good = with("ripencc", "https://mirror.example.org/ripe");
        let told = |registries: Registries| check(&registries).map_err(|error| error.to_string());
        assert_eq!(told(Registries { mirrors: good, ..Registries::default() }), Ok(()));
        let wrong = [
            (with("ripe", "https://mirror.example.org/"), "no such registry"),
            (with("apnic", "mirror.example.org"), "http or https"),
            (with("apnic", "ftp://mirror.example.org/"), "http or https"),
        ];
        for (whois_mirrors, part) in wrong {
            let sentence = told(Registries { whois_mirrors, ..Registries::default() }).unwrap_err();
            assert!(sentence.contains("whois_mirrors") && sentence.contains(part), "{sentence}");
        }
    }
}
