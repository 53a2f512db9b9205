use super::*;
use crate::guard::{AddressSet, Guard};

const LEAST: &str =
    "coordinator = \"https://c.example:8080\"\ncontact = \"https://o.example/bot\"\n";

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("/etc/nearcrawl/agent.toml")).map_err(|e| e.to_string())
}

#[test]
fn the_example_file_is_valid_and_shows_the_defaults() {
    let example = include_str!("../../agent.example.toml");
    let config = parse(example).unwrap();
    let least = parse(LEAST).unwrap();
    assert_eq!(config.limits, least.limits);
    assert_eq!(config.probe, least.probe);
    assert_eq!(config.ship, least.ship);
    assert_eq!(config.budget, least.budget);
    assert_eq!(config.idle, least.idle);
    assert_eq!(config.guard.ports, least.guard.ports);
    assert_eq!((config.peer, least.peer), (None, None));
    assert_eq!(config.profile.capacity_pages_per_day, least.profile.capacity_pages_per_day);
}

#[test]
fn a_place_is_a_city_of_the_list_or_degrees() {
    let place = |table: &str| {
        let config = parse(&format!("{LEAST}[place]\n{table}\n"))?;
        Ok::<_, String>(config.profile.place.unwrap())
    };
    let city = place("city = \"nicosia\"").unwrap();
    assert_eq!((city.city(), city.country()), (Some("Nicosia"), Some("CY")));
    assert!((city.latitude() - 35.17).abs() < 0.1);
    let degrees = place("latitude = -41.3\nlongitude = 174.8\ncity = \"Wellington\"").unwrap();
    assert_eq!((degrees.latitude_mdeg(), degrees.longitude_mdeg()), (-41_300, 174_800));
    assert_eq!((degrees.city(), degrees.country()), (Some("Wellington"), None));
    for (table, advice) in [
        ("city = \"Atlantis\"", "write a larger city nearby"),
        ("latitude = 1.0", "needs both"),
        ("country = \"CY\"", "needs `city`"),
        ("latitude = 91.0\nlongitude = 0.0", "from -90 to 90"),
        ("city = \"Nicosia\"\ncountry = \"Cyprus\"", "two-letter country code"),
    ] {
        let error = place(table).unwrap_err();
        assert!(error.contains("line 3") && error.contains(advice), "{table}: {error}");
    }
}

#[test]
fn two_keys_are_enough() {
    let config = parse(LEAST).unwrap();
    assert!(!config.profile.name.is_empty());
    assert_eq!(config.limits.host_delay, Duration::from_secs(1));
    assert_eq!(config.limits.wire_bytes, 10 << 20);
    assert_eq!(config.probe.methods, [ProbeMethod::Icmp, ProbeMethod::Tcp, ProbeMethod::Head]);
    assert_eq!(config.spans.next_change(jiff::Timestamp::UNIX_EPOCH), None);
    assert!(config.user_agent().starts_with("nearcrawl/"));
    assert!(config.user_agent().ends_with(" (+https://o.example/bot)"));
}

#[test]
fn every_key_is_used() {
    let text = format!(
        r#"{LEAST}
        name = "cs"
        data_dir = "state"
        capacity_pages_per_day = 7
        zone = "Europe/Nicosia"
        spans = ["mon-fri 22:00-06:00"]
        bind = "127.0.0.5"
        resolver = ["127.0.0.1:5353", "::1"]
        [place]
        city = "nicosia"
        [probe]
        methods = ["tcp"]
        [guard]
        allow = ["127.0.0.0/8", "::1"]
        deny = ["8.8.8.0/24"]
        deny_hosts = ["*.Bücher.example"]
        ports = [80, 8080]
        [limits]
        host_delay_ms = 250
        [ship]
        kib = 1
        [metrics]
        listen = "[::1]:9421"
        [peer]
        enabled = true
        listen = "127.0.0.5:8430"
        advertise = ["https://a.example/"]
        region = "campus"
        "#
    );
    let config = parse(&text).unwrap();
    assert_eq!(config.data_dir.unwrap(), Path::new("/etc/nearcrawl/state"));
    assert_eq!(config.resolver, ["127.0.0.1:5353".parse().unwrap(), "[::1]:53".parse().unwrap()]);
    assert_eq!(config.guard.deny_hosts, ["xn--bcher-kva.example"]);
    for address in ["127.9.9.9", "::1"] {
        let guard = Guard::new(config.guard.clone().into(), AddressSet::default());
        assert_eq!(guard.check_address(address.parse().unwrap()), Ok(()));
    }
    assert_eq!(config.guard.ports, [80, 8080]);
    assert_eq!(config.profile.spans, ["mon-fri 22:00-06:00"]);
    assert_eq!(config.limits.host_delay, Duration::from_millis(250));
    assert_eq!(config.ship.bytes, 1_024);
    assert_eq!(config.metrics_listen, Some("[::1]:9421".parse().unwrap()));
    let peer = config.peer.unwrap();
    assert_eq!(peer.listen, Some("127.0.0.5:8430".parse().unwrap()));
    assert_eq!(peer.advertise, ["https://a.example/".parse().unwrap()]);
    assert_eq!(peer.region.as_deref(), Some("campus"));
}

#[test]
fn budgets_bandwidth_and_idle_time_are_used() {
    let text = format!(
        r#"{LEAST}
        zone = "Europe/Nicosia"
        [limits]
        kib_per_second = 64
        [budget]
        pages_per_day = 9
        mib_per_day = 20
        mib_per_month = 300
        [idle]
        max_load_per_cpu = 0.25
        max_cpu_pressure = 1
        not_on_battery = true
        stop_after_ms = 0
        resume_after_ms = 30000
        "#
    );
    let config = parse(&text).unwrap();
    assert_eq!(config.limits.bytes_per_second, Some(64 << 10));
    let budget = BudgetRules {
        pages_per_day: 9,
        bytes_per_day: Some(20 << 20),
        bytes_per_month: Some(300 << 20),
    };
    assert_eq!(config.budget, budget);
    let idle = IdleRules {
        max_load_per_cpu: Some(0.25),
        max_cpu_pressure: Some(1.0),
        not_on_battery: true,
        stop_after: Duration::ZERO,
        resume_after: Duration::from_secs(30),
    };
    assert_eq!(config.idle, idle);
    assert_eq!(config.zone.iana_name(), Some("Europe/Nicosia"));
}

#[test]
fn every_error_names_its_location() {
    let with = |line: &str| parse(&format!("{LEAST}{line}")).unwrap_err();
    for (line, location, what) in [
        ("colour = 1", "line 3, column 1", "colour"),
        ("zone = \"Mars\"", "line 3, column 8", "\"Mars\" is not a time zone"),
        ("spans = [\"daily 08:00-18:00\",\n  \"mo 1-2\"]", "line 4, column 3", "is not a"),
        ("bind = \"eth0\"", "line 3, column 8", "not an IP address"),
        ("resolver = [\"dns\"]", "line 3, column 13", "9.9.9.9:53"),
        ("name = \"\"", "line 3, column 8", "1 to 100"),
        ("capacity_pages_per_day = 0", "line 3, column 26", "must be from 1"),
        ("[probe]\nmethods = [\"ping\"]", "line 4, column 12", "icmp, tcp or head"),
        ("[guard]\nallow = [\"10.0.0.1/8\"]", "line 4, column 10", "did you mean \"10.0.0.0/8\"?"),
        ("[guard]\ndeny = [\"all\"]", "line 4, column 9", "not a prefix"),
        ("[guard]\nports = [0]", "line 4, column 10", "1 to 65535"),
        ("[guard]\ndeny_hosts = [\"1.2.3.4\"]", "line 4, column 15", "use `deny`"),
        ("[guard]\ndeny_hosts = [\"*\"]", "line 4, column 15", "which also denies all names below"),
        ("[guard]\ndeny_hosts = [\"*a.example\"]", "line 4, column 15", "write a name like"),
        ("[guard]\ndeny_hosts = [\"www.*.example\"]", "line 4, column 15", "write a name like"),
        ("[limits]\nhost_delay_ms = -5", "line 4, column 17", "must be from 0"),
        ("[limits]\nhost_delay = 5", "line 4, column 1", "host_delay"),
        ("[limits]\nconcurrency = \"many\"", "line 4, column 15", "invalid type"),
        ("[limits]\nkib_per_second = 7", "line 4, column 18", "from 8 to"),
        ("[budget]\npages_per_day = 0", "line 4, column 17", "from 1 to"),
        ("[budget]\nmib_per_day = \"1\"", "line 4, column 15", "invalid type"),
        ("[budget]\nmib_per_month = 9", "line 4, column 17", "`mib_per_month` is smaller than"),
        ("[budget]\nmib_a_day = 9", "line 4, column 1", "mib_per_day"),
        ("[idle]\nmax_load_per_cpu = 2", "line 4, column 20", "from 0.01 to 1"),
        ("[idle]\nnot_on_battery = 1", "line 4, column 18", "boolean"),
        ("[metrics]\nlisten = \"0.0.0.0:9421\"", "line 4, column 10", "127.0.0.1:9421"),
        ("[peer]\nlisten = \"192.0.2.1\"", "line 4, column 10", "0.0.0.0:8430"),
        ("[peer]\nlisten = \"8430\"", "line 4, column 10", "in `listen` is not an address"),
        ("[peer]\nadvertise = [\"agent\"]", "line 4, column 14", "in `advertise` is not an http"),
        ("[peer]\nadvertise = [\"http://a.example/?b\"]", "line 4, column 14", "without user name"),
        (
            "[peer]\nlisten = \"[::]:1\"",
            "line 4, column 10",
            "`listen` in [peer] needs `advertise`",
        ),
        (
            "[peer]\nadvertise = [\"https://a.example\"]",
            "line 4, column 13",
            "`advertise` in [peer] needs `listen`",
        ),
        ("x = ", "line 3, column 5", ""),
    ] {
        let error = with(line);
        assert!(error.contains(location) && error.contains(what), "{line:?}: {error}");
        assert!(!error.contains('\n'), "one line: {error}");
    }
}

#[test]
fn the_capacity_is_the_budget_of_requests() {
    let with = |lines: &str| parse(&format!("{LEAST}{lines}")).unwrap();
    assert_eq!(with("").budget.pages_per_day, 50_000);
    assert_eq!(with("capacity_pages_per_day = 7").budget.pages_per_day, 7);
    let both = with("capacity_pages_per_day = 7\n[budget]\npages_per_day = 9");
    assert_eq!((both.profile.capacity_pages_per_day, both.budget.pages_per_day), (7, 9));
    let small = with("[limits]\nwire_mib = 1\n[budget]\nmib_per_day = 1");
    assert_eq!(small.budget.bytes_per_day, Some(1 << 20));
}

#[test]
fn no_crawling_without_a_contact() {
    let none = parse("coordinator = \"https://c.example\"\n").unwrap_err();
    assert!(none.contains("`contact` is missing"), "{none}");
    for contact in ["", "me", "ftp://x", "mailto:me", "https://", "https://x.example/\u{e9}\\n"] {
        let text = format!("coordinator = \"https://c.example\"\ncontact = \"{contact}\"\n");
        assert!(parse(&text).unwrap_err().contains("line 2, column 11"), "{contact}");
    }
    assert!(parse(&LEAST.replace("https://o.example/bot", "mailto:me@o.example")).is_ok());
}

#[test]
fn a_coordinator_is_needed_too() {
    assert!(
        parse("contact = \"https://o.example\"").unwrap_err().contains("`coordinator` is missing")
    );
    assert!(
        parse(&LEAST.replace("https://c", "ftp://c")).unwrap_err().contains("line 1, column 15")
    );
}

#[test]
fn plain_http_needs_loopback_or_the_owners_word() {
    let with = |url: &str, line: &str| {
        parse(&format!("{line}\n{}", LEAST.replace("https://c.example:8080", url)))
    };
    for url in ["http://127.0.0.1:8080", "http://[::1]", "http://localhost", "https://c.example"] {
        assert!(with(url, "").is_ok(), "{url}");
    }
    for url in ["http://c.example", "http://10.0.0.1:8080", "http://localhost.example"] {
        let error = with(url, "").unwrap_err();
        assert!(error.contains("https://") && error.contains("allow_plain_http"), "{error}");
        assert!(with(url, "allow_plain_http = false").is_err());
        assert!(with(url, "allow_plain_http = true").is_ok(), "{url}");
    }
}

#[test]
fn a_missing_file_is_named_with_the_flag_for_another() {
    let error = Config::read(Path::new("/nowhere/agent.toml")).unwrap_err().to_string();
    assert!(error.contains("/nowhere/agent.toml") && error.contains("--config"), "{error}");
}
