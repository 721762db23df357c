//! Codes: what the driver answers, and which answers mean that the context is gone.

#![expect(unsafe_code, reason = "calls the driver")]

use super::driver::{cuGetErrorName, cuGetErrorString};
use cudarc::driver::sys::CUresult;
use std::ffi::CStr;
use std::fmt;

/// Answers that are given for ever.
const STICKY: [CUresult; 15] = [
    CUresult::CUDA_ERROR_DEINITIALIZED,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
    CUresult::CUDA_ERROR_UNKNOWN,
];

/// An answer that is not success: a number, because a driver may be newer than the bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(super) u32);

impl Code {
    /// # Errors
    /// What is not success.
    pub(super) fn check(answer: u32) -> Result<(), Self> {
        if answer == CUresult::CUDA_SUCCESS as u32 { Ok(()) } else { Err(Self(answer)) }
    }

    /// Whether every later call fails alike.
    pub(crate) fn is_sticky(self) -> bool {
        STICKY.iter().any(|answer| *answer as u32 == self.0)
    }

    pub(crate) fn is_out_of_memory(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY as u32
    }

    pub(crate) fn is_not_ready(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_NOT_READY as u32
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |ask: unsafe fn(u32, *mut *const std::ffi::c_char) -> u32| {
            let mut text = std::ptr::null();
            // SAFETY: the driver writes one pointer, to a static, terminated text or null.
            let asked = unsafe { ask(self.0, &raw mut text) };
            let is_there = asked == CUresult::CUDA_SUCCESS as u32 && !text.is_null();
            // SAFETY: as above.
            is_there.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        let (name, meaning) = (text(cuGetErrorName), text(cuGetErrorString));
        match (name, meaning) {
            (Some(name), Some(meaning)) => write!(out, "{name} ({meaning})"),
            _ => write!(out, "error {}, which the driver does not explain", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The driver gives these for ever; what it gives once must not lose the device.
    #[test]
    fn answers_of_a_context_that_is_gone_stay() {
        let sticky = [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ];
        assert!(sticky.into_iter().all(|result| Code(result as u32).is_sticky()));
        let passing = [
            CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            CUresult::CUDA_ERROR_INVALID_VALUE,
            CUresult::CUDA_ERROR_NOT_READY,
        ];
        assert!(passing.into_iter().all(|result| !Code(result as u32).is_sticky()));
    }
    /// A driver that is newer than the bindings gives answers that they do not have. There is no driver here that could explain it.
    #[test]
    fn an_answer_that_the_bindings_do_not_have_is_an_error_like_another() {
        let newer = 12_345;
        assert_eq!(Code::check(newer), Err(Code(newer)));
        let code = Code(newer);
        assert!(!code.is_sticky() && !code.is_not_ready() && !code.is_out_of_memory());
        assert!(code.to_string().contains("12345"), "{code}");
    }
}
