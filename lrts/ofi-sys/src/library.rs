//! Shared library of libfabric: loads it and looks up the symbols that it exports.
//!
//! It is loaded once per process and stays: its providers start threads and leave exit handlers behind.

#![expect(unsafe_code, reason = "looks symbols up in a shared library")]

use crate::abi::{fi_info, fid_fabric};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::sync::OnceLock;

/// What the dynamic linker looks for. The number is that of the ABI: libfabric 1 and 2 have it.
const NAME: &str = "libfabric.so.1";

/// Why libfabric cannot be used, in one sentence, with what helps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError(String);

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// libfabric, loaded. Its functions are those of the manual pages, under their names without `fi_`.
pub struct Library {
    _library: libloading::Library,
    version: unsafe extern "C" fn() -> u32,
    getinfo: unsafe extern "C" fn(
        u32,
        *const c_char,
        *const c_char,
        u64,
        *const fi_info,
        *mut *mut fi_info,
    ) -> c_int,
    freeinfo: unsafe extern "C" fn(*mut fi_info),
    dupinfo: unsafe extern "C" fn(*const fi_info) -> *mut fi_info,
    fabric: unsafe extern "C" fn(*mut crate::abi::fi_fabric_attr, *mut *mut fid_fabric, *mut c_void) -> c_int,
    strerror: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl Library {
    /// Loads libfabric, once per process.
    ///
    /// # Errors
    /// When it is not installed, or is none.
    pub fn load() -> Result<&'static Self, LoadError> {
        static LOADED: OnceLock<Result<Library, LoadError>> = OnceLock::new();
        LOADED.get_or_init(Self::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Self, LoadError> {
        let absent = |cause: libloading::Error| {
            LoadError(format!("libfabric is not here ({cause}); install it (Debian: libfabric1)"))
        };
        // SAFETY: libfabric's initialisers are those of an ordinary C library: they need nothing from us.
        let library = unsafe { libloading::Library::new(NAME) }.map_err(absent)?;
        // SAFETY: the types are those that the headers declare for these names, in every version of this ABI, and
        // the pointers stay valid because the library is kept beside them.
        unsafe {
            Ok(Self {
                version: *library.get(b"fi_version\0").map_err(absent)?,
                getinfo: *library.get(b"fi_getinfo\0").map_err(absent)?,
                freeinfo: *library.get(b"fi_freeinfo\0").map_err(absent)?,
                dupinfo: *library.get(b"fi_dupinfo\0").map_err(absent)?,
                fabric: *library.get(b"fi_fabric\0").map_err(absent)?,
                strerror: *library.get(b"fi_strerror\0").map_err(absent)?,
                _library: library,
            })
        }
    }

    /// Major and minor version of what was loaded.
    pub fn version(&self) -> (u32, u32) {
        // SAFETY: takes nothing, returns a number.
        let version = unsafe { (self.version)() };
        (version >> 16, version & 0xffff)
    }

    /// What an error number (positive) means.
    pub fn error_text(&self, number: c_int) -> String {
        // SAFETY: returns a static, terminated text for any number, or nothing.
        let text = unsafe { (self.strerror)(number) };
        if text.is_null() {
            return format!("error {number}");
        }
        // SAFETY: not null, therefore as above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// `fi_getinfo`: a list of what is there, to be given back to [`Library::freeinfo`].
    ///
    /// # Safety
    /// As the manual page asks: texts are terminated or null, `hints` is a structure of this library or null.
    pub unsafe fn getinfo(
        &self,
        version: u32,
        node: *const c_char,
        flags: u64,
        hints: *const fi_info,
        list: &mut *mut fi_info,
    ) -> c_int {
        // SAFETY: the caller's.
        unsafe { (self.getinfo)(version, node, std::ptr::null(), flags, hints, list) }
    }

    /// `fi_freeinfo`.
    ///
    /// # Safety
    /// `info` came from this library and is not used again.
    pub unsafe fn freeinfo(&self, info: *mut fi_info) {
        // SAFETY: the caller's.
        unsafe { (self.freeinfo)(info) }
    }

    /// `fi_dupinfo`: a copy of one element of a list; of null, an empty one (`fi_allocinfo`). Null without memory.
    ///
    /// # Safety
    /// `info` came from this library or is null.
    pub unsafe fn dupinfo(&self, info: *const fi_info) -> *mut fi_info {
        // SAFETY: the caller's.
        unsafe { (self.dupinfo)(info) }
    }

    /// `fi_fabric`.
    ///
    /// # Safety
    /// `attributes` came from this library.
    pub unsafe fn fabric(
        &self,
        attributes: *mut crate::abi::fi_fabric_attr,
        fabric: &mut *mut fid_fabric,
    ) -> c_int {
        // SAFETY: the caller's.
        unsafe { (self.fabric)(attributes, fabric, std::ptr::null_mut()) }
    }
}
