//! Dice of a thread: the machine's chance, which nobody guesses, or the dice that whoever drives the thread has set.

#![expect(clippy::disallowed_methods, reason = "what everything else draws is the machine's chance here")]

/// Draws a number.
#[inline]
pub fn draw() -> u64 {
    #[cfg(feature = "sim")]
    if let Some(number) = super::driven::draw() {
        return number;
    }
    rand::random()
}

/// Whether something that may be refused for want of room is refused now although there is room: never, but for some driven jobs.
#[inline(always)]
pub fn refuses() -> bool {
    #[cfg(feature = "sim")]
    {
        super::driven::refuses()
    }
    #[cfg(not(feature = "sim"))]
    {
        false
    }
}

/// Draws a number below `n`, each as likely as any other. One draw, but for one time in `2^64 / n`.
///
/// # Panics
/// If `n` is zero.
pub fn below(n: u64) -> u64 {
    below_by(n, draw)
}

/// Lemire's method ("Fast random integer generation in an interval", 2019): the upper half of a product, drawn again where the lower
/// half shows that the number would be too likely.
fn below_by(n: u64, mut draw: impl FnMut() -> u64) -> u64 {
    assert!(n > 0, "there is no number below 0");
    loop {
        let product = u128::from(draw()) * u128::from(n);
        let lower = product as u64;
        // The division is needed only where the lower half is that small.
        if lower >= n || lower >= n.wrapping_neg() % n {
            return (product >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_are_the_upper_halves_of_products() {
        for (drawn, n, expected) in
            [(0, 1, 0), (u64::MAX, 1, 0), (u64::MAX, 6, 5), (1 << 62, 6, 1), (7 << 61, 8, 7)]
        {
            assert_eq!(below_by(n, || drawn), expected, "{drawn} below {n}");
        }
        assert_eq!(below_by(u64::MAX, || u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn what_would_be_too_likely_is_drawn_again() {
        // 2^64 is 4 more than a multiple of 6, so lower halves below 4 are refused; this is the draw whose lower half is 2.
        let two = ((1 << 63) + 1) / 3;
        let mut draws = [0, two, 2 * two, 0].into_iter();
        assert_eq!(below_by(6, || draws.next().expect("three suffice")), 2, "a lower half of 4 stands");
        assert_eq!(draws.len(), 1);
    }

    #[test]
    #[should_panic(expected = "no number below 0")]
    fn there_is_none_below_zero() {
        below(0);
    }
}
