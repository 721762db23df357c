//! Divisors: the largest number that divides some others, by which these are divided without divisions.

use crate::value::sums::gcd;

/// A number by which exact division is a multiplication and a rotation.
///
/// The low bits of a quotient are the product with the inverse of the divisor's odd part, as far as 64 bits hold it; its zeros go off below.
/// What is no multiple becomes more than any quotient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Divisor {
    value: u64,
    /// Zeros at the end of the value.
    shift: u32,
    /// The odd rest of the value times this is 1.
    inverse: u64,
    /// The largest quotient.
    most: u64,
}

impl Divisor {
    /// 0 divides 0 alone.
    pub(crate) fn new(value: u64) -> Self {
        if value == 0 {
            return Self { value, shift: 0, inverse: 1, most: 0 };
        }
        let shift = value.trailing_zeros();
        let odd = value >> shift;
        // Three bits of an odd number are its own inverse's, and each step doubles them.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Self { value, shift, inverse, most: u64::MAX / value }
    }

    /// The largest one that all of these are multiples of; 0 if they are 0.
    pub(crate) fn common(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut common = Self::new(0);
        for number in numbers {
            if common.quotient(number) > common.most {
                common = Self::new(gcd(number, common.value));
            }
        }
        common
    }

    /// What it is.
    pub(crate) fn value(self) -> u64 {
        self.value
    }

    /// A multiple of it, divided by it.
    #[inline]
    pub(crate) fn quotient(self, multiple: u64) -> u64 {
        multiple.wrapping_mul(self.inverse).rotate_right(self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_divisors_divide_their_multiples_and_nothing_else() {
        let large = [u64::MAX, u64::MAX - 1, 1 << 63, 3 << 62, (1 << 32) + 1];
        for value in (1..200).chain(large) {
            let divisor = Divisor::new(value);
            for quotient in (0..50).chain([u64::MAX / value]) {
                let Some(multiple) = value.checked_mul(quotient) else { continue };
                assert_eq!(divisor.quotient(multiple), quotient, "{multiple} / {value}");
            }
            for number in (0..2000).chain(large) {
                let divides = divisor.quotient(number) <= divisor.most;
                assert_eq!(divides, number % value == 0, "{value} of {number}");
            }
        }
    }

    #[test]
    fn a_common_divisor_is_the_largest() {
        for (numbers, largest) in [
            (&[0, 0][..], 0),
            (&[0, 24, 0], 24),
            (&[24, 36], 12),
            (&[48, 72, 25], 1),
            (&[u64::MAX, 3], 3),
            (&[], 0),
        ] {
            assert_eq!(Divisor::common(numbers.iter().copied()).value(), largest, "{numbers:?}");
        }
    }
}
