use hierarchy::Registry;

use super::*;

fn load(text: &str, args: ServeArgs) -> Result<Config, Failure> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("coordinator.toml");
    std::fs::write(&path, text).expect("the file is written");
    super::load(ServeArgs { config: Some(path), ..args }, || Some(PathBuf::from("/nowhere")))
}

#[test]
fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
    let flag = ServeArgs { listen: Some(([127, 0, 0, 1], 1).into()), ..ServeArgs::default() };
    let config =
        load("listen = '127.0.0.1:2'\nresolver = '127.0.0.1:3'", flag).expect("a configuration");
    assert_eq!(config.listen.port(), 1);
    assert_eq!(config.resolver.map(|r| r.port()), Some(3));
    assert_eq!(config.data_dir, PathBuf::from("/nowhere"));
    assert_eq!(config.limits.orders_per_agent, 8);
}

#[test]
fn an_empty_flag_is_none() {
    let flag = ServeArgs { database_url: Some(String::new()), ..ServeArgs::default() };
    let config = load("database_url = 'postgres://db/nearcrawl'", flag).expect("is valid");
    assert_eq!(config.database_url.as_deref(), Some("postgres://db/nearcrawl"));
    let config = load("database_url = ''", ServeArgs::default()).expect("is valid");
    assert_eq!(config.database_url, None);
}

#[test]
fn a_password_that_is_too_short_or_too_long_is_refused() {
    for (length, is_valid) in [(11, false), (12, true), (256, true), (257, false)] {
        let admin_password = Some("p".repeat(length));
        let loaded = load("", ServeArgs { admin_password, ..ServeArgs::default() });
        assert_eq!(loaded.is_ok(), is_valid, "{length} characters");
    }
}

#[test]
fn an_unknown_key_is_refused_with_its_line() {
    let failure =
        load("\n[limits]\nopen_serches = 3\n", ServeArgs::default()).expect_err("a failure");
    assert_eq!(failure.code(), 64);
    let sentence = failure.to_string();
    assert!(sentence.contains("line 3") && sentence.contains("open_serches"), "{sentence}");
}

#[test]
fn a_missing_file_is_named_with_the_flag_for_another() {
    let args = ServeArgs { config: Some("/nowhere/c.toml".into()), ..ServeArgs::default() };
    let failure = super::load(args, || None).expect_err("a failure");
    assert_eq!(failure.code(), 64);
    let sentence = failure.to_string();
    assert!(sentence.contains("/nowhere/c.toml"), "{sentence}");
    assert!(sentence.contains("--config"), "{sentence}");
}

#[test]
fn the_example_is_a_configuration_with_the_defaults() {
    let example = include_str!("../../../../deploy/coordinator.example.toml");
    let config = load(example, ServeArgs::default()).expect("a configuration");
    assert_eq!(config.registries.refresh_days, 90);
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.regions, RegionRules::default());
}

#[test]
fn proxies_are_addresses_or_prefixes() {
    let config = load("trusted_proxies = ['127.0.0.1', '10.0.0.0/8']", ServeArgs::default());
    assert_eq!(config.expect("a configuration").trusted_proxies.len(), 2);
    let failure =
        load("trusted_proxies = ['proxy.example']", ServeArgs::default()).expect_err("a failure");
    assert!(failure.to_string().contains("proxy.example"), "{failure}");
}

#[test]
fn a_release_key_is_a_public_key() {
    let key = "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w";
    let config = load(&format!("release_key = '{key}'"), ServeArgs::default());
    let parsed = config.expect("a configuration").release_key.map(|key| key.to_string());
    assert_eq!(parsed.as_deref(), Some(key));
    let failure = load("release_key = 'x'", ServeArgs::default()).expect_err("a failure");
    assert_eq!(failure.code(), 64);
    assert!(failure.to_string().contains("release new-key"), "{failure}");
}

#[test]
fn a_split_is_two_prefix_lengths() {
    let config = load("[registries]\nsplit_v4 = '16/22'\nsplit_v6 = '32/40'", ServeArgs::default());
    assert_eq!(config.expect("a configuration").registries.split_v6.as_deref(), Some("32/40"));
    for wrong in ["16", "22/16", "16/33", "/", "a/b", ""] {
        let text = format!("[registries]\nsplit_v4 = '{wrong}'");
        let failure = load(&text, ServeArgs::default()).expect_err(wrong);
        assert!(failure.to_string().contains("split_v4"), "{failure}");
    }
}

#[test]
fn a_contact_is_a_mail_address_or_a_url() {
    let with = |contact: &str| {
        load(&format!("[registries]\ncontact = '{contact}'\n"), ServeArgs::default())
    };
    assert!(with("mailto:noc@example.org").is_ok());
    for wrong in ["", "NOC (example)", "noc of example"] {
        let failure = with(wrong).expect_err(wrong);
        assert!(failure.to_string().contains("[registries] contact"), "{failure}");
    }
}

#[test]
fn a_mirror_is_a_web_server_of_a_registry() {
    let with = |line: &str| load(&format!("[registries]\n{line}\n"), ServeArgs::default());
    let good = with("mirrors.ripencc = 'https://mirror.example.org/ripe'").expect("a mirror");
    let url = good.registries.mirrors.get(&Registry::RipeNcc).map(ToString::to_string);
    assert_eq!(url.as_deref(), Some("https://mirror.example.org/ripe"));
    for (wrong, part) in [
        ("mirrors.ripe = 'https://mirror.example.org/'", "`ripencc`"),
        ("whois_mirrors.apnic = 'mirror.example.org'", "apnic must be an http or https URL"),
        ("whois_mirrors.apnic = 'ftp://mirror.example.org/'", "must be an http or https URL"),
    ] {
        let sentence = with(wrong).expect_err(wrong).to_string();
        assert!(sentence.contains("line 2") && sentence.contains(part), "{sentence}");
    }
}

#[test]
fn the_public_url_decides_about_cookies() {
    let secure = |text: &str| {
        load(text, ServeArgs::default()).map(|config| config.has_secure_cookies()).ok()
    };
    for (text, expected) in [
        ("", Some(false)),
        ("public_url = 'https://search.example.org'", Some(true)),
        ("public_url = 'http://localhost:8420'", Some(false)),
        ("public_url = 'http://[::1]:8420'", Some(false)),
        ("public_url = 'http://search.example.org'", None),
        ("public_url = 'search.example.org'", None),
        ("listen = '192.0.2.1:8420'", Some(true)),
        ("trusted_proxies = ['127.0.0.1']", Some(true)),
    ] {
        assert_eq!(secure(text), expected, "{text}");
    }
}

#[test]
fn prefixes_of_unregistered_space_are_bounded() {
    let config = load("", ServeArgs::default()).expect("a configuration");
    let lengths = config.registries.prefix_lengths();
    assert_eq!((lengths.v4, lengths.v6), (22, 44));
    for (key, length) in [("unregistered_v4", 15), ("unregistered_v6", 129)] {
        let text = format!("[registries]\n{key} = {length}\n");
        let failure = load(&text, ServeArgs::default()).expect_err("a failure");
        assert!(failure.to_string().contains(key), "{failure}");
    }
}

#[test]
fn a_limit_of_nothing_is_refused_by_name() {
    let failure = load("[limits]\nlease_s = 0\n", ServeArgs::default()).expect_err("a failure");
    assert!(failure.to_string().contains("lease_s"), "{failure}");
}

#[test]
fn the_database_needs_connections_besides_those_of_the_listeners() {
    let with = |count: u32| {
        load(&format!("[limits]\ndatabase_connections = {count}\n"), ServeArgs::default())
    };
    assert!(with(LEAST_DATABASE_CONNECTIONS).is_ok());
    let failure = with(LEAST_DATABASE_CONNECTIONS - 1).expect_err("a failure");
    assert_eq!(failure.code(), 64);
    let sentence = failure.to_string();
    for part in ["database_connections", "at least 6", "listeners"] {
        assert!(sentence.contains(part), "{sentence}");
    }
}

#[test]
fn regions_that_could_not_work_are_refused() {
    for (text, parts) in [
        ("[regions]\nloan_hours = 0\n", ["[regions]", "loan_hours"]),
        ("[regions.settings]\nfetch_ms = 150000\n", ["[regions.settings]", "fetch_ms"]),
        ("[regions.settings]\nhosts_a_step = 0\n", ["[regions.settings]", "hosts_a_step"]),
    ] {
        let failure = load(text, ServeArgs::default()).expect_err(text);
        assert_eq!(failure.code(), 64);
        let sentence = failure.to_string();
        assert!(parts.iter().all(|part| sentence.contains(part)), "{sentence}");
    }
}
