//! Large numbers with separators.

use std::fmt;

/// A number with a comma after every three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thousands(pub u64);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_three_digits() {
        let shown = [0, 12, 123, 1_234, 123_456, 1_234_567].map(|n| Thousands(n).to_string());
        assert_eq!(shown, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
        assert_eq!(format!("{:>6}", Thousands(1_000)), " 1,000");
    }
}
