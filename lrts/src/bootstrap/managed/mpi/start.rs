//! Start of MPI: finds its library, initialises it, and ends it in time.
//!
//! 1. A program that is linked with an MPI uses that. Else a name that the user gives decides, else the launcher that started the
//!    process, by the variables that launchers set, else whichever MPI is there.
//! 2. An MPI that finds fewer processes than the launcher started was not meant: that is an error, and never several jobs.

#![expect(clippy::disallowed_methods, reason = "waits for the end of a process that has not ended MPI")]
#![expect(unsafe_code, reason = "initialises MPI")]

use super::final_error;
use crate::bootstrap::launchers;
use crate::bootstrap::quit::quit;
use crate::error::LrtsError;
use crate::events;
use chare_mpi_sys::{Communicator, Library, MpiError, Threads};
use std::sync::mpsc;
use std::time::Duration;

/// The backend's name.
pub(crate) const BACKEND: &str = "mpi";

/// What Debian and everybody else call MPICH's library, then Open MPI's, then that of the standard ABI.
const MPICH: [&str; 2] = ["libmpich.so.12", "libmpi.so.12"];
const OPEN_MPI: [&str; 1] = ["libmpi.so.40"];
const STANDARD: [&str; 1] = ["libmpi_abi.so.1"];

/// Variables that Open MPI's launchers set, or that speak of PMIx, which it needs.
const OPEN_MPI_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"];

/// How long MPI may take to end in all processes, which end together.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// Loads an MPI and initialises it, if nobody has. Returns a communicator of all processes that were started together, and
/// whether it was this call that initialised MPI, so that its caller must end it. Collective.
///
/// Without a launcher it is a job of one process. Some MPIs end the process when they cannot start, and say why themselves.
///
/// # Errors
/// No MPI is here, it fails, or it belongs to another launcher.
pub fn start(library: Option<&str>, threads: Threads) -> Result<(Communicator, bool), LrtsError> {
    let library = load(library)?;
    let is_ours = !library.is_initialized();
    if is_ours {
        // SAFETY: nobody has initialised it, and start-up runs before other threads of this process exist.
        unsafe { library.init(threads) }.map_err(|error| failed(library, &error))?;
    }
    // SAFETY: MPI is initialised, and this thread did it, or whoever did it starts a job from here.
    let world = unsafe { Communicator::world(library) }.map_err(|error| failed(library, &error))?;
    match launchers::processes()? {
        Some(processes) if processes != world.size() => Err(LrtsError::Bootstrap(format!(
            "{} sees {} process where a launcher started {processes}: that launcher belongs to another MPI, whose library `+mpi \
             LIBRARY` names",
            describe(library),
            world.size()
        ))),
        _ => {
            if is_ours {
                final_error::prepare(world.rank());
            }
            Ok((world, is_ours))
        }
    }
}

/// A communicator of an MPI that the program initialised itself, by the number that Fortran knows it by. Collective.
///
/// # Errors
/// There is no such MPI or no such communicator.
///
/// # Safety
/// The number is that of a communicator of the MPI that is loaded here, and the calling thread may call it.
pub unsafe fn adopt(number: i32) -> Result<Communicator, LrtsError> {
    let library = load(None)?;
    if !library.is_initialized() || library.is_finalized() {
        let cause = "is not running; initialise it before a job starts in its communicator".to_owned();
        return Err(LrtsError::Bootstrap(format!("{} {cause}", describe(library))));
    }
    // SAFETY: the caller's.
    unsafe { Communicator::from_fortran(library, number) }.map_err(|error| failed(library, &error))
}

/// A communicator of this process alone: where several nodes share the process, each receives in one of its own.
///
/// # Errors
/// MPI does not grant [`Threads::Multiple`], as several nodes need, or fails.
pub fn solitary(library: &'static Library) -> Result<Communicator, LrtsError> {
    let threads = library.threads().map_err(|error| failed(library, &error))?;
    if threads != Threads::Multiple {
        return Err(LrtsError::Bootstrap(format!(
            "{}: several nodes of one process need {}, and have {threads}",
            library.version(),
            Threads::Multiple
        )));
    }
    // SAFETY: MPI is initialised, and any thread may call it.
    unsafe { Communicator::own(library) }.map_err(|error| failed(library, &error))
}

/// Ends MPI in this process. It waits for all processes, and might do so for one that crashed: after `END_PATIENCE` this one
/// ends without.
///
/// # Safety
/// The calling thread initialised MPI, and nobody uses it any more.
pub unsafe fn end(library: &Library) {
    final_error::forget();
    let (ended, has_ended) = mpsc::channel::<()>();
    let watch = move || {
        if has_ended.recv_timeout(END_PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            events::error(format_args!(
                "MPI_Finalize has not ended within {END_PATIENCE:?}: another process of the job crashed"
            ));
            // The library's own handlers would wait for the same process.
            quit(1);
        }
    };
    // Without a watcher it may wait for ever.
    let _watcher = std::thread::Builder::new().name("mpi-end".to_owned()).spawn(watch);
    // SAFETY: the caller's. What it says when it fails matters to nobody.
    let _ = unsafe { library.finalize() };
    drop(ended);
}

/// What a library calls itself, its ABI, and what threads may do.
pub fn describe(library: &Library) -> String {
    let threads =
        library.threads().map_or_else(|_| "not initialised".to_owned(), |threads| threads.to_string());
    format!("{}, {}, {threads}", library.version(), library.abi())
}

fn failed(library: &Library, error: &MpiError) -> LrtsError {
    LrtsError::Bootstrap(format!("{}: {error}", library.version()))
}

fn load(library: Option<&str>) -> Result<&'static Library, LrtsError> {
    let is_open_mpi = OPEN_MPI_VARIABLES.iter().any(|name| std::env::var_os(name).is_some());
    let files: Vec<&str> = match library {
        Some(file) => vec![file],
        None if is_open_mpi => [&OPEN_MPI[..], &STANDARD, &MPICH].concat(),
        None => [&MPICH[..], &STANDARD, &OPEN_MPI].concat(),
    };
    Library::load(&files)
        .map_err(|error| LrtsError::NoProvider { backend: BACKEND, cause: error.to_string() })
}
