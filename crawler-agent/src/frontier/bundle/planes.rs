//! Columns of numbers as byte planes: the first bytes of all numbers, then all second ones, then
//! all third ones. Sign and exponent of neighbours are much alike, so that the first plane
//! compresses well. The fourth byte is left out: 16 bits of precision are more than times have.

/// Bytes that are kept of each number.
const KEPT: usize = 3;

/// The planes of these numbers.
pub(super) fn encode(values: &[f32]) -> Vec<u8> {
    let plane = |place: usize| values.iter().map(move |value| value.to_be_bytes()[place]);
    (0..KEPT).flat_map(plane).collect()
}

/// The numbers of these planes; none where they are not `count` numbers.
pub(super) fn decode(planes: &[u8], count: usize) -> Option<Vec<f32>> {
    if planes.len() != count.checked_mul(KEPT)? {
        return None;
    }
    let byte = |number: usize, place: usize| planes.get(place * count + number).copied();
    (0..count)
        .map(|number| {
            let bytes = [byte(number, 0)?, byte(number, 1)?, byte(number, 2)?, 0];
            Some(f32::from_be_bytes(bytes))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_sixteen_bits() {
        let values = [0.0, 1.0, -3.5, 123.456, 1e-9, 7.7e20];
        let decoded = decode(&encode(&values), values.len()).unwrap();
        for (value, decoded) in values.iter().zip(decoded) {
            assert!((value - decoded).abs() <= value.abs() / 30_000.0, "{value} {decoded}");
        }
    }

    #[test]
    fn another_number_of_bytes_is_refused() {
        let planes = encode(&[1.0, 2.0]);
        assert_eq!(decode(&planes, 1), None);
        assert_eq!(decode(&planes[1..], 2), None);
        assert_eq!(decode(&planes, usize::MAX), None);
        assert_eq!(decode(&[], 0), Some(Vec::new()));
    }
}
