//! Callers of MPI: which threads may call it, and the proof that this one may.

#![expect(clippy::disallowed_methods, reason = "MPI asks which thread of the machine's calls it")]

use crate::error::LrtsError;
use chare_mpi_sys::{Library, Threads};
use std::marker::PhantomData;
use std::thread::{Thread, ThreadId};

/// Which threads may call MPI, by the level that it granted.
#[derive(Clone, Debug)]
pub(super) enum Callers {
    /// Any, one at a time for each endpoint.
    Any,
    /// The one that initialised it.
    Only(Thread),
}

/// The proof that the thread which has it may call MPI.
#[derive(Clone, Copy)]
pub(super) struct Ticket {
    /// Keeps the ticket with its thread.
    _of_this_thread: PhantomData<*const ()>,
}

impl Callers {
    /// The callers that the granted level allows, to be asked by the thread that opens an endpoint. `MPI_THREAD_SINGLE` is taken for
    /// `MPI_THREAD_FUNNELED`: no known MPI tells them apart as long as other threads leave it alone.
    ///
    /// # Errors
    /// When this thread may not call it.
    pub(super) fn of(library: &Library) -> Result<Self, LrtsError> {
        let failed = |cause: String| LrtsError::Bootstrap(format!("{}: {cause}", library.version()));
        match library.threads().map_err(|error| failed(error.to_string()))? {
            Threads::Multiple | Threads::Serialized => Ok(Self::Any),
            _ if library.is_main_thread() => Ok(Self::Only(std::thread::current())),
            level => Err(failed(format!(
                "it was initialised with {level}, so that only the thread which did so may start a job; call from there, or \
                 initialise it with MPI_THREAD_SERIALIZED"
            ))),
        }
    }

    /// The proof, for a thread that may.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        thread_local! {
            static ID: ThreadId = std::thread::current().id();
        }
        let may = match self {
            Self::Any => true,
            Self::Only(thread) => ID.with(|id| *id == thread.id()),
        };
        may.then_some(Ticket { _of_this_thread: PhantomData })
    }

    /// The only thread that may, if there is only one.
    pub(super) fn only(&self) -> Option<&Thread> {
        match self {
            Self::Any => None,
            Self::Only(thread) => Some(thread),
        }
    }
}
