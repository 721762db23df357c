//! Faults of a software device, by chance, from a seed.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::num::NonZeroU32;
use std::time::Duration;

/// What goes wrong, and how often. The same seed draws the same for the same commands on the same streams, in the order in which
/// these were made; what streams do at the same time, threads decide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults {
    /// How long a command waits at most before it is done.
    pub delay: Duration,
    /// One of how many calls is refused: nothing happens, and the next one may succeed.
    pub refuse: Option<NonZeroU32>,
    /// One of how many commands finds the device lost, and all that follow, too.
    pub lose: Option<NonZeroU32>,
    /// One of how many copies, steps, zeros and kernels touches an address that it must not: the device is lost, and the error names what did it, as
    /// with a kernel's illegal address.
    pub fault: Option<NonZeroU32>,
    /// Of all chances.
    pub seed: u64,
}

/// Chances of one stream, or of one end of it.
#[derive(Debug)]
pub(crate) struct Chances {
    faults: Faults,
    chance: ChaCha8Rng,
}

impl Faults {
    /// Chances that no other `number` draws.
    pub(crate) fn chances(&self, number: u64) -> Chances {
        let mixed = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Chances { faults: self.clone(), chance: ChaCha8Rng::seed_from_u64(mixed) }
    }
}

impl Chances {
    /// How long to wait.
    pub(crate) fn delay(&mut self) -> Duration {
        if self.faults.delay.is_zero() {
            return Duration::ZERO;
        }
        self.chance.random_range(Duration::ZERO..=self.faults.delay)
    }

    /// Whether to refuse a call.
    pub(crate) fn refuses(&mut self) -> bool {
        self.one_of(self.faults.refuse)
    }

    /// Whether the device is lost now.
    pub(crate) fn loses(&mut self) -> bool {
        self.one_of(self.faults.lose)
    }

    /// Whether a command that touches memory touches what it must not.
    pub(crate) fn faults(&mut self) -> bool {
        self.one_of(self.faults.fault)
    }

    fn one_of(&mut self, count: Option<NonZeroU32>) -> bool {
        count.is_some_and(|count| self.chance.random_range(0..count.get()) == 0)
    }
}
