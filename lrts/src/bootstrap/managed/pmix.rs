//! PMIx, the process management interface of Open MPI, PRRTE and Slurm's `pmix` plugin, by its client library `libpmix.so.2`.
//!
//! Layouts and numbers are those of the PMIx standard (versions 2 to 5), section "Data Structures and Types".

#![expect(clippy::disallowed_methods, reason = "a process manager answers in real time")]
#![expect(unsafe_code, reason = "calls a C library that is loaded at run time")]

use super::process_manager::ProcessManager;
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

const LIBRARY: &str = "libpmix.so.2";
const SUCCESS: c_int = 0;
/// Not a process but all of a name space.
const RANK_WILDCARD: u32 = u32::MAX - 1;
/// Published for all processes, of this host and of others.
const SCOPE_GLOBAL: u8 = 3;
/// The longest text that is published at once; the standard sets no limit.
const TEXT_CHARS_MAX: usize = 4096;

const TYPE_BOOL: u16 = 1;
const TYPE_STRING: u16 = 3;
const TYPE_INT: u16 = 6;
const TYPE_UINT32: u16 = 14;

#[repr(C)]
#[derive(Clone, Copy)]
struct Proc {
    name_space: [c_char; 256],
    rank: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Data {
    flag: bool,
    integer: c_int,
    uint32: u32,
    string: *mut c_char,
    /// As long as the longest member of the standard's union.
    words: [u64; 3],
}

#[repr(C)]
struct Value {
    kind: u16,
    data: Data,
}

#[repr(C)]
struct Info {
    key: [c_char; 512],
    flags: u32,
    value: Value,
}

impl Info {
    fn new(key: &CStr, kind: u16, data: Data) -> Self {
        let mut info = Self { key: [0; 512], flags: 0, value: Value { kind, data } };
        info.key.iter_mut().zip(key.to_bytes()).for_each(|(to, from)| *to = *from as c_char);
        info
    }
}

type Init = unsafe extern "C" fn(*mut Proc, *const Info, usize) -> c_int;
type Finalize = unsafe extern "C" fn(*const Info, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> c_int;
type Get = unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions used, found once.
struct Functions {
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    finalize: Finalize,
    error_string: ErrorString,
    /// Never unloaded: it runs a thread of its own.
    _library: ManuallyDrop<Library>,
}

/// A connection to a PMIx server.
pub(super) struct Pmix {
    functions: Functions,
    own: Proc,
    size: u32,
}

impl Pmix {
    /// Loads the library and greets the server that the environment names.
    pub(super) fn connect(patience: Duration) -> Result<Self, String> {
        let missing = |cause: libloading::Error| {
            format!(
                "a launcher speaks PMIx, but {LIBRARY} cannot be used ({cause}); install it (Debian: libpmix2) or add its folder to LD_LIBRARY_PATH"
            )
        };
        // SAFETY: libpmix's initialisers are made to be run by a plain load.
        let library = ManuallyDrop::new(unsafe { Library::new(LIBRARY) }.map_err(missing)?);
        // SAFETY: the names and types are those of the standard's header; the pointers are used while the library stays
        // loaded, which is for ever.
        let (init, functions) = unsafe {
            let symbol = |name: &CStr| library.get::<*mut c_void>(name.to_bytes_with_nul()).map_err(missing);
            let init = std::mem::transmute::<*mut c_void, Init>(*symbol(c"PMIx_Init")?);
            let put = std::mem::transmute::<*mut c_void, Put>(*symbol(c"PMIx_Put")?);
            let commit = std::mem::transmute::<*mut c_void, Commit>(*symbol(c"PMIx_Commit")?);
            let fence = std::mem::transmute::<*mut c_void, Fence>(*symbol(c"PMIx_Fence")?);
            let get = std::mem::transmute::<*mut c_void, Get>(*symbol(c"PMIx_Get")?);
            let finalize = std::mem::transmute::<*mut c_void, Finalize>(*symbol(c"PMIx_Finalize")?);
            let error_string =
                std::mem::transmute::<*mut c_void, ErrorString>(*symbol(c"PMIx_Error_string")?);
            (init, Functions { put, commit, fence, get, finalize, error_string, _library: library })
        };
        let mut own = Proc { name_space: [0; 256], rank: 0 };
        // SAFETY: `own` is a writable process name as the header describes it; no infos are passed.
        let status = unsafe { init(&raw mut own, null(), 0) };
        functions.check("PMIx_Init", status)?;
        let mut manager = Self { functions, own, size: 0 };
        let all = Proc { rank: RANK_WILDCARD, ..own };
        let deadline = Instant::now() + patience;
        manager.size = manager.read(&all, c"pmix.job.size", deadline, |value| {
            // SAFETY: any bits of the union are a number; the type says whether it is the one asked for.
            let number = unsafe { value.data.uint32 };
            (value.kind == TYPE_UINT32).then_some(number)
        })?;
        Ok(manager)
    }

    /// What `proc` published, or its server knows, under a key.
    fn read<R>(
        &self,
        proc: &Proc,
        key: &CStr,
        deadline: Instant,
        take: impl FnOnce(&Value) -> Option<R>,
    ) -> Result<R, String> {
        let timeout = timeout_until(deadline);
        let mut value: *mut Value = null_mut();
        // SAFETY: all pointers are to live values of the header's types; the library stores a pointer to a value of its own.
        let status =
            unsafe { (self.functions.get)(proc, key.as_ptr(), &raw const timeout, 1, &raw mut value) };
        self.functions.check("PMIx_Get", status)?;
        if value.is_null() {
            return Err("PMIx_Get brought no value".to_owned());
        }
        // SAFETY: a successful PMIx_Get leaves a value that belongs to the caller.
        let taken = take(unsafe { &*value });
        // SAFETY: the value and the string in it were allocated by `malloc` for the caller, who frees each once; values of
        // other types, which nobody asked for, are left alone but for themselves.
        unsafe {
            if (*value).kind == TYPE_STRING {
                libc::free((*value).data.string.cast());
            }
            libc::free(value.cast());
        }
        taken.ok_or_else(|| format!("{} has another type than expected", key.to_string_lossy()))
    }
}

impl Functions {
    fn check(&self, what: &str, status: c_int) -> Result<(), String> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: takes any number, returns a static string or null.
        let text = unsafe { (self.error_string)(status) };
        let text = if text.is_null() {
            String::new()
        } else {
            // SAFETY: a zero-terminated static string.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(format!("{what} failed: {text} ({status})"))
    }
}

/// How long the server may take, in whole seconds as the standard wants it; at least one.
fn timeout_until(deadline: Instant) -> Info {
    let seconds = deadline.saturating_duration_since(Instant::now()).as_secs().clamp(1, 1 << 30);
    Info::new(c"pmix.timeout", TYPE_INT, Data { integer: seconds as c_int })
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a text with a zero in it".to_owned())
}

impl ProcessManager for Pmix {
    fn name(&self) -> &'static str {
        "PMIx"
    }

    fn rank(&self) -> u32 {
        self.own.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn text_chars_max(&self) -> usize {
        TEXT_CHARS_MAX
    }

    fn publish(&mut self, key: &str, text: &str) -> Result<(), String> {
        let (key, text) = (c_string(key)?, c_string(text)?);
        let mut value = Value { kind: TYPE_STRING, data: Data { words: [0; 3] } };
        value.data.string = text.as_ptr().cast_mut();
        // SAFETY: key and value live through the call, which copies both and writes neither.
        let status = unsafe { (self.functions.put)(SCOPE_GLOBAL, key.as_ptr(), &raw mut value) };
        self.functions.check("PMIx_Put", status)
    }

    fn fence(&mut self, deadline: Instant) -> Result<(), String> {
        // SAFETY: no arguments.
        let status = unsafe { (self.functions.commit)() };
        self.functions.check("PMIx_Commit", status)?;
        let infos = [timeout_until(deadline), Info::new(c"pmix.collect", TYPE_BOOL, Data { flag: true })];
        // SAFETY: no processes means all of the job; the infos live through the call.
        let status = unsafe { (self.functions.fence)(null(), 0, infos.as_ptr(), infos.len()) };
        self.functions.check("PMIx_Fence", status)
    }

    fn look_up(&mut self, rank: u32, key: &str, deadline: Instant) -> Result<String, String> {
        let proc = Proc { rank, ..self.own };
        self.read(&proc, &c_string(key)?, deadline, |value| {
            // SAFETY: the type says which member is set; a string ends in a zero.
            (value.kind == TYPE_STRING)
                .then(|| unsafe { CStr::from_ptr(value.data.string) }.to_string_lossy().into_owned())
        })
    }

    fn finish(&mut self) {
        // SAFETY: no infos are passed; nothing is asked of the library afterwards. A server that is gone needs no goodbye.
        let _ = unsafe { (self.functions.finalize)(null(), 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn layouts_are_the_standards() {
        assert_eq!((size_of::<Proc>(), offset_of!(Proc, rank)), (260, 256));
        assert_eq!((size_of::<Value>(), offset_of!(Value, data)), (32, 8));
        assert_eq!((size_of::<Info>(), offset_of!(Info, flags), offset_of!(Info, value)), (552, 512, 520));
    }
}
