//! Codes: what the driver answers, and which answers mean that the context is gone.

#![expect(unsafe_code, reason = "calls the driver")]

use cudarc::driver::sys::{CUresult, cuGetErrorName, cuGetErrorString};
use std::ffi::CStr;
use std::fmt;

/// An answer that is not success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(super) CUresult);

impl Code {
    /// # Errors
    /// What is not success.
    pub(super) fn check(result: CUresult) -> Result<(), Self> {
        if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Self(result)) }
    }

    /// Whether every later call fails alike.
    pub(crate) fn is_sticky(self) -> bool {
        matches!(
            self.0,
            CUresult::CUDA_ERROR_DEINITIALIZED
                | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
                | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
                | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
                | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
                | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
                | CUresult::CUDA_ERROR_ASSERT
                | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
                | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
                | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | CUresult::CUDA_ERROR_INVALID_PC
                | CUresult::CUDA_ERROR_LAUNCH_FAILED
                | CUresult::CUDA_ERROR_EXTERNAL_DEVICE
                | CUresult::CUDA_ERROR_UNKNOWN
        )
    }

    pub(crate) fn is_out_of_memory(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    pub(crate) fn is_not_ready(self) -> bool {
        self.0 == CUresult::CUDA_ERROR_NOT_READY
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |ask: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
            let mut text = std::ptr::null();
            // SAFETY: the driver writes one pointer, to a static, terminated text or null.
            let asked = unsafe { ask(self.0, &raw mut text) };
            let is_there = asked == CUresult::CUDA_SUCCESS && !text.is_null();
            // SAFETY: as above.
            is_there.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        let (name, meaning) = (text(cuGetErrorName), text(cuGetErrorString));
        write!(out, "{} ({})", name.as_deref().unwrap_or("an error"), meaning.as_deref().unwrap_or("unknown"))
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
        assert!(sticky.into_iter().all(|result| Code(result).is_sticky()));
        let passing = [
            CUresult::CUDA_ERROR_OUT_OF_MEMORY,
            CUresult::CUDA_ERROR_INVALID_VALUE,
            CUresult::CUDA_ERROR_NOT_READY,
        ];
        assert!(passing.into_iter().all(|result| !Code(result).is_sticky()));
    }
}
