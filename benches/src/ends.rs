//! Ends of a collective: the buffer that a member has for others, and the one in which what it gets lands.

use chare::prelude::*;
use chare::{Landing, Layout};

/// The two buffers of a member.
pub struct Ends {
    source: Buffer<f64>,
    landing: BufferMut<f64>,
    /// Which elements of either, if not all.
    runs: Option<Layout<f64>>,
}

impl Ends {
    /// Of so many bytes that are all sent and filled.
    pub fn whole(bytes: usize) -> Self {
        Self::of(bytes / 8, None)
    }

    /// Of twice the bytes, of which every second run of `run` bytes is sent and filled.
    pub fn in_runs(bytes: usize, run: usize) -> Self {
        Self::of(bytes / 4, Some(every_second_run(bytes, run)))
    }

    fn of(len: usize, runs: Option<Layout<f64>>) -> Self {
        Self { source: BufferMut::zeroed(len).freeze(), landing: BufferMut::zeroed(len), runs }
    }

    /// Writes new contents for others.
    pub fn refill(&mut self, number: f64) {
        self.source = refilled(std::mem::replace(&mut self.source, Vec::new().into()), number);
    }

    /// All that is there for others, runs or not.
    pub fn source(&self) -> Buffer<f64> {
        self.source.clone()
    }

    /// What is sent.
    pub fn sent(&self) -> SendBuffer<f64> {
        let all = SendBuffer::from(self.source());
        match &self.runs {
            Some(runs) => all.only(runs),
            None => all,
        }
    }

    /// The memory for what comes, until [`Ends::land`].
    pub fn landing(&mut self) -> BufferMut<f64> {
        std::mem::replace(&mut self.landing, Vec::new().into())
    }

    /// Posts it for what comes.
    pub fn post(&mut self, values: Post<f64>) {
        let landing = self.landing();
        let posted = match &self.runs {
            Some(runs) => values.post(Landing::at(runs, landing)),
            None => values.post(landing),
        };
        posted.expect("it is as long");
    }

    /// Takes back what was filled.
    pub fn land(&mut self, landing: BufferMut<f64>) {
        self.landing = landing;
    }
}

/// Every second run of `run` bytes, so many bytes in all.
pub fn every_second_run(bytes: usize, run: usize) -> Layout<f64> {
    let elements = run / 8;
    Layout::vector((bytes / run) as u64, elements as u64, 2 * elements as i64).expect("runs that fit")
}

/// A buffer that nobody reads any more, with new contents.
pub fn refilled(buffer: Buffer<f64>, number: f64) -> Buffer<f64> {
    let mut buffer = buffer.try_into_mut().expect("nobody reads it any more");
    buffer.fill(number);
    buffer.freeze()
}
