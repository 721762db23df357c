//! Instructions that hand a descriptor to a device: `MOVDIR64B` for a queue of one process, `ENQCMD` for one that many share.

#![expect(unsafe_code, reason = "the two instructions that hand a descriptor to a device")]

use super::words::Descriptor;

/// Whether this processor has `MOVDIR64B`, and whether it has `ENQCMD`.
#[cfg(target_arch = "x86_64")]
pub(super) fn available() -> (bool, bool) {
    // Leaf 7: extended features.
    let features = std::arch::x86_64::__cpuid_count(7, 0).ecx;
    (features & 1 << 28 != 0, features & 1 << 29 != 0)
}

/// The same for processors of other makes, which have neither.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn available() -> (bool, bool) {
    (false, false)
}

/// Hands a descriptor to the device behind `portal`, whether or not it has room.
///
/// # Safety
/// The processor has `MOVDIR64B`, `portal` is mapped from a device, and what the descriptor names stays until the device has done it.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn move_directly(portal: *mut u8, descriptor: &Descriptor) {
    // SAFETY: it writes 64 bytes to the portal, which is aligned to a page. The fence has all earlier stores, such as the emptied record
    // and the bytes to copy, precede it.
    unsafe {
        std::arch::asm!(
            "sfence",
            "movdir64b {portal}, [{descriptor}]",
            portal = in(reg) portal,
            descriptor = in(reg) descriptor,
            options(nostack, preserves_flags)
        );
    }
}

/// Hands a descriptor to the device behind `portal`. Returns whether it was taken.
///
/// # Safety
/// The processor has `ENQCMD`; otherwise as for `move_directly`.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn enqueue(portal: *mut u8, descriptor: &Descriptor) -> bool {
    let refused: u8;
    // SAFETY: as in `move_directly`; the answer is in the zero flag.
    unsafe {
        std::arch::asm!(
            "sfence",
            "enqcmd {portal}, [{descriptor}]",
            "setz {refused}",
            portal = in(reg) portal,
            descriptor = in(reg) descriptor,
            refused = out(reg_byte) refused,
            options(nostack)
        );
    }
    refused == 0
}

/// Never called: `available` denies it.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn move_directly(_: *mut u8, _: &Descriptor) {
    unreachable!("this processor has no such instruction");
}

/// Never called: `available` denies it.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn enqueue(_: *mut u8, _: &Descriptor) -> bool {
    unreachable!("this processor has no such instruction");
}
