//! Units of what people read: times with three digits.

/// Microseconds with three digits and a unit.
pub(crate) fn time(us: f64) -> String {
    let (number, unit) = match us {
        us if us < 1.0 => (us * 1e3, "ns"),
        us if us < 1e3 => (us, "us"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    let digits = if number < 10.0 {
        2
    } else if number < 100.0 {
        1
    } else {
        0
    };
    format!("{number:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let said = [0.0, 0.5, 1.0, 12.34, 999.0, 1234.5, 2.5e6].map(time);
        assert_eq!(said, ["0.00 ns", "500 ns", "1.00 us", "12.3 us", "999 us", "1.23 ms", "2.50 s"]);
    }
}
