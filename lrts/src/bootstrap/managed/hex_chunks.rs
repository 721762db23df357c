//! Hexadecimal chunks: published values as the short printable strings that PMI keeps.

use crate::bootstrap::control::VALUE_BYTES_MAX;

/// A value as texts of limited length, in hexadecimal digits; all but the last end in `+`.
pub(super) fn to_hex_chunks(value: &[u8], chars_max: usize) -> Vec<String> {
    let bytes_max = (chars_max.saturating_sub(2) / 2).max(1);
    let mut texts: Vec<String> = value
        .chunks(bytes_max)
        .map(|chunk| chunk.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    if let Some((last, others)) = texts.split_last_mut() {
        others.iter_mut().for_each(|text| text.push('+'));
        last.push('.');
    } else {
        texts.push(".".to_owned());
    }
    texts
}

/// The value whose texts `next` returns, in order.
pub(super) fn from_hex_chunks(mut next: impl FnMut() -> Result<String, String>) -> Result<Vec<u8>, String> {
    let mut value = Vec::new();
    loop {
        let text = next()?;
        let (digits, more) = match (text.strip_suffix('+'), text.strip_suffix('.')) {
            (Some(digits), _) => (digits, true),
            (None, Some(digits)) => (digits, false),
            (None, None) => return Err("it is cut off".to_owned()),
        };
        if digits.len() % 2 != 0 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err("it is no hexadecimal number".to_owned());
        }
        let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
        value.extend(bytes.collect::<Result<Vec<u8>, _>>().map_err(|cause| cause.to_string())?);
        if value.len() > VALUE_BYTES_MAX {
            return Err(format!("it has more than {VALUE_BYTES_MAX} bytes"));
        }
        if !more {
            return Ok(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_length_survive_being_cut_into_texts() {
        for (len, chars_max) in [(0, 64), (1, 64), (30, 64), (31, 64), (32, 64), (1024, 64), (1024, 4096)] {
            let value: Vec<u8> = (0..len).map(|at| (at * 37) as u8).collect();
            let texts = to_hex_chunks(&value, chars_max);
            assert!(texts.iter().all(|text| text.len() <= chars_max), "{len} {chars_max}");
            let mut next = texts.into_iter();
            let joined = from_hex_chunks(|| next.next().ok_or_else(|| "no more".to_owned())).unwrap();
            assert_eq!(joined, value);
            assert!(next.next().is_none());
        }
    }

    #[test]
    fn texts_that_are_no_value_are_errors() {
        for text in ["", "0", "0.", "zz.", "é.", "00", &("00".repeat(VALUE_BYTES_MAX + 1) + ".")] {
            assert!(from_hex_chunks(|| Ok(text.to_owned())).is_err(), "{text:?}");
        }
        assert!(from_hex_chunks(|| Ok("00+".to_owned())).is_err(), "without an end");
    }
}
