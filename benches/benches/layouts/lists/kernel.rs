//! Kernel copies: pieces of another process's memory to pieces of ours, many in a call.

#![expect(unsafe_code, reason = "calls process_vm_readv, which no safe crate offers")]

use std::io;

/// Vectors of either side that a call takes: `IOV_MAX`, as process_vm_readv(2) says.
const VECTORS_MAX: usize = 1024;

/// Where a piece lies in the other process, where it goes, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: usize,
    pub(super) len: usize,
}

/// A process whose memory is read.
pub(super) struct Reader {
    pid: libc::pid_t,
    local: Vec<libc::iovec>,
    remote: Vec<libc::iovec>,
}

impl Reader {
    pub(super) fn new(pid: u32) -> Self {
        let pid = libc::pid_t::try_from(pid).expect("a process's number");
        Self { pid, local: Vec::with_capacity(VECTORS_MAX), remote: Vec::with_capacity(VECTORS_MAX) }
    }

    /// Reads pieces to their places in `target`.
    ///
    /// # Errors
    /// The kernel's, also for memory that is not there.
    ///
    /// # Panics
    /// If a piece's place lies outside `target`.
    pub(super) fn read(&mut self, pieces: impl Iterator<Item = Piece>, target: &mut [u8]) -> io::Result<()> {
        // All places are taken of one pointer: each slice of `target` would end the ones before.
        let (base, room) = (target.as_mut_ptr(), target.len());
        let (mut open, mut bytes) = (0, 0);
        for Piece { from, to, len } in pieces {
            assert!(to <= room && len <= room - to, "{len} bytes at {to} of {room}");
            let address = std::ptr::without_provenance_mut(from as usize);
            self.remote.push(libc::iovec { iov_base: address, iov_len: len });
            match self.local.last_mut() {
                Some(last) if open == to => last.iov_len += len,
                _ => self.local.push(libc::iovec { iov_base: base.wrapping_add(to).cast(), iov_len: len }),
            }
            (open, bytes) = (to + len, bytes + len);
            if self.remote.len() == VECTORS_MAX {
                // SAFETY: each local vector lies within `target`, which is borrowed exclusively.
                unsafe { self.call(bytes) }?;
                bytes = 0;
            }
        }
        // SAFETY: as above.
        unsafe { self.call(bytes) }
    }

    /// Reads what the vectors say, and forgets them.
    ///
    /// # Safety
    /// The local vectors are valid for writes by this thread alone.
    unsafe fn call(&mut self, bytes: usize) -> io::Result<()> {
        let Self { pid, local, remote } = self;
        if remote.is_empty() {
            return Ok(());
        }
        let (locals, remotes) = (local.len() as libc::c_ulong, remote.len() as libc::c_ulong);
        // SAFETY: there are as many vectors as it is told; the local ones are the caller's promise, the kernel checks the others.
        let moved =
            unsafe { libc::process_vm_readv(*pid, local.as_ptr(), locals, remote.as_ptr(), remotes, 0) };
        local.clear();
        remote.clear();
        match usize::try_from(moved) {
            Ok(moved) if moved == bytes => Ok(()),
            Ok(moved) => Err(io::Error::other(format!("{moved} of {bytes} bytes were read"))),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }
}
