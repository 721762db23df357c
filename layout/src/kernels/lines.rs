//! Whole lines: copies in a row whose stores go past the caches, so that no line of the target is read first.
//!
//! What is before the first whole line of the target and behind the last goes through the caches. The stores become visible
//! to others after [`fence`].

#![expect(unsafe_code, reason = "stores past the caches to memory that others may touch")]

/// Bytes of a line.
pub(crate) const LINE: usize = 64;

/// Copies `len` bytes.
///
/// # Safety
/// As many bytes of the source may be read and of the target written; they share none.
pub(crate) unsafe fn stream(source: *const u8, target: *mut u8, len: usize) {
    let head = target.align_offset(LINE).min(len);
    let lines = (len - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: head, lines and tail are the `len` bytes; the target of the lines is aligned to one.
    unsafe {
        std::ptr::copy_nonoverlapping(source, target, head);
        whole(source.add(head), target.add(head), lines);
        std::ptr::copy_nonoverlapping(source.add(tail), target.add(tail), len - tail);
    }
}

/// Orders what was streamed before what is stored next: a flag that says that it is there.
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// # Safety
/// As for [`stream`], for `lines` lines; the target is aligned to a line.
#[cfg(target_arch = "x86_64")]
unsafe fn whole(source: *const u8, target: *mut u8, lines: usize) {
    // SAFETY: the caller's promise, and what the processor says of itself.
    unsafe {
        if is_x86_feature_detected!("avx512f") {
            avx512(source, target, lines);
        } else if is_x86_feature_detected!("avx2") {
            avx2(source, target, lines);
        } else {
            sse2(source, target, lines);
        }
    }
}

/// # Safety
/// As for [`stream`], for `lines` lines.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn whole(source: *const u8, target: *mut u8, lines: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(source, target, lines * LINE) };
}

/// # Safety
/// As for [`whole`], on a processor with AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512(source: *const u8, target: *mut u8, lines: usize) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};
    for line in 0..lines {
        // SAFETY: the line lies in both; the store's place is aligned to 64.
        unsafe {
            let whole = _mm512_loadu_si512(source.add(line * LINE).cast());
            _mm512_stream_si512(target.add(line * LINE).cast(), whole);
        }
    }
}

/// # Safety
/// As for [`whole`], on a processor with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2(source: *const u8, target: *mut u8, lines: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    for half in 0..lines * 2 {
        // SAFETY: the half line lies in both; the store's place is aligned to 32.
        unsafe {
            let some = _mm256_loadu_si256(source.add(half * 32).cast());
            _mm256_stream_si256(target.add(half * 32).cast(), some);
        }
    }
}

/// # Safety
/// As for [`whole`].
#[cfg(target_arch = "x86_64")]
unsafe fn sse2(source: *const u8, target: *mut u8, lines: usize) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    for quarter in 0..lines * 4 {
        // SAFETY: the quarter line lies in both; the store's place is aligned to 16; SSE2 is part of x86-64.
        unsafe {
            let some = _mm_loadu_si128(source.add(quarter * 16).cast());
            _mm_stream_si128(target.add(quarter * 16).cast(), some);
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn all_widths_copy_the_same() {
        let source: Vec<u8> = (0..1024).map(|byte| (byte * 7) as u8).collect();
        type Kernel = unsafe fn(*const u8, *mut u8, usize);
        let mut kernels: Vec<Kernel> = vec![sse2];
        if is_x86_feature_detected!("avx2") {
            kernels.push(avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            kernels.push(avx512);
        }
        for kernel in kernels {
            let mut target = vec![0_u8; 1024];
            let head = target.as_ptr().align_offset(LINE);
            // SAFETY: 8 lines behind 3 bytes lie in the source, and behind the first whole line in the target.
            unsafe { kernel(source.as_ptr().add(3), target.as_mut_ptr().add(head), 8) };
            fence();
            assert_eq!(target[head..head + 8 * LINE], source[3..3 + 8 * LINE]);
            assert!(target[..head].iter().chain(&target[head + 8 * LINE..]).all(|byte| *byte == 0));
        }
    }
}
