//! System calls of CMA, two of them, and the loop around them.

#![expect(unsafe_code, reason = "calls process_vm_readv and process_vm_writev, which no safe crate offers")]

use rustix::io::Errno;

/// The kernel moves no more in one call (`MAX_RW_COUNT`, rounded down to a page).
pub(super) const PIECE_BYTES_MAX: usize = 0x7fff_f000;

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// From the other process to this one.
    Read,
    /// From this process to the other one.
    Write,
}

/// A range of another process's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remote {
    pub(super) pid: i32,
    pub(super) address: u64,
}

/// Moves `len` bytes, in calls of at most `piece_bytes_max`, however often the kernel stops short.
///
/// # Errors
/// The kernel's, as soon as it moves nothing; what was moved before stays moved.
///
/// # Safety
/// `local` must be valid for `len` bytes: for writes by this thread alone if `direction` is `Read`, for
/// reads if it is `Write`. The remote range needs no argument: the kernel checks it against the other
/// process. If that is this very process, it must be valid likewise and not overlap `local`.
pub(super) unsafe fn transfer(
    direction: Direction,
    remote: Remote,
    local: *mut u8,
    len: usize,
    piece_bytes_max: usize,
) -> Result<(), Errno> {
    let mut done = 0;
    while done < len {
        let piece = (len - done).min(piece_bytes_max);
        let address = remote.address.checked_add(done as u64).ok_or(Errno::FAULT)?;
        // SAFETY: `done + piece <= len`, so the caller's promise covers the piece.
        let moved =
            unsafe { move_piece(direction, Remote { address, ..remote }, local.wrapping_add(done), piece) };
        match moved {
            Ok(0) => return Err(Errno::FAULT),
            Ok(moved) => done += moved,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// One system call; may stop short.
///
/// # Safety
/// As for `transfer`.
unsafe fn move_piece(
    direction: Direction,
    remote: Remote,
    local: *mut u8,
    len: usize,
) -> Result<usize, Errno> {
    let local = libc::iovec { iov_base: local.cast(), iov_len: len };
    let address = usize::try_from(remote.address).map_err(|_| Errno::FAULT)?;
    let there = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: len };
    let call = match direction {
        Direction::Read => libc::process_vm_readv,
        Direction::Write => libc::process_vm_writev,
    };
    // SAFETY: one vector each; the local one is valid by the caller's promise, the remote
    // one is checked by the kernel.
    let moved = unsafe { call(remote.pid, &raw const local, 1, &raw const there, 1, 0) };
    usize::try_from(moved).map_err(|_| last_error())
}

pub(super) fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Fills `into` from another process.
///
/// # Errors
/// As for `transfer`.
pub(super) fn copy_in(remote: Remote, into: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: `into` is exclusively borrowed; the kernel checks the remote range, and reading it changes nothing.
    unsafe { transfer(Direction::Read, remote, into.as_mut_ptr(), into.len(), PIECE_BYTES_MAX) }
}

/// Writes `from` to another process.
///
/// # Safety
/// If the other process is this very one, the remote range must be open to such writes.
///
/// # Errors
/// As for `transfer`.
pub(super) unsafe fn copy_out(remote: Remote, from: &[u8]) -> Result<(), Errno> {
    let local = from.as_ptr().cast_mut();
    // SAFETY: `from` is borrowed and only read in this direction; the rest is the caller's promise.
    unsafe { transfer(Direction::Write, remote, local, from.len(), PIECE_BYTES_MAX) }
}

#[cfg(test)]
pub(in crate::cma) mod tests {
    use super::*;

    /// A multiple of every size that pages have on 64-bit Linux.
    pub(in crate::cma) const PAGE_BYTES: usize = 64 << 10;

    fn own(address: *const u8) -> Remote {
        Remote { pid: std::process::id() as i32, address: address.addr() as u64 }
    }

    #[test]
    fn pieces_of_every_length_add_up() {
        let source: Vec<u8> = (0..10_000).map(|index| ((index * 31) >> 3) as u8).collect();
        for len in [0, 1, 4095, 4096, 4097, 10_000] {
            for piece_bytes_max in [1, 7, 4096, len.max(1), len + 1, PIECE_BYTES_MAX] {
                let mut read = vec![0; len];
                // SAFETY: `read` is valid and exclusive, the remote range is `source`.
                let moved = unsafe {
                    transfer(Direction::Read, own(source.as_ptr()), read.as_mut_ptr(), len, piece_bytes_max)
                };
                assert_eq!(moved, Ok(()));
                assert!(read == source[..len], "{len} in pieces of {piece_bytes_max}");
                let written = vec![0_u8; len];
                let mut from = source[..len].to_vec();
                // SAFETY: `from` is valid, the remote range is `written`, which nobody uses meanwhile.
                let moved = unsafe {
                    let target = own(written.as_ptr());
                    transfer(Direction::Write, target, from.as_mut_ptr(), len, piece_bytes_max)
                };
                assert_eq!(moved, Ok(()));
                assert!(std::hint::black_box(&written)[..] == source[..len]);
            }
        }
    }

    /// A page of zeros, writable, at whose end there is a hole. Stays for ever.
    pub(in crate::cma) fn page_before_a_hole() -> *mut u8 {
        // SAFETY: a fresh mapping at an address the kernel chooses; its second page is taken away again.
        unsafe {
            use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
            let flags = ProtFlags::READ | ProtFlags::WRITE;
            let address = mmap_anonymous(std::ptr::null_mut(), 2 * PAGE_BYTES, flags, MapFlags::PRIVATE)
                .expect("memory")
                .cast::<u8>();
            munmap(address.add(PAGE_BYTES).cast(), PAGE_BYTES).expect("unmapped");
            address
        }
    }

    #[test]
    fn memory_that_is_not_there_is_an_error_after_what_is() {
        let address = page_before_a_hole();
        let mut into = vec![1; 2 * PAGE_BYTES];
        assert_eq!(copy_in(own(address), &mut into), Err(Errno::FAULT));
        assert!(into[..PAGE_BYTES].iter().all(|&byte| byte == 0), "what is there was read");
        assert_eq!(copy_in(own(address), &mut into[..PAGE_BYTES]), Ok(()));
        let end = Remote { pid: std::process::id() as i32, address: u64::MAX };
        assert_eq!(copy_in(end, &mut into[..2]), Err(Errno::FAULT));
    }
}
