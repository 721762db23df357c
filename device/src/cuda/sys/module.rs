//! Modules of kernels, compiled by the driver when they are loaded.

#![expect(unsafe_code, reason = "calls the driver")]

use super::code::Code;
use super::driver::{cuModuleGetFunction, cuModuleLoadData, cuModuleUnload};
use cudarc::driver::sys::{CUfunction, CUmodule};
use std::ffi::CStr;

/// Kernels that were loaded together.
pub(crate) struct Module(CUmodule);

/// A kernel, valid as long as its module.
#[derive(Clone, Copy)]
pub(crate) struct Function(pub(super) CUfunction);

// SAFETY: the driver's handles are process-wide, and its calls may be made by any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}
// SAFETY: as above.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Module {
    pub(crate) fn load(ptx: &CStr) -> Result<Self, Code> {
        let mut module = std::ptr::null_mut();
        // SAFETY: the driver reads a terminated text and writes one handle.
        Code::check(unsafe { cuModuleLoadData(&raw mut module, ptx.as_ptr().cast()) })?;
        Ok(Self(module))
    }

    pub(crate) fn function(&self, name: &CStr) -> Result<Function, Code> {
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded; the driver reads a terminated text and writes one handle.
        Code::check(unsafe { cuModuleGetFunction(&raw mut function, self.0, name.as_ptr()) })?;
        Ok(Function(function))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded by this value; whoever launches its kernels holds it until they are over.
        let _ = unsafe { cuModuleUnload(self.0) };
    }
}
