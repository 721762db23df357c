//! Sample of the calls that elements on one PE make, of which a balancer learns who calls whom. Only where it asks for that.
//!
//! 1. A PE that samples remembers no place of an element that lives on it, and takes no call to another PE the short way: so calls come to
//!    where they are offered (`delivery/outbox`), and where nobody samples no instruction more is on their way.
//! 2. All calls are kept while they are few; of many, each is as likely to be kept as any other, and those that are kept stand for all.
//! 3. Calls of collections, of sections and those that travel together belong to nobody.

use crate::base::reservoir::Reservoir;
use crate::model::envelope::Call;
use crate::model::ids::Target;
use chare_lrts::dice;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Calls that are kept on a PE: half a megabyte, and an error of a tenth for what makes a hundredth of the calls.
const KEPT_MAX: usize = 8192;

/// A call that was kept.
#[derive(Debug)]
struct Kept {
    from: Target,
    to: Target,
    bytes: u64,
}

/// The calls from one element to another one.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Calls {
    pub(crate) calls: u64,
    pub(crate) bytes: u64,
}

/// The sample of one PE.
pub(crate) struct CallSample(RefCell<Reservoir<Option<Kept>>>);

impl CallSample {
    pub(super) fn new() -> Self {
        Self(RefCell::new(Reservoir::new(KEPT_MAX)))
    }

    /// Offers a call to the sample. If it is kept, `from` says whose it is, and its arguments are measured.
    pub(super) fn offer(&self, call: &Call, from: impl FnOnce() -> Option<Target>) {
        // Measuring runs the user's code, which may call in turn: such calls are nobody's.
        if let Ok(mut reservoir) = self.0.try_borrow_mut() {
            reservoir
                .offer(dice::draw, || from().map(|from| Kept { from, to: call.target, bytes: call.bytes() }));
        }
    }

    /// Takes out who has called whom, and begins anew.
    pub(crate) fn take(&self) -> FxHashMap<(Target, Target), Calls> {
        let reservoir = self.0.replace(Reservoir::new(KEPT_MAX));
        let mut kept = FxHashMap::<_, Calls>::default();
        for Kept { from, to, bytes } in reservoir.kept().iter().flatten() {
            let calls = kept.entry((*from, *to)).or_default();
            calls.calls += 1;
            calls.bytes += bytes;
        }
        let all = |kept: u64| (kept as f64 * reservoir.weight()).round() as u64;
        kept.values_mut().for_each(|Calls { calls, bytes }| (*calls, *bytes) = (all(*calls), all(*bytes)));
        kept
    }
}
