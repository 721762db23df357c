//! MPI as process manager: the processes of a communicator are the job, and what each publishes is gathered. Starts and ends MPI;
//! never sends a message by it.
//!
//! Where messages go by MPI, nobody else may ask the launcher: it answers a process once.

#![expect(unsafe_code, reason = "calls MPI at start-up and at the end")]

mod final_error;
pub mod start;

use super::process_manager::ProcessManager;
use crate::codec;
use chare_mpi_sys::Communicator;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The longest text that is published at once; MPI sets no limit.
const TEXT_CHARS_MAX: usize = 4096;

/// What one process may publish between two fences: much more than it has to say.
const PUBLISHED_BYTES_MAX: usize = 1 << 20;

/// A communicator, as a process manager.
pub(super) struct MpiManager {
    communicator: Arc<Communicator>,
    /// Whether it is ours to end MPI.
    ends_mpi: bool,
    /// Since the last fence.
    published: Vec<(String, String)>,
    known: BTreeMap<(u32, String), String>,
}

impl MpiManager {
    pub(super) fn new(communicator: Arc<Communicator>, ends_mpi: bool) -> Self {
        Self { communicator, ends_mpi, published: Vec::new(), known: BTreeMap::new() }
    }

    /// What all processes have to say, equally long.
    fn gather(&self, mine: &[u8], deadline: Instant) -> Result<Vec<u8>, String> {
        // SAFETY: start-up runs on the thread that made the communicator.
        let gathered = unsafe { self.communicator.all_gather(mine, deadline) };
        let late = || "some processes of the communicator did not come in time".to_owned();
        gathered.map_err(|error| error.to_string())?.ok_or_else(late)
    }
}

impl ProcessManager for MpiManager {
    fn name(&self) -> &'static str {
        "MPI"
    }

    fn rank(&self) -> u32 {
        self.communicator.rank()
    }

    fn size(&self) -> u32 {
        self.communicator.size()
    }

    fn text_chars_max(&self) -> usize {
        TEXT_CHARS_MAX
    }

    fn publish(&mut self, key: &str, text: &str) -> Result<(), String> {
        self.published.push((key.to_owned(), text.to_owned()));
        Ok(())
    }

    fn fence(&mut self, deadline: Instant) -> Result<(), String> {
        let mut mine = Vec::new();
        codec::encode_into(&std::mem::take(&mut self.published), &mut mine)
            .expect("texts are always encoded");
        let lengths = self.gather(&(mine.len() as u64).to_le_bytes(), deadline)?;
        let lengths: Vec<usize> =
            lengths.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes) as usize).collect();
        let longest = lengths.iter().copied().max().unwrap_or_default();
        if let Some(rank) = lengths.iter().position(|len| *len > PUBLISHED_BYTES_MAX) {
            return Err(format!("process {rank} publishes {} bytes", lengths[rank]));
        }
        mine.resize(longest, 0);
        let all = self.gather(&mine, deadline)?;
        for (rank, (bytes, len)) in (0..).zip(all.chunks(longest.max(1)).zip(lengths)) {
            let texts: Vec<(String, String)> =
                codec::decode(&bytes[..len]).map_err(|error| format!("process {rank}: {error}"))?;
            self.known.extend(texts.into_iter().map(|(key, text)| ((rank, key), text)));
        }
        Ok(())
    }

    fn look_up(&mut self, rank: u32, key: &str, _: Instant) -> Result<String, String> {
        self.known.remove(&(rank, key.to_owned())).ok_or_else(|| "nothing".to_owned())
    }

    fn finish(&mut self) {
        if self.ends_mpi {
            // SAFETY: this is the thread that initialised MPI, and the job is over: nobody uses MPI any more.
            unsafe { start::end(self.communicator.library()) };
        }
    }
}
