//! A goal of devices, and the verdict on it.

/// What the figures say of a goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Met,
    Missed,
    /// The software device has shown that the programs are right; of a device its figures say nothing.
    CorrectnessOnly,
    NotMeasured,
}

impl Verdict {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::CorrectnessOnly => "correctness only",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A goal, and what was found.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Goal {
    pub(super) number: &'static str,
    pub(super) what: &'static str,
    pub(super) verdict: Verdict,
    /// The figures, or why there are none.
    pub(super) why: String,
    /// The figure that is closest to missing it, in times of what the goal asks for: 1 or more is met.
    pub(super) reached: Option<f64>,
}

/// What one device of one machine cannot show, whatever the goals say.
pub(super) const NOT_SHOWN: &str = "One device cannot show: NVLink, GPUDirect (networks that reach devices), transfers between two devices, CUDA-aware MPI and UCX beside ours. \
     Two processes on it take turns, unless MPS runs: quartiles that lie far apart are both modes.";
