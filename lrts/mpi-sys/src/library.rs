//! Shared library of MPI: finds and loads it, tells its ABI, and starts and ends it for the process.
//!
//! It is loaded once per process and stays: an MPI is initialised once, starts threads and leaves exit handlers behind.

#![expect(unsafe_code, reason = "looks symbols up in a shared library and calls them")]

use crate::abi::{Abi, Handle, Handles, Status, Threads};
use crate::error::{LoadError, MpiError};
use libloading::os::unix::{self, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// `MPI_MAX_LIBRARY_VERSION_STRING` and `MPI_MAX_ERROR_STRING` of every known MPI are at most this.
const TEXT_BYTES: usize = 8192;

/// How Open MPI's own communicators are found, and how it is told from others.
const OPEN_MPI_SYMBOL: &str = "ompi_mpi_comm_world";

macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*);)*) => {
        /// The functions used by every ABI; all return an error code.
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn find(library: &unix::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of the standard's C binding for these names, with handles as words (see
                // `abi`); the pointers stay valid because the library is never unloaded.
                unsafe { Ok(Self { $($field: *library.get($symbol)?,)* }) }
            }
        }
    };
}

functions! {
    get_library_version = b"MPI_Get_library_version\0": fn(*mut c_char, *mut c_int);
    initialized = b"MPI_Initialized\0": fn(*mut c_int);
    finalized = b"MPI_Finalized\0": fn(*mut c_int);
    init_thread = b"MPI_Init_thread\0": fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    query_thread = b"MPI_Query_thread\0": fn(*mut c_int);
    is_thread_main = b"MPI_Is_thread_main\0": fn(*mut c_int);
    finalize = b"MPI_Finalize\0": fn();
    error_string = b"MPI_Error_string\0": fn(c_int, *mut c_char, *mut c_int);
    comm_set_errhandler = b"MPI_Comm_set_errhandler\0": fn(Handle, Handle);
    comm_dup = b"MPI_Comm_dup\0": fn(Handle, *mut Handle);
    comm_free = b"MPI_Comm_free\0": fn(*mut Handle);
    comm_rank = b"MPI_Comm_rank\0": fn(Handle, *mut c_int);
    comm_size = b"MPI_Comm_size\0": fn(Handle, *mut c_int);
    isend = b"MPI_Isend\0": fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    irecv = b"MPI_Irecv\0": fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    send = b"MPI_Send\0": fn(*const c_void, c_int, Handle, c_int, c_int, Handle);
    recv = b"MPI_Recv\0": fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Status);
    test = b"MPI_Test\0": fn(*mut Handle, *mut c_int, *mut Status);
    cancel = b"MPI_Cancel\0": fn(*mut Handle);
    test_cancelled = b"MPI_Test_cancelled\0": fn(*const Status, *mut c_int);
    get_count = b"MPI_Get_count\0": fn(*const Status, Handle, *mut c_int);
    type_contiguous = b"MPI_Type_contiguous\0": fn(c_int, Handle, *mut Handle);
    type_vector = b"MPI_Type_vector\0": fn(c_int, c_int, c_int, Handle, *mut Handle);
    type_hvector = b"MPI_Type_create_hvector\0": fn(c_int, c_int, isize, Handle, *mut Handle);
    type_indexed = b"MPI_Type_indexed\0": fn(c_int, *const c_int, *const c_int, Handle, *mut Handle);
    type_hindexed = b"MPI_Type_create_hindexed\0": fn(c_int, *const c_int, *const isize, Handle, *mut Handle);
    type_indexed_block = b"MPI_Type_create_indexed_block\0": fn(c_int, c_int, *const c_int, Handle, *mut Handle);
    type_hindexed_block = b"MPI_Type_create_hindexed_block\0": fn(c_int, c_int, *const isize, Handle, *mut Handle);
    type_struct = b"MPI_Type_create_struct\0": fn(c_int, *const c_int, *const isize, *const c_void, *mut Handle);
    type_subarray = b"MPI_Type_create_subarray\0": fn(c_int, *const c_int, *const c_int, *const c_int, c_int, Handle, *mut Handle);
    type_darray = b"MPI_Type_create_darray\0": fn(c_int, c_int, c_int, *const c_int, *const c_int, *const c_int, *const c_int, c_int, Handle, *mut Handle);
    type_resized = b"MPI_Type_create_resized\0": fn(Handle, isize, isize, *mut Handle);
    type_commit = b"MPI_Type_commit\0": fn(*mut Handle);
    type_free = b"MPI_Type_free\0": fn(*mut Handle);
    type_size = b"MPI_Type_size\0": fn(Handle, *mut c_int);
    type_extent = b"MPI_Type_get_extent\0": fn(Handle, *mut isize, *mut isize);
    type_true_extent = b"MPI_Type_get_true_extent\0": fn(Handle, *mut isize, *mut isize);
    pack = b"MPI_Pack\0": fn(*const c_void, c_int, Handle, *mut c_void, c_int, *mut c_int, Handle);
    unpack = b"MPI_Unpack\0": fn(*const c_void, c_int, *mut c_int, *mut c_void, c_int, Handle, Handle);
    barrier = b"MPI_Barrier\0": fn(Handle);
    bcast = b"MPI_Bcast\0": fn(*mut c_void, c_int, Handle, c_int, Handle);
    gather = b"MPI_Gather\0": fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, c_int, Handle);
    alltoall = b"MPI_Alltoall\0": fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle);
    iallgather = b"MPI_Iallgather\0": fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle, *mut Handle);
}

/// How the number of a communicator in Fortran becomes a handle, and back.
enum Fortran {
    /// It is one.
    Same,
    By {
        to_handle: unsafe extern "C" fn(c_int) -> Handle,
        to_number: unsafe extern "C" fn(Handle) -> c_int,
    },
}

/// An MPI, loaded.
pub struct Library {
    pub(crate) functions: Functions,
    pub(crate) handles: Handles,
    fortran: Fortran,
    abi: Abi,
    version: String,
    file: String,
}

impl Library {
    /// Loads an MPI, once per process: the one that the program is linked with, if it is, else the first of these files that is
    /// there. Later calls return the same.
    ///
    /// # Errors
    /// When none of them is there, or what is there is none.
    pub fn load(files: &[&str]) -> Result<&'static Self, LoadError> {
        static LOADED: OnceLock<Result<Library, LoadError>> = OnceLock::new();
        LOADED.get_or_init(|| Self::open(files)).as_ref().map_err(Clone::clone)
    }

    fn open(files: &[&str]) -> Result<Self, LoadError> {
        let program = unix::Library::this();
        // SAFETY: only whether the symbol is there matters.
        if unsafe { program.get::<*mut c_void>(b"MPI_Initialized\0") }.is_ok() {
            return Self::examine(program, "the program itself");
        }
        let mut causes = Vec::new();
        for file in files {
            // Global, because Open MPI's plugins expect to find its symbols there.
            // SAFETY: an MPI's initialisers are those of an ordinary C library: they need nothing from us.
            match unsafe { unix::Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) } {
                Ok(library) => return Self::examine(library, file),
                Err(cause) => causes.push(cause.to_string()),
            }
        }
        Err(LoadError(format!(
            "no MPI is here ({}); install one (Debian: openmpi-bin or mpich), or add its folder to LD_LIBRARY_PATH",
            causes.join("; ")
        )))
    }

    fn examine(library: unix::Library, file: &str) -> Result<Self, LoadError> {
        let unusable = |cause: String| LoadError(format!("{file} cannot be used as an MPI: {cause}"));
        let lacking = |cause: libloading::Error| unusable(format!("it lacks a function of MPI 3 ({cause})"));
        let functions = Functions::find(&library).map_err(lacking)?;
        let text = read_text(|text, len| {
            // SAFETY: allowed before `MPI_Init`; the text has room for the longest version.
            unsafe { (functions.get_library_version)(text, len) }
        });
        let version = name_in(&text);
        let find = |symbol: &str| -> Result<usize, libloading::Error> {
            let symbol = CString::new(symbol).expect("a name without zeros");
            // SAFETY: only the address is taken.
            let found = unsafe { library.get::<*mut c_void>(symbol.as_bytes_with_nul()) }?;
            Ok(found.into_raw().addr())
        };
        let abi = if has_standard_abi(&library) {
            Abi::Standard
        } else if find(OPEN_MPI_SYMBOL).is_ok() {
            Abi::OpenMpi
        } else if ["MPICH", "Intel", "MVAPICH"].iter().any(|name| version.contains(name)) {
            Abi::Mpich
        } else {
            return Err(unusable(format!("it is `{version}`, whose ABI is not known")));
        };
        let handles = abi.handles(find).map_err(lacking)?;
        let by = |to_handle: &[u8], to_number: &[u8]| {
            // SAFETY: both have these types in the ABIs that have them.
            unsafe {
                Ok(Fortran::By {
                    to_handle: *library.get(to_handle).map_err(lacking)?,
                    to_number: *library.get(to_number).map_err(lacking)?,
                })
            }
        };
        let fortran = match abi {
            Abi::Mpich => Fortran::Same,
            Abi::OpenMpi => by(b"MPI_Comm_f2c\0", b"MPI_Comm_c2f\0")?,
            Abi::Standard => by(b"MPI_Comm_fromint\0", b"MPI_Comm_toint\0")?,
        };
        // What it started stays: it is never unloaded.
        std::mem::forget(library);
        Ok(Self { functions, handles, fortran, abi, version, file: file.to_owned() })
    }

    /// What the library calls itself, such as `Open MPI v4.1.4`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What handles look like.
    pub fn abi(&self) -> Abi {
        self.abi
    }

    /// Where it was found.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether somebody has initialised it.
    pub fn is_initialized(&self) -> bool {
        // SAFETY: allowed at any time and from any thread.
        flag(|flag| unsafe { (self.functions.initialized)(flag) })
    }

    /// Whether somebody has ended it.
    pub fn is_finalized(&self) -> bool {
        // SAFETY: allowed at any time and from any thread.
        flag(|flag| unsafe { (self.functions.finalized)(flag) })
    }

    /// Initialises MPI in this process, and has errors returned instead of ending it. Returns what threads may do. This thread
    /// becomes MPI's main thread.
    ///
    /// # Errors
    /// MPI's; some MPIs end the process instead.
    ///
    /// # Safety
    /// Nobody has initialised it before, and no other thread changes the environment meanwhile.
    pub unsafe fn init(&self, wanted: Threads) -> Result<Threads, MpiError> {
        let mut granted = 0;
        let wanted = self.abi.number_of(wanted);
        // SAFETY: the caller's; no arguments are passed.
        let code = unsafe { (self.functions.init_thread)(null_mut(), null_mut(), wanted, &raw mut granted) };
        self.check("MPI_Init_thread", code)?;
        for communicator in [self.handles.world, self.handles.own] {
            self.return_errors(communicator)?;
        }
        Ok(self.abi.threads_of(granted))
    }

    /// What threads may do.
    ///
    /// # Errors
    /// When MPI is not initialised.
    pub fn threads(&self) -> Result<Threads, MpiError> {
        let mut granted = 0;
        // SAFETY: allowed from any thread; without `MPI_Init` it is an error, which is returned.
        let code = unsafe { (self.functions.query_thread)(&raw mut granted) };
        self.check("MPI_Query_thread", code)?;
        Ok(self.abi.threads_of(granted))
    }

    /// Whether the calling thread initialised MPI.
    pub fn is_main_thread(&self) -> bool {
        // SAFETY: allowed from any thread.
        flag(|flag| unsafe { (self.functions.is_thread_main)(flag) })
    }

    /// Ends MPI in this process. Waits for the other processes.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// The caller is MPI's main thread, and no other thread uses MPI from here on.
    pub unsafe fn finalize(&self) -> Result<(), MpiError> {
        // SAFETY: the caller's.
        let code = unsafe { (self.functions.finalize)() };
        self.check("MPI_Finalize", code)
    }

    pub(crate) fn return_errors(&self, communicator: Handle) -> Result<(), MpiError> {
        // SAFETY: a predefined error handler, and a communicator that is alive.
        let code = unsafe { (self.functions.comm_set_errhandler)(communicator, self.handles.errors_return) };
        self.check("MPI_Comm_set_errhandler", code)
    }

    /// The communicator that Fortran knows by this number.
    pub(crate) fn communicator_of(&self, number: c_int) -> Handle {
        match self.fortran {
            Fortran::Same => Handle(number as u32 as usize),
            // SAFETY: takes any number; of none that it knows it makes the null handle.
            Fortran::By { to_handle, .. } => unsafe { to_handle(number) },
        }
    }

    /// The number of a communicator in Fortran.
    pub(crate) fn number_of(&self, communicator: Handle) -> c_int {
        match self.fortran {
            Fortran::Same => communicator.0 as c_int,
            // SAFETY: takes any live handle.
            Fortran::By { to_number, .. } => unsafe { to_number(communicator) },
        }
    }

    pub(crate) fn check(&self, function: &'static str, code: c_int) -> Result<(), MpiError> {
        if code == 0 {
            return Ok(());
        }
        let text = read_text(|text, len| {
            // SAFETY: takes any code; the text has room for the longest.
            unsafe { (self.functions.error_string)(code, text, len) }
        });
        let text = if text.is_empty() { format!("error {code}") } else { text };
        Err(MpiError { function, text })
    }
}

/// What a library calls itself: of its first line what precedes the first comma, such as `Open MPI v4.1.4` of `Open MPI v4.1.4,
/// package: ...`, and `MPICH 4.0.2` of `MPICH Version:      4.0.2`.
fn name_in(version: &str) -> String {
    let line = version.lines().next().unwrap_or_default();
    let words = line.split(',').next().unwrap_or_default().split_whitespace();
    words.filter(|word| *word != "Version:").collect::<Vec<_>>().join(" ")
}

/// Whether a library has the standard ABI: those that have not, but know of it, say version -1.
fn has_standard_abi(library: &unix::Library) -> bool {
    type GetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    // SAFETY: the type is that of the standard.
    let Ok(version) = (unsafe { library.get::<GetVersion>(b"MPI_Abi_get_version\0") }) else { return false };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: allowed before `MPI_Init`.
    let code = unsafe { version(&raw mut major, &raw mut minor) };
    code == 0 && major >= 1
}

fn flag(read: impl FnOnce(*mut c_int) -> c_int) -> bool {
    let mut flag = 0;
    read(&raw mut flag) == 0 && flag != 0
}

fn read_text(read: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    // One more than MPI may write: the last stays zero.
    let mut text = vec![0; TEXT_BYTES + 1];
    let mut len = 0;
    if read(text.as_mut_ptr(), &raw mut len) != 0 {
        return String::new();
    }
    // SAFETY: the text ends in a zero at the latest at its last byte.
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().trim().to_owned()
}
