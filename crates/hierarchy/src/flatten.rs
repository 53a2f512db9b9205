//! Flattening: nested ranges as disjoint ones.

use crate::address::{after, before};
use crate::range::Range;

/// Disjoint ranges in their order: each address that `nested` holds, with the value of the smallest
/// range around it. Ranges may overlap only by containment; of equal ones the first counts.
pub fn flatten<T: Copy>(mut nested: Vec<(Range, T)>) -> Vec<(Range, T)> {
    nested.sort_by_key(|(range, _)| *range);
    nested.dedup_by_key(|(range, _)| *range);
    let mut flat = Vec::with_capacity(nested.len());
    // What is left of the ranges around the present address, the smallest last.
    let mut around: Vec<(Range, T)> = vec![];
    for (range, value) in nested {
        while let Some(ended) = around.pop_if(|(rest, _)| rest.last() < range.first()) {
            flat.push(ended);
        }
        if let Some((outer, outer_value)) = around.pop() {
            let part = |first, last| Some((Range::new(first, last).ok()?, outer_value));
            flat.extend(before(range.first()).and_then(|last| part(outer.first(), last)));
            around.extend(after(range.last()).and_then(|first| part(first, outer.last())));
        }
        around.push((range, value));
    }
    flat.extend(around.into_iter().rev());
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_range_around_an_address_counts() {
        let nested = [("10.0.0.0/8", 1), ("10.0.0.0/16", 2), ("10.0.255.0/24", 3), ("::/0", 4)];
        let nested = nested.map(|(range, value)| (range.parse().unwrap(), value));
        let flat =
            flatten([nested.to_vec(), vec![("::1".parse().unwrap(), 5), nested[3]]].concat());
        let flat: Vec<_> = flat.iter().map(|(range, value)| (range.to_string(), *value)).collect();
        let expected = [
            ("10.0.0.0 - 10.0.254.255", 2),
            ("10.0.255.0/24", 3),
            ("10.1.0.0 - 10.255.255.255", 1),
            ("::/128", 4),
            ("::1/128", 5),
            ("::2 - ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 4),
        ];
        assert_eq!(flat, expected.map(|(range, value)| (range.to_owned(), value)));
    }
}
