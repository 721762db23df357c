//! Huge pages: how the kernel is asked to back long memory by them.

#![expect(unsafe_code, reason = "advises the kernel about memory")]

use rustix::mm::Advice;
use std::mem::MaybeUninit;

/// From here on memory is worth a system call, in bytes. The allocator maps memory of 32 MiB and more anew each time (glibc), and
/// touching it page by page costs as much as the copy: measured, a message of 64 MiB takes half the time with huge pages.
pub(crate) const HUGE_BYTES_MIN: usize = 4 << 20;

/// A multiple of every size that pages have on 64-bit Linux.
const PAGE_BYTES: usize = 64 << 10;

/// Asks the kernel to back memory by huge pages where it has none yet. A refusal costs only the time that was to be saved.
pub(crate) fn ask_for_huge_pages<T>(room: &mut [MaybeUninit<T>]) {
    let start = room.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE_BYTES);
    if let Some(whole) = size_of_val(room).checked_sub(skipped).map(|left| left / PAGE_BYTES * PAGE_BYTES) {
        // SAFETY: the pages lie inside `room`, which nobody else reaches; the advice changes what backs them, not what they hold.
        let _ = unsafe { rustix::mm::madvise(start.add(skipped).cast(), whole, Advice::LinuxHugepage) };
    }
}
