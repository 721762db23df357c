//! Deadlines: times on the clock that the nodes of a host share, which travel to other hosts as what is left of them.

use chare_lrts::clock;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A time after which something is late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deadline {
    due_ns: u64,
}

impl Deadline {
    /// The time in so many nanoseconds.
    pub(crate) fn after_ns(left_ns: u64) -> Self {
        Self { due_ns: clock::now_ns().saturating_add(left_ns) }
    }

    /// What is left, in nanoseconds: 0 when it is over.
    pub(crate) fn left_ns(self) -> u64 {
        self.due_ns.saturating_sub(clock::now_ns())
    }

    /// Whether it is over.
    pub(crate) fn is_over(self) -> bool {
        self.left_ns() == 0
    }
}

/// What is left of it, always as many bytes: a value is measured before it is written.
impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.left_ns().to_le_bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <[u8; 8]>::deserialize(deserializer).map(|left| Self::after_ns(u64::from_le_bytes(left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::codec;

    #[test]
    fn what_is_left_travels_and_nothing_overflows() {
        const HOUR_NS: u64 = 3_600_000_000_000;
        let travelled = |deadline: Deadline| {
            let mut bytes = Vec::new();
            codec::encode_into(&deadline, &mut bytes).expect("plain data");
            assert_eq!(bytes.len(), 8);
            codec::decode::<Deadline>(&bytes).expect("it was one")
        };
        let hour = travelled(Deadline::after_ns(HOUR_NS));
        assert!(!hour.is_over() && (HOUR_NS - HOUR_NS / 60..=HOUR_NS).contains(&hour.left_ns()));
        assert!(travelled(Deadline::after_ns(0)).is_over());
        assert!(!travelled(Deadline::after_ns(u64::MAX)).is_over());
    }
}
