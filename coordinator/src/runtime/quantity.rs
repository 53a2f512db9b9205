//! A number with its noun, for status texts.

use std::fmt::Display;

/// `1 search`, `3 searches`. The noun is regular.
pub fn quantity<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match noun {
        _ if count == N::from(1) => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_several() {
        let searches = [0_u64, 1, 2].map(|count| quantity(count, "search"));
        assert_eq!(searches, ["0 searches", "1 search", "2 searches"]);
        assert_eq!([quantity(1_usize, "URL"), quantity(10_usize, "URL")], ["1 URL", "10 URLs"]);
    }
}
