//! Synthetic registry data: small, the same every time, and sufficient to choose a world from.

use std::fmt::Write as _;

/// Countries in which both the built-in cities and the addresses are.
const COUNTRIES: [&str; 60] = [
    "AE", "AR", "AT", "AU", "BE", "BG", "BR", "CA", "CH", "CL", "CN", "CO", "CY", "CZ", "DE", "DK",
    "EE", "EG", "ES", "FI", "FR", "GB", "GR", "HK", "HR", "HU", "ID", "IE", "IL", "IN", "IT", "JP",
    "KE", "KR", "MA", "MX", "MY", "NG", "NL", "NO", "NZ", "PE", "PH", "PL", "PT", "RO", "RS", "RU",
    "SA", "SE", "SG", "SI", "SK", "TH", "TN", "TR", "UA", "US", "VN", "ZA",
];

/// Companies of each country; every other one holds records in [`FAR_APART`] places.
const COMPANIES: usize = 4;
const FAR_APART: usize = 3;
/// First /8 of the records; they spread over the ones after it.
const FIRST_EIGHTH: usize = 60;

/// Name and content of one delegated-extended file.
pub(super) fn file() -> (&'static str, String) {
    let mut records = String::new();
    let mut count = 0;
    for (number, country) in COUNTRIES.iter().enumerate() {
        for company in 0..COMPANIES {
            for place in 0..if company % 2 == 0 { FAR_APART } else { 1 } {
                let eighth = FIRST_EIGHTH + place * 7 + number % 5;
                let start = format!("{eighth}.{}.{}.0", number * COMPANIES + company, place * 64);
                // Writing into a string cannot fail.
                let _ = writeln!(
                    records,
                    "ripencc|{country}|ipv4|{start}|1024|20050101|allocated|{country}-{company}"
                );
                count += 1;
            }
        }
    }
    let head = format!(
        "2|ripencc|20181012|{count}|19830101|20181012|+0000\nripencc|*|ipv4|*|{count}|summary\n"
    );
    ("delegated-ripencc-extended-latest", head + &records)
}
