//! Methods: how what a layout selects of another process's memory comes here, chosen by what it costs on this machine.
//!
//! 1. The owner chooses between packing and lending memory that the receiver cannot map but the kernel copies. It knows its own side alone,
//!    and takes the receiver's to be one piece of memory.
//! 2. The receiver of what was lent knows both sides, and chooses between vectors and the sieve.
//! 3. The receiver of what it maps chooses between copying alone and copying together with the owner; see
//!    `transfer/copy/long_copy.rs`.
//! 4. Where a network reads memory by itself, the same two choose by the mean length of runs, or of what lies between them: each is a
//!    transfer of its own there.
//! 5. The kernel's costs are measured once in a process, when a choice is first to be made. They differ most between machines; those of
//!    lines are the same everywhere, to within what the choice needs.

use chare_layout::{Method, Rates, Raw};
use chare_lrts::cma::{VectorCosts, vector_costs};
use std::str::FromStr;
use std::sync::OnceLock;
use thiserror::Error;

/// Bytes of the second and of the last cache, and what lines take of which the data lie in those, or beyond: measured by copies between
/// two threads of an AMD EPYC, 64 bytes of each 128, from memory that the other thread had written.
const CACHE_BYTES: [u64; 2] = [1 << 20, 32 << 20];
const READ_LINE_NS: [f64; 3] = [0.8, 1.6, 4.0];
const WRITE_LINE_NS: [f64; 3] = [1.2, 2.7, 6.0];
const RUN_NS: f64 = 1.0;

/// A claim and its release, or memory of the runtime.
const SETUP_NS: f64 = 500.0;

/// Mean bytes of runs from which on a network moves each by itself sooner than their owner packs them. Measured with libfabric, 2 MiB of
/// every second run: at 16 KiB `tcp` is slower yet, by a sixth, and `shm` quicker by as much; at 64 KiB they take half and two thirds.
const NETWORK_RUN_BYTES_MIN: u64 = 24 << 10;

/// Mean bytes between runs from which on they are moved alone where nobody packs them: in the same rows a run takes 3.6 us over `tcp` and 1.4
/// over `shm`, as 10 and 7 KiB of one piece do.
const NETWORK_GAP_BYTES_MIN: u64 = 10 << 10;

/// How many times the memory that is packed a network is to register, at most, in order to move runs of it.
const REGISTERED_PARTS_MAX: u64 = 8;

/// A message to the owner and back, and the wait for its last piece, in the time of the model, which counts short passes too long: with half of
/// this, DDTBench's passes of 5 to 9 us took up to 3 us more when both sides made them, and those of 11 us 1 us less.
const HELP_NS: f64 = 8000.0;

/// What the bench `layouts` found, for a process that may not even copy from itself.
const USUAL: VectorCosts = VectorCosts { vector_ns: 150.0, byte_ns: 0.067 };

const USUAL_RATES: Rates = Rates {
    cache_bytes: CACHE_BYTES,
    read_line_ns: READ_LINE_NS,
    write_line_ns: WRITE_LINE_NS,
    run_ns: RUN_NS,
    setup_ns: SETUP_NS,
    vector_ns: USUAL.vector_ns,
    vector_byte_ns: USUAL.byte_ns,
    help_ns: HELP_NS,
};

/// The way in which what a layout selects of another process's memory comes to where it is wanted, as `+layouts` says it, where the
/// memory cannot be mapped, and the kernel copies it or a network reads it by itself.
///
/// | name | who has what is selected |
/// |---|---|
/// | `pack` | its owner packs it, whatever the path |
/// | `sieve` | the receiver reads all around it, and copies it from there |
/// | `vectors` | the receiver reads it, run by run |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LayoutMethod {
    /// Packed by its owner.
    Pack,
    /// Read with all that lies between.
    Sieve,
    /// Read run by run.
    Vectors,
}

/// A text that names no method.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("it is none of `pack`, `sieve` and `vectors`")]
pub struct LayoutMethodError;

impl FromStr for LayoutMethod {
    type Err = LayoutMethodError;

    fn from_str(text: &str) -> Result<Self, LayoutMethodError> {
        match text {
            "pack" => Ok(Self::Pack),
            "sieve" => Ok(Self::Sieve),
            "vectors" => Ok(Self::Vectors),
            _ => Err(LayoutMethodError),
        }
    }
}

/// The choice of a node.
#[derive(Default)]
pub(crate) struct Methods {
    forced: Option<LayoutMethod>,
}

impl Methods {
    /// The choice of methods by their costs, or always this one.
    pub(crate) fn new(forced: Option<LayoutMethod>) -> Self {
        Self { forced }
    }

    /// Whether owners pack, whatever the path.
    pub(crate) fn always_pack(&self) -> bool {
        self.forced == Some(LayoutMethod::Pack)
    }

    /// Whether what a layout selects of memory that the kernel copies is packed by its owner.
    pub(crate) fn is_packed(&self, layout: &Raw) -> bool {
        match self.forced {
            Some(method) => method == LayoutMethod::Pack,
            None => {
                let Ok(stream) = Raw::bytes_of(layout.bytes()) else { return true };
                rates().quicker([Method::Stream, Method::Vectors], layout, &stream) == Method::Stream
            }
        }
    }

    /// Whether what a layout selects of so many bytes, which a network can read run by run, is packed by its owner.
    pub(crate) fn is_packed_for_network(&self, layout: &Raw, memory_bytes: u64) -> bool {
        match self.forced {
            Some(method) => method == LayoutMethod::Pack,
            None => {
                !has_long_runs(layout) || memory_bytes > layout.bytes().saturating_mul(REGISTERED_PARTS_MAX)
            }
        }
    }

    /// Whether what a layout selects is read run by run by a network that can do so, not with all that lies around it.
    pub(crate) fn is_read_by_runs(&self, from: &Raw) -> bool {
        match self.forced {
            Some(LayoutMethod::Sieve) => false,
            Some(LayoutMethod::Vectors) => true,
            Some(LayoutMethod::Pack) | None => {
                let gap = from.span().saturating_sub(from.bytes()) / from.run_count().max(1);
                has_long_runs(from) || gap >= NETWORK_GAP_BYTES_MIN
            }
        }
    }

    /// Whether such runs go to where they are wanted at once: not if that cuts them into many more, of which each is a transfer.
    pub(crate) fn is_read_in_place(&self, from: &Raw, to: &Raw) -> bool {
        let is_forced = self.forced == Some(LayoutMethod::Vectors);
        is_forced || to.run_count() <= from.run_count() || has_long_runs(to)
    }

    /// Whether what a layout selects of memory that the kernel copies is read with all that lies around it, not run by run.
    pub(crate) fn is_sieved(&self, from: &Raw, to: &Raw) -> bool {
        match self.forced {
            Some(LayoutMethod::Sieve) => true,
            Some(LayoutMethod::Vectors) => false,
            Some(LayoutMethod::Pack) | None => {
                rates().quicker([Method::Sieve, Method::Vectors], from, to) == Method::Sieve
            }
        }
    }
}

/// Whether a copy between memory that its receiver and the source's owner both map takes less time when both make it together. The same
/// in all processes.
pub(crate) fn is_shared(from: &Raw, to: &Raw) -> bool {
    USUAL_RATES.quicker([Method::Step, Method::Shared], from, to) == Method::Shared
}

fn has_long_runs(layout: &Raw) -> bool {
    layout.bytes() / layout.run_count().max(1) >= NETWORK_RUN_BYTES_MIN
}

/// What things cost on this machine. The first call measures: some 100 us.
fn rates() -> &'static Rates {
    static RATES: OnceLock<Rates> = OnceLock::new();
    RATES.get_or_init(|| {
        let VectorCosts { vector_ns, byte_ns } = vector_costs().unwrap_or(USUAL);
        Rates { vector_ns, vector_byte_ns: byte_ns, ..USUAL_RATES }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(block: u64, every: i64) -> Raw {
        Raw::bytes_of(block).and_then(|run| run.vector((1 << 20) / block, 1, every)).expect("it fits")
    }

    #[test]
    fn what_is_forced_is_done_whatever_it_costs() {
        let layouts = [apart(8, 2), apart(1 << 16, 16)];
        for (method, packed, sieved) in
            [("pack", true, None), ("sieve", false, Some(true)), ("vectors", false, Some(false))]
        {
            let methods = Methods::new(Some(method.parse().expect("a method")));
            for layout in &layouts {
                assert_eq!(methods.is_packed(layout), packed, "{method}");
                assert!(sieved.is_none_or(|sieved| methods.is_sieved(layout, layout) == sieved), "{method}");
            }
        }
        assert_eq!("step".parse::<LayoutMethod>(), Err(LayoutMethodError));
    }

    #[test]
    fn a_network_moves_long_runs_and_registers_at_most_some_times_as_much_for_them() {
        let methods = Methods::new(None);
        let (short, long, far) = (apart(64, 2), apart(32 << 10, 2), apart(4 << 10, 8));
        assert!(!methods.is_read_by_runs(&short) && methods.is_packed_for_network(&short, short.span()));
        assert!(methods.is_read_by_runs(&long) && !methods.is_packed_for_network(&long, long.span()));
        assert!(methods.is_packed_for_network(&long, 9 * long.bytes()));
        // Whoever gets them by a handle has nobody who packs.
        assert!(methods.is_read_by_runs(&far) && methods.is_packed_for_network(&far, far.span()));
        assert!(methods.is_read_in_place(&long, &apart(1 << 20, 1)) && methods.is_read_in_place(&far, &far));
        assert!(!methods.is_read_in_place(&long, &short));
        let always = Methods::new(Some(LayoutMethod::Vectors));
        assert!(always.is_read_by_runs(&short) && !always.is_packed_for_network(&short, short.span()));
        assert!(always.is_read_in_place(&long, &short));
    }

    #[test]
    fn long_runs_far_apart_are_read_alone_and_single_elements_packed_or_sieved() {
        // With the usual costs: what is measured depends on what else this machine does.
        let quicker = |methods, from: &Raw| USUAL_RATES.quicker(methods, from, &apart(8, 1));
        for (layout, packed, sieved) in [
            (apart(8, 8), Method::Stream, Method::Sieve),
            (apart(1 << 18, 4), Method::Vectors, Method::Vectors),
        ] {
            assert_eq!(quicker([Method::Stream, Method::Vectors], &layout), packed);
            assert_eq!(quicker([Method::Sieve, Method::Vectors], &layout), sieved);
        }
    }
}
