//! What the coordinator has told: for whoever drives all PEs of a job and knows better.

/// The coordinator's waves, and what followed from them, counted from the job's begin.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Told {
    /// Waves that all nodes have answered.
    pub(crate) waves: u64,
    /// How often it told somebody that nothing is in flight.
    pub(crate) all_over: u64,
    /// How often it told the program that nothing but limits of waits is.
    pub(crate) limits_alone: u64,
}

/// Who waits at the coordinator.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Waiting {
    /// Anybody.
    pub(crate) anybody: bool,
    /// The program, which does not wait for limits of waits.
    pub(crate) program: bool,
}

impl Told {
    /// Notes that a wave is over, and whether somebody was told something.
    pub(super) fn note(&mut self, is_told: bool, in_flight: u64) {
        self.waves += 1;
        self.all_over += u64::from(is_told && in_flight == 0);
        self.limits_alone += u64::from(is_told && in_flight > 0);
    }
}
