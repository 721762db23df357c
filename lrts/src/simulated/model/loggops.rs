//! LogGOPS: what a message costs the processors and the network interfaces of its sender and its receiver, by five numbers.
//!
//! The rules are those of LogGOPSim (Hoefler, Schneider, Lumsdaine, "LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model",
//! 2010), to the nanosecond. For a message of `s` bytes:
//!
//! 1. Sending begins when the sender's processor and its interface's sending side are free. It keeps the processor for `o + (s-1) O`, the
//!    sending side for `g + (s-1) G`, and the first byte arrives `o + L` after its begin.
//! 2. Receiving begins when the first byte is there and the receiver's processor and its interface's receiving side are free. It keeps the
//!    processor for `o + (s-1) max(O, G)`, and the receiving side for `g + (s-1) G`.
//! 3. Longer messages than `S` wait for their receiver; in simulated jobs the runtime decides about that, so that `S` is none of these five.

/// The numbers of the model.
///
/// ```
/// use chare_lrts::simulated::LogGops;
///
/// let model = LogGops { latency_ns: 2_500, overhead_ns: 1_500, gap_ns: 1_000, byte_gap_ps: 6_000, byte_overhead_ps: 0 };
/// assert_eq!(model.first_byte_ns(), 4_000);
/// assert_eq!(model.sending(1_025).side_ns, 1_000 + 1_024 * 6);
/// assert_eq!(model.receiving(1_025).processor_ns, 1_500 + 1_024 * 6);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LogGops {
    /// `L`: time of a byte on the way, in nanoseconds.
    pub latency_ns: u64,
    /// `o`: time that a processor spends on sending a message, and on receiving one, in nanoseconds.
    pub overhead_ns: u64,
    /// `g`: time between the begins of two messages at one side of an interface, in nanoseconds.
    pub gap_ns: u64,
    /// `G`: time of each byte at an interface, in picoseconds.
    pub byte_gap_ps: u64,
    /// `O`: time of a processor for each byte, in picoseconds.
    pub byte_overhead_ps: u64,
}

/// What sending or receiving a message keeps, from its begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The processor, for so many nanoseconds.
    pub processor_ns: u64,
    /// The side of the interface, for so many nanoseconds.
    pub side_ns: u64,
}

impl LogGops {
    /// What sending a message of so many bytes keeps.
    pub fn sending(&self, bytes: usize) -> Kept {
        Kept {
            processor_ns: self.overhead_ns + of_bytes(self.byte_overhead_ps, bytes),
            side_ns: self.gap_ns + of_bytes(self.byte_gap_ps, bytes),
        }
    }

    /// What receiving a message of so many bytes keeps.
    pub fn receiving(&self, bytes: usize) -> Kept {
        Kept {
            processor_ns: self.overhead_ns + of_bytes(self.byte_overhead_ps.max(self.byte_gap_ps), bytes),
            side_ns: self.gap_ns + of_bytes(self.byte_gap_ps, bytes),
        }
    }

    /// When the first byte arrives, after the begin of its sending, in nanoseconds.
    pub fn first_byte_ns(&self) -> u64 {
        self.overhead_ns + self.latency_ns
    }
}

/// The time of all bytes but the first one, of which each takes so many picoseconds, in nanoseconds.
fn of_bytes(each_ps: u64, bytes: usize) -> u64 {
    (bytes.saturating_sub(1) as u64).saturating_mul(each_ps) / 1_000
}
