//! Vectors of CMA: many runs of another process's memory copied by one system call, and what such a call costs.
//!
//! 1. A call takes at most 1,024 vectors a side. Runs that follow each other on one side are one vector there.
//! 2. The kernel may stop early, between vectors; the next call goes on behind the last byte that it moved.

#![expect(clippy::disallowed_methods, reason = "measures what this machine takes")]
#![expect(unsafe_code, reason = "calls process_vm_readv and process_vm_writev with many vectors")]

use super::sys::{Direction, PIECE_BYTES_MAX, Remote, last_error};
use crate::region::Vector;
use rustix::io::Errno;
use std::time::Instant;

/// The kernel takes no more vectors a side in one call (`IOV_MAX`).
const VECTORS_MAX: usize = 1024;

/// Moves all vectors, whose places are counted from `remote`.
///
/// # Errors
/// The kernel's, as soon as it moves nothing; what was moved before stays moved.
///
/// # Safety
/// Each vector's memory here must be valid: for writes by this thread alone if `direction` is `Read`, for reads if it is `Write`. The
/// kernel checks the remote runs. If the other process is this very one, they must be valid likewise, and overlap nothing here.
pub(super) unsafe fn transfer_each(
    direction: Direction,
    remote: Remote,
    vectors: &[Vector],
) -> Result<(), Errno> {
    let mut call = Call::default();
    let (mut rest, mut done) = (vectors, 0);
    loop {
        call.fill(remote, rest, done)?;
        if call.here.is_empty() {
            return Ok(());
        }
        // SAFETY: the call's vectors are parts of those for which the caller promises.
        match unsafe { call.make(direction, remote.pid) } {
            Ok(0) => return Err(Errno::FAULT),
            Ok(moved) => (rest, done) = behind(rest, done + moved),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// What is left of some vectors behind their first `bytes`: the vectors, and how many bytes of the first of them are done.
fn behind(mut vectors: &[Vector], mut bytes: usize) -> (&[Vector], usize) {
    while let Some((first, rest)) = vectors.split_first()
        && bytes >= first.len
    {
        (vectors, bytes) = (rest, bytes - first.len);
    }
    (vectors, bytes)
}

/// The vectors of one system call.
#[derive(Default)]
struct Call {
    here: Vec<libc::iovec>,
    there: Vec<libc::iovec>,
}

impl Call {
    /// Takes as many vectors as go into one call, without the first `done` bytes.
    ///
    /// # Errors
    /// [`Errno::FAULT`] for an address that is none.
    fn fill(&mut self, remote: Remote, vectors: &[Vector], mut done: usize) -> Result<(), Errno> {
        self.here.clear();
        self.there.clear();
        let mut bytes = 0;
        for vector in vectors {
            let len = (vector.len - done).min(PIECE_BYTES_MAX - bytes);
            let there = remote.address.checked_add((vector.at + done) as u64);
            let there = there.and_then(|address| usize::try_from(address).ok()).ok_or(Errno::FAULT)?;
            let is_full = self.here.len() == VECTORS_MAX || self.there.len() == VECTORS_MAX;
            if is_full || bytes == PIECE_BYTES_MAX {
                break;
            }
            if len > 0 {
                extend(&mut self.here, vector.here.wrapping_add(done), len);
                extend(&mut self.there, std::ptr::without_provenance_mut(there), len);
            }
            (bytes, done) = (bytes + len, 0);
        }
        Ok(())
    }

    /// One system call; may stop short.
    ///
    /// # Safety
    /// As for `transfer_each`.
    unsafe fn make(&self, direction: Direction, pid: i32) -> Result<usize, Errno> {
        let call = match direction {
            Direction::Read => libc::process_vm_readv,
            Direction::Write => libc::process_vm_writev,
        };
        let (here, there) = (&self.here, &self.there);
        // SAFETY: both lists are as long as said; what lies here is valid by the caller's promise, what lies there is checked by the kernel.
        let moved =
            unsafe { call(pid, here.as_ptr(), here.len() as u64, there.as_ptr(), there.len() as u64, 0) };
        usize::try_from(moved).map_err(|_| last_error())
    }
}

/// Adds a run to a side, to its last vector where the run follows that.
fn extend(side: &mut Vec<libc::iovec>, address: *mut u8, len: usize) {
    match side.last_mut() {
        Some(last) if last.iov_base.cast::<u8>().wrapping_add(last.iov_len) == address => last.iov_len += len,
        _ => side.push(libc::iovec { iov_base: address.cast(), iov_len: len }),
    }
}

/// What copies by the kernel cost, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VectorCosts {
    /// A vector, whatever its length, of runs that lie a page apart.
    pub vector_ns: f64,
    /// A byte of a long vector.
    pub byte_ns: f64,
}

/// Measures what copies by the kernel cost, by copies from this process to itself. `None` if the kernel refuses those. Takes about
/// 100 us.
pub fn vector_costs() -> Option<VectorCosts> {
    const PAGE: usize = 4 << 10;
    const PAGES: usize = 64;
    const RUN: usize = 8;
    let (source, mut target) = (vec![1_u8; PAGE * PAGES], vec![1_u8; PAGE * PAGES]);
    let remote =
        Remote { pid: i32::try_from(std::process::id()).ok()?, address: source.as_ptr().addr() as u64 };
    let here = target.as_mut_ptr();
    let run = |page: usize| Vector { at: page * PAGE, here: here.wrapping_add(page * RUN), len: RUN };
    let runs: Vec<Vector> = (0..PAGES).map(run).collect();
    let all = [Vector { at: 0, here, len: PAGE * PAGES }];
    let took_ns = |vectors: &[Vector]| {
        let once = || {
            let before = Instant::now();
            // SAFETY: `target` has room for all that the vectors say and is this thread's alone, and `source` is only read.
            unsafe { transfer_each(Direction::Read, remote, vectors) }.ok()?;
            Some(before.elapsed().as_nanos() as f64)
        };
        // The first one meets cold caches; an interrupt may be in one of the others.
        once()?;
        Some(once()?.min(once()?))
    };
    let (call_ns, runs_ns, all_ns) = (took_ns(&runs[..1])?, took_ns(&runs)?, took_ns(&all)?);
    Some(VectorCosts {
        vector_ns: (runs_ns - call_ns).max(1.0) / (PAGES - 1) as f64,
        byte_ns: (all_ns - call_ns).max(1.0) / (PAGE * PAGES) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::super::sys::tests::{PAGE_BYTES, page_before_a_hole};
    use super::*;

    fn own(address: *const u8) -> Remote {
        Remote { pid: std::process::id() as i32, address: address.addr() as u64 }
    }

    #[test]
    fn more_vectors_than_one_call_takes_arrive_each_in_its_place_in_both_directions() {
        let source: Vec<u8> = (0..100_000_u32).map(|index| ((index * 31) >> 3) as u8).collect();
        for count in [0, 1, VECTORS_MAX - 1, VECTORS_MAX, VECTORS_MAX + 1, 3 * VECTORS_MAX + 7] {
            let place = |run: usize| (run * 31 % 32 * 3000 + run / 32 * 7, run * 9, run % 6);
            let mut read = vec![0; count * 9];
            let here = read.as_mut_ptr();
            let vector = |run| {
                let (at, to, len) = place(run);
                Vector { at, here: here.wrapping_add(to), len }
            };
            let vectors: Vec<Vector> = (0..count).map(vector).collect();
            // SAFETY: `read` has room for each run and is nobody else's; the remote runs lie in `source`.
            let moved = unsafe { transfer_each(Direction::Read, own(source.as_ptr()), &vectors) };
            assert_eq!(moved, Ok(()));
            for (at, to, len) in (0..count).map(place) {
                assert!(read[to..to + len] == source[at..at + len]);
                assert!(read[to + len..to + 9].iter().all(|byte| *byte == 0), "what lies between stays");
            }
            let written = vec![0_u8; source.len()];
            // SAFETY: the runs of `read` are only read, and `written` is used by nobody meanwhile.
            let moved = unsafe { transfer_each(Direction::Write, own(written.as_ptr()), &vectors) };
            assert_eq!(moved, Ok(()));
            let written = std::hint::black_box(&written);
            assert!((0..count).map(place).all(|(at, _, len)| written[at..at + len] == source[at..at + len]));
        }
    }

    #[test]
    fn a_run_that_is_not_there_is_an_error_after_those_that_are() {
        let address = page_before_a_hole();
        let mut into = [1; 16];
        let here = into.as_mut_ptr();
        let vectors =
            [Vector { at: 0, here, len: 8 }, Vector { at: PAGE_BYTES, here: here.wrapping_add(8), len: 8 }];
        // SAFETY: `into` has room and is nobody else's; the kernel checks the rest.
        let moved = unsafe { transfer_each(Direction::Read, own(address), &vectors) };
        assert_eq!(moved, Err(Errno::FAULT));
        assert_eq!(into[..8], [0; 8], "what is there was read");
        let end = Remote { pid: std::process::id() as i32, address: u64::MAX };
        // SAFETY: as above.
        assert_eq!(unsafe { transfer_each(Direction::Read, end, &vectors[1..]) }, Err(Errno::FAULT));
    }

    #[test]
    fn what_was_moved_is_left_out_of_the_next_call() {
        let here = std::ptr::null_mut();
        let vectors = [3, 0, 5].map(|len| Vector { at: 0, here, len });
        let left = |bytes| {
            let (rest, done) = behind(&vectors, bytes);
            (rest.len(), done)
        };
        assert_eq!([0, 2, 3, 4, 8].map(left), [(3, 0), (3, 2), (1, 0), (1, 1), (0, 0)]);
    }

    #[test]
    fn costs_are_above_zero_where_the_kernel_copies() {
        if let Some(costs) = vector_costs() {
            assert!(costs.vector_ns > 0.0 && costs.byte_ns > 0.0, "{costs:?}");
        }
    }
}
