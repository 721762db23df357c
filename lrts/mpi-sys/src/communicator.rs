//! Communicators: messages and collectives among the processes of one, and the requests under way on it.
//!
//! **Threads.** Every unsafe function here may be called by the threads that the granted level allows, and by no others: any at
//! a time ([`Threads::Multiple`](crate::Threads)), one at a time (`Serialized`), or MPI's main thread alone.

#![expect(clippy::disallowed_methods, reason = "processes are waited for in real time")]
#![expect(unsafe_code, reason = "calls functions of a shared library")]

use crate::abi::{Handle, Status};
use crate::committed::Committed;
use crate::error::MpiError;
use crate::library::Library;
use std::ffi::{c_int, c_void};
use std::time::Instant;

/// A group of processes, with tags of its own. Not freed by being dropped: that takes all its processes.
pub struct Communicator {
    library: &'static Library,
    pub(crate) handle: Handle,
    rank: u32,
    size: u32,
}

/// An operation under way. Dropping it neither ends it nor frees what MPI knows of it.
#[derive(Debug)]
pub struct Request {
    handle: Handle,
}

/// How an operation ended.
pub struct Ended {
    library: &'static Library,
    status: Status,
}

impl Ended {
    /// The sender's rank, of a receive.
    pub fn source(&self) -> u32 {
        self.library.abi().source_of(&self.status) as u32
    }

    /// Bytes received.
    pub fn len(&self) -> usize {
        let mut count = 0;
        let Library { functions, handles, .. } = self.library;
        // SAFETY: a status that `MPI_Test` filled. It cannot fail for bytes.
        unsafe { (functions.get_count)(&raw const self.status, handles.byte, &raw mut count) };
        usize::try_from(count).unwrap_or(0)
    }

    /// Whether no byte was received.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it was cancelled before it began.
    pub fn is_cancelled(&self) -> bool {
        let mut flag = 0;
        // SAFETY: a status that `MPI_Test` filled.
        let code = unsafe { (self.library.functions.test_cancelled)(&raw const self.status, &raw mut flag) };
        code == 0 && flag != 0
    }
}

impl Communicator {
    /// A duplicate of the communicator of all processes that were started together. Collective.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// MPI is initialised; threads as the module says.
    pub unsafe fn world(library: &'static Library) -> Result<Self, MpiError> {
        // SAFETY: a predefined communicator; the rest is the caller's.
        unsafe { Self::duplicate_of(library, library.handles.world) }
    }

    /// A duplicate of the communicator of this process alone.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As [`Communicator::world`].
    pub unsafe fn own(library: &'static Library) -> Result<Self, MpiError> {
        // SAFETY: a predefined communicator; the rest is the caller's.
        unsafe { Self::duplicate_of(library, library.handles.own) }
    }

    /// A duplicate of the communicator that Fortran knows by this number (`MPI_Comm_c2f` tells it in C). Collective.
    ///
    /// # Errors
    /// MPI's, also when there is no such communicator.
    ///
    /// # Safety
    /// As [`Communicator::world`], and the number came from the same MPI.
    pub unsafe fn from_fortran(library: &'static Library, number: c_int) -> Result<Self, MpiError> {
        let handle = library.communicator_of(number);
        if handle == library.handles.no_communicator {
            let text = format!("{number} is the number of no communicator");
            return Err(MpiError { function: "MPI_Comm_f2c", text });
        }
        // SAFETY: the caller's.
        unsafe { Self::duplicate_of(library, handle) }
    }

    unsafe fn duplicate_of(library: &'static Library, handle: Handle) -> Result<Self, MpiError> {
        let functions = &library.functions;
        let (mut duplicate, mut rank, mut size) = (Handle(0), 0, 0);
        // SAFETY: the caller's; the results are words that live.
        library.check("MPI_Comm_dup", unsafe { (functions.comm_dup)(handle, &raw mut duplicate) })?;
        library.return_errors(duplicate)?;
        // SAFETY: as above.
        library.check("MPI_Comm_rank", unsafe { (functions.comm_rank)(duplicate, &raw mut rank) })?;
        // SAFETY: as above.
        library.check("MPI_Comm_size", unsafe { (functions.comm_size)(duplicate, &raw mut size) })?;
        Ok(Self { library, handle: duplicate, rank: rank as u32, size: size as u32 })
    }

    /// Whose it is.
    pub fn library(&self) -> &'static Library {
        self.library
    }

    /// The number by which Fortran knows it.
    pub fn to_fortran(&self) -> c_int {
        self.library.number_of(self.handle)
    }

    /// This process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many processes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Starts sending.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// `len` bytes from `address` on stay allocated and unwritten until the request has ended. Threads as the module says.
    ///
    /// # Panics
    /// If `len` is 2 GiB or more.
    pub unsafe fn isend(
        &self,
        address: *const u8,
        len: usize,
        target: u32,
        tag: u32,
    ) -> Result<Request, MpiError> {
        let Library { functions, handles, .. } = self.library;
        let mut request = Handle(0);
        let (address, len) = (address.cast::<c_void>(), count_of(len));
        let (target, tag) = (target as c_int, tag as c_int);
        // SAFETY: the caller's.
        let code = unsafe {
            (functions.isend)(address, len, handles.byte, target, tag, self.handle, &raw mut request)
        };
        self.library.check("MPI_Isend", code).map(|()| Request { handle: request })
    }

    /// Starts receiving, from one sender or from any.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// `len` bytes from `address` on stay allocated and are touched by nobody until the request has ended. Threads as the module
    /// says.
    ///
    /// # Panics
    /// If `len` is 2 GiB or more.
    pub unsafe fn irecv(
        &self,
        address: *mut u8,
        len: usize,
        source: Option<u32>,
        tag: u32,
    ) -> Result<Request, MpiError> {
        let Library { functions, handles, .. } = self.library;
        let mut request = Handle(0);
        let (address, len) = (address.cast::<c_void>(), count_of(len));
        let source = source.map_or(self.library.abi().any_source(), |rank| rank as c_int);
        // SAFETY: the caller's.
        let code = unsafe {
            (functions.irecv)(address, len, handles.byte, source, tag as c_int, self.handle, &raw mut request)
        };
        self.library.check("MPI_Irecv", code).map(|()| Request { handle: request })
    }

    /// Sends, and waits until the bytes may be written again: what the backend is measured against.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// Threads as the module says.
    ///
    /// # Panics
    /// If there are 2 GiB or more.
    pub unsafe fn send(&self, bytes: &[u8], target: u32, tag: u32) -> Result<(), MpiError> {
        let Library { functions, handles, .. } = self.library;
        let (len, target, tag) = (count_of(bytes.len()), target as c_int, tag as c_int);
        // SAFETY: the caller's; the bytes are borrowed until it returns.
        let code =
            unsafe { (functions.send)(bytes.as_ptr().cast(), len, handles.byte, target, tag, self.handle) };
        self.library.check("MPI_Send", code)
    }

    /// Waits for a message that is no longer than `bytes`: what the backend is measured against.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// Threads as the module says.
    ///
    /// # Panics
    /// If there are 2 GiB or more.
    pub unsafe fn recv(&self, bytes: &mut [u8], source: u32, tag: u32) -> Result<(), MpiError> {
        let Library { functions, handles, .. } = self.library;
        let (len, source, tag) = (count_of(bytes.len()), source as c_int, tag as c_int);
        let (to, mut status) = (bytes.as_mut_ptr().cast(), Status::new());
        // SAFETY: the caller's; the bytes are borrowed until it returns.
        let code =
            unsafe { (functions.recv)(to, len, handles.byte, source, tag, self.handle, &raw mut status) };
        self.library.check("MPI_Recv", code)
    }

    /// Sends one of a datatype, which MPI gathers, and waits until it may be written again: what layouts that travel are measured
    /// against. `address` is where the datatype's places count from; null, `MPI_BOTTOM`, where they are addresses.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// What the datatype selects from `address` on is allocated, and nobody writes it meanwhile; the datatype is of this
    /// communicator's MPI. Threads as the module says.
    pub unsafe fn send_one(
        &self,
        address: *const u8,
        datatype: &Committed,
        target: u32,
        tag: u32,
    ) -> Result<(), MpiError> {
        let (from, target, tag) = (address.cast(), target as c_int, tag as c_int);
        // SAFETY: the caller's.
        let code =
            unsafe { (self.library.functions.send)(from, 1, datatype.0.handle, target, tag, self.handle) };
        self.library.check("MPI_Send", code)
    }

    /// Waits for a message of one of a datatype, to which MPI scatters it: see [`Communicator::send_one`].
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// What the datatype selects from `address` on is allocated, and nobody else touches it meanwhile; the datatype is of this
    /// communicator's MPI. Threads as the module says.
    pub unsafe fn recv_one(
        &self,
        address: *mut u8,
        datatype: &Committed,
        source: u32,
        tag: u32,
    ) -> Result<(), MpiError> {
        let (to, source, tag, mut status) = (address.cast(), source as c_int, tag as c_int, Status::new());
        let (recv, kind) = (self.library.functions.recv, datatype.0.handle);
        // SAFETY: the caller's; the status has room for that of any ABI.
        let code = unsafe { recv(to, 1, kind, source, tag, self.handle, &raw mut status) };
        self.library.check("MPI_Recv", code)
    }

    /// Starts what [`Communicator::send_one`] does.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As there, until the request has ended.
    pub unsafe fn isend_one(
        &self,
        address: *const u8,
        datatype: &Committed,
        target: u32,
        tag: u32,
    ) -> Result<Request, MpiError> {
        let (from, target, tag) = (address.cast(), target as c_int, tag as c_int);
        let (isend, kind, mut handle) = (self.library.functions.isend, datatype.0.handle, Handle(0));
        // SAFETY: the caller's.
        let code = unsafe { isend(from, 1, kind, target, tag, self.handle, &raw mut handle) };
        self.library.check("MPI_Isend", code).map(|()| Request { handle })
    }

    /// Starts what [`Communicator::recv_one`] does.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As there, until the request has ended.
    pub unsafe fn irecv_one(
        &self,
        address: *mut u8,
        datatype: &Committed,
        source: u32,
        tag: u32,
    ) -> Result<Request, MpiError> {
        let (to, source, tag) = (address.cast(), source as c_int, tag as c_int);
        let (irecv, kind, mut handle) = (self.library.functions.irecv, datatype.0.handle, Handle(0));
        // SAFETY: the caller's.
        let code = unsafe { irecv(to, 1, kind, source, tag, self.handle, &raw mut handle) };
        self.library.check("MPI_Irecv", code).map(|()| Request { handle })
    }

    /// How an operation ended, if it has; lets MPI go on with all others, too.
    ///
    /// # Errors
    /// Why it failed; it has ended then.
    ///
    /// # Safety
    /// The request is of this communicator's MPI and has not ended. Threads as the module says.
    pub unsafe fn test(&self, request: &mut Request) -> Result<Option<Ended>, MpiError> {
        let (mut is_over, mut status) = (0, Status::new());
        // SAFETY: the caller's; flag and status live, and the status has room for that of any ABI.
        let code = unsafe {
            (self.library.functions.test)(&raw mut request.handle, &raw mut is_over, &raw mut status)
        };
        self.library.check("MPI_Test", code)?;
        Ok((is_over != 0).then_some(Ended { library: self.library, status }))
    }

    /// Asks for an operation's end; [`Communicator::test`] tells when it has. MPIs cancel receives, and sends seldom.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As [`Communicator::test`].
    pub unsafe fn cancel(&self, request: &mut Request) -> Result<(), MpiError> {
        // SAFETY: the caller's.
        let code = unsafe { (self.library.functions.cancel)(&raw mut request.handle) };
        self.library.check("MPI_Cancel", code)
    }

    /// What every process has to say, by rank, all equally long. Collective. `None`: some did not come before the deadline; the
    /// communicator is of no use then.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// Threads as the module says.
    ///
    /// # Panics
    /// If all together have 2 GiB or more.
    pub unsafe fn all_gather(&self, mine: &[u8], deadline: Instant) -> Result<Option<Vec<u8>>, MpiError> {
        let Library { functions, handles, .. } = self.library;
        let mine = mine.to_vec();
        let mut all = vec![0; mine.len() * self.size as usize];
        assert!(i32::try_from(all.len()).is_ok(), "{} bytes from each process", mine.len());
        let (len, mut request) = (count_of(mine.len()), Handle(0));
        // SAFETY: both buffers are as long as said, and stay until the request has ended (below).
        let code = unsafe {
            (functions.iallgather)(
                mine.as_ptr().cast(),
                len,
                handles.byte,
                all.as_mut_ptr().cast(),
                len,
                handles.byte,
                self.handle,
                &raw mut request,
            )
        };
        self.library.check("MPI_Iallgather", code)?;
        let mut request = Request { handle: request };
        loop {
            // SAFETY: it has not ended: the loop would have.
            if unsafe { self.test(&mut request) }?.is_some() {
                return Ok(Some(all));
            }
            if Instant::now() >= deadline {
                // MPI may still use them.
                std::mem::forget((mine, all));
                return Ok(None);
            }
            std::thread::yield_now();
        }
    }

    /// Frees it. Collective.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// No operation of it is under way. Threads as the module says.
    pub unsafe fn free(self) -> Result<(), MpiError> {
        let mut handle = self.handle;
        // SAFETY: the caller's.
        let code = unsafe { (self.library.functions.comm_free)(&raw mut handle) };
        self.library.check("MPI_Comm_free", code)
    }
}

pub(crate) fn count_of(len: usize) -> c_int {
    c_int::try_from(len).unwrap_or_else(|_| panic!("{len} bytes at once"))
}
