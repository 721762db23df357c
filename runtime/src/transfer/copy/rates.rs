//! Rates: what copies cost on this machine, measured once in a process, when a choice is first to be made.

use crate::transfer::ways;
use chare_layout::Rates;
use chare_lrts::cma::vector_costs;
use std::sync::OnceLock;

/// What things cost on this machine. The first call measures: some 100 us. In a simulated job they cost what they usually do.
pub(in crate::transfer) fn rates() -> &'static Rates {
    if !chare_lrts::may_block() {
        static USUAL: OnceLock<Rates> = OnceLock::new();
        return USUAL.get_or_init(|| ways::rates(None));
    }
    static RATES: OnceLock<Rates> = OnceLock::new();
    RATES.get_or_init(|| ways::rates(vector_costs()))
}
