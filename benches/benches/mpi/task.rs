//! Tasks: what a side is to do, and how often.

use chare_benches::Batches;
use chare_benches::launcher::Mpi;

/// What a side does.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) mpi: &'a Mpi,
    pub(crate) what: &'a str,
    pub(crate) batches: Batches,
    pub(crate) bytes: usize,
}
