//! Trace: writes down what crosses a backend, in the trace event format that `chrome://tracing` and Perfetto read.
//!
//! 1. One line per event. Lines are written some kilobytes at a time, and whenever the layers above add theirs: a system call for each was
//!    most of what a trace cost. A process that is killed leaves what was written before. (The format wants no closing bracket; a file that
//!    ends in order has one.)
//! 2. Times are microseconds of the host's monotonic clock, which its nodes share. `pid` is the node, `tid` the thread.
//! 3. A line that cannot be written is the file's last: the next look at the network ends the job, and says why.
//! 4. Frames are instants; a get or put lasts from its posting to its completion, which names it by backend and token.
//! 5. The layers above add lines of their own, as many at a time as they like; they ask the [`Recording`] themselves.

use super::{Recording, TraceWindow, inner, pass_on};
use crate::ambient::clock;
use crate::error::{LrtsError, TransferError};
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::{Completion, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink, Token};
use crate::memory::Memory;
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, RegionKey};
use crate::runs::Runs;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Lines that wait to be written together.
const LINES_BYTES: usize = 32 << 10;

/// Where a node's trace goes: the path that the user named, a point and the node's number.
pub struct TraceFile {
    node: NodeId,
    recording: Arc<Recording>,
    file: Mutex<BufWriter<File>>,
    /// Why it ends too early; for the first backend that asks.
    broken: Mutex<Option<io::Error>>,
    /// Whether it has ended, in order or too early. Set under the lock of `file`, and read there; others that read it look into `broken` if
    /// it is set.
    has_ended: AtomicBool,
}

impl TraceFile {
    /// Creates it, or empties the one of an earlier job. It is to have the events of this window.
    ///
    /// # Errors
    /// The file system's.
    pub fn create(path: &Path, node: NodeId, window: TraceWindow) -> Result<Self, LrtsError> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", node.0));
        let opened = File::create(&name).and_then(|mut file| file.write_all(b"[\n").map(|()| file));
        let file = opened.map_err(|source| LrtsError::System {
            operation: "creating the trace's file",
            backend: "trace",
            source: Arc::new(source),
            hint: "; `+trace` takes the path of a file that can be written",
        })?;
        Ok(Self {
            node,
            recording: Arc::new(Recording::new(window)),
            file: Mutex::new(BufWriter::with_capacity(LINES_BYTES, file)),
            broken: Mutex::default(),
            has_ended: AtomicBool::new(false),
        })
    }

    /// What of the job's time it has.
    pub fn recording(&self) -> &Arc<Recording> {
        &self.recording
    }

    /// Adds lines, each of them an event with a comma and a line's end behind it, and writes all that wait.
    ///
    /// # Errors
    /// Why the file ends before them, unless a backend was told so before.
    pub fn append(&self, lines: &str) -> Result<(), LrtsError> {
        self.write_unless_ended(&mut self.file.lock(), |file| {
            file.write_all(lines.as_bytes()).and_then(|()| file.flush())
        });
        self.take_failure().map_or(Ok(()), Err)
    }

    fn write(&self, name: &str, phase: &str, arguments: impl Display) {
        let now_ns = clock::now_ns();
        if !self.recording.has(now_ns) {
            return;
        }
        let (us, fraction_ns) = (now_ns / 1_000, now_ns % 1_000);
        let (node, thread) = (self.node.0, rustix::thread::gettid().as_raw_pid());
        let line = format!(
            r#"{{"name":"{name}",{phase},"ts":{us}.{fraction_ns:03},"pid":{node},"tid":{thread},"args":{{{arguments}}}}},"#
        );
        self.write_unless_ended(&mut self.file.lock(), |file| writeln!(file, "{line}"));
    }

    fn write_unless_ended(
        &self,
        file: &mut BufWriter<File>,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) {
        if self.has_ended.load(Ordering::Relaxed) {
            return;
        }
        if let Err(cause) = write(file) {
            *self.broken.lock() = Some(cause);
            self.has_ended.store(true, Ordering::Release);
        }
    }

    /// Ends the file in order, as strict JSON: the last event, which names the process, has no comma behind it. What comes later is not
    /// written.
    ///
    /// # Errors
    /// Why the file ends before that, unless a backend was told so before.
    pub fn finish(&self) -> Result<(), LrtsError> {
        let node = self.node.0;
        let last = format!(
            "{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{node},\"tid\":0,\"args\":{{\"name\":\"node {node}\"}}}}\n]\n"
        );
        let mut file = self.file.lock();
        self.write_unless_ended(&mut file, |file| {
            file.write_all(last.as_bytes()).and_then(|()| file.flush())
        });
        self.has_ended.store(true, Ordering::Release);
        drop(file);
        self.take_failure().map_or(Ok(()), Err)
    }

    /// Why the file ends too early, once.
    fn take_failure(&self) -> Option<LrtsError> {
        let source = self.has_ended.load(Ordering::Acquire).then(|| self.broken.lock().take())??;
        Some(LrtsError::System {
            operation: "writing the trace's file",
            backend: "trace",
            source: Arc::new(source),
            hint: "; give `+trace` the path of a file with more room, or leave it out",
        })
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // Who wants to know has asked before.
        let _ = self.finish();
    }
}

/// A backend whose traffic is written down.
pub struct Trace {
    inner: Arc<dyn Lrts>,
    file: Arc<TraceFile>,
    /// What is under way: which operation it is, and at which node.
    open: Mutex<FxHashMap<Token, (&'static str, NodeId)>>,
}

impl Trace {
    /// Writes what crosses `inner` to `file`.
    pub fn around(inner: Arc<dyn Lrts>, file: Arc<TraceFile>) -> Self {
        Self { inner, file, open: Mutex::default() }
    }

    fn instant(&self, name: &str, arguments: impl Display) {
        let backend = self.inner.name();
        self.file.write(name, &format!(r#""cat":"{backend}","ph":"i","s":"t""#), arguments);
    }

    fn begin(&self, name: &'static str, token: Token, key: &RegionKey, range: (u64, usize)) {
        self.open.lock().insert(token, (name, key.node));
        let (backend, (offset, bytes), peer) = (self.inner.name(), range, key.node.0);
        let phase = format!(r#""cat":"{backend}","ph":"b","id":"{backend}-{token}""#);
        self.file.write(name, &phase, format!(r#""peer":{peer},"offset":{offset},"bytes":{bytes}"#));
    }

    fn end(&self, token: Token, outcome: &str, bytes: usize) {
        let Some((name, peer)) = self.open.lock().remove(&token) else { return };
        let backend = self.inner.name();
        let phase = format!(r#""cat":"{backend}","ph":"e","id":"{backend}-{token}""#);
        let arguments = format!(r#""peer":{},"outcome":"{outcome}","bytes":{bytes}"#, peer.0);
        self.file.write(name, &phase, arguments);
    }

    fn complete(&self, completion: &Completion) {
        match &completion.result {
            Ok(bytes) => self.end(completion.token, "done", *bytes),
            Err(error) => self.end(completion.token, word_of(error), 0),
        }
    }

    /// Notes what became of posting an operation.
    fn posted<T>(&self, token: Token, posted: Result<Posted, Refused<T>>) -> Result<Posted, Refused<T>> {
        match &posted {
            Ok(Posted::Done(completion)) => self.complete(completion),
            Ok(Posted::Pending) => {}
            Err(Refused(_)) => self.end(token, "refused", 0),
        }
        posted
    }
}

fn word_of(error: &TransferError) -> &'static str {
    match error {
        TransferError::StaleKey(_) => "stale key",
        TransferError::OutOfRange { .. } => "out of range",
        TransferError::ReadOnly(_) => "read-only",
        TransferError::LocalTooShort { .. } => "local memory too short",
        TransferError::Refused { .. } => "refused for good",
        TransferError::DeviceMemory(_) => "device memory",
        TransferError::FilledInPlace(_) => "filled in place",
        TransferError::PeerLost(_) => "peer lost",
    }
}

fn describe(peer: NodeId, channel: Channel, bytes: usize) -> String {
    let channel = match channel {
        Channel::Runtime => "runtime",
        Channel::Emulated => "emulated",
    };
    format!(r#""peer":{},"channel":"{channel}","bytes":{bytes}"#, peer.0)
}

impl Lrts for Trace {
    pass_on!(inner: name capabilities arm event_fd shutdown is_closed);

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let sent = self.inner.send(target, frame);
        let name = if sent.is_ok() { "send" } else { "no room" };
        self.instant(name, describe(target, frame.channel, frame.len()));
        sent
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let has_moved = self.inner.progress(&mut Scribe { trace: self, sink });
        if let Some(failure) = self.file.take_failure() {
            sink.peer_lost(failure);
        }
        has_moved
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        let token = get.token;
        self.begin("get", token, &get.key, (get.offset, get.len));
        self.posted(token, self.inner.get(get))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        let token = put.token;
        self.begin("put", token, &put.key, (put.offset, put.from.len()));
        self.posted(token, self.inner.put(put))
    }

    fn get_runs(&self, get: Get, runs: &Runs) -> Result<Posted, Refused<Get>> {
        let token = get.token;
        self.begin("get runs", token, &get.key, (get.offset, runs.bytes()));
        self.posted(token, self.inner.get_runs(get, runs))
    }

    fn put_runs(&self, put: Put, runs: &Runs) -> Result<Posted, Refused<Put>> {
        let token = put.token;
        self.begin("put runs", token, &put.key, (put.offset, runs.bytes()));
        self.posted(token, self.inner.put_runs(put, runs))
    }

    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        let lent = self.inner.view(key, offset, len, entering);
        if matches!(lent, Ok(Some(_))) {
            self.instant("view", format!(r#""peer":{},"offset":{offset},"bytes":{len}"#, key.node.0));
        }
        lent
    }

    fn claim(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        mode: ClaimMode,
    ) -> Result<Option<ClaimedRange>, ClaimError> {
        let claimed = self.inner.claim(key, offset, len, mode);
        if matches!(claimed, Ok(Some(_))) {
            let name = match mode {
                ClaimMode::Read => "get in pieces",
                ClaimMode::Write => "put in pieces",
            };
            self.instant(name, format!(r#""peer":{},"offset":{offset},"bytes":{len}"#, key.node.0));
        }
        claimed
    }
}

/// The wrapped backend's sink: writes down and passes on.
struct Scribe<'a> {
    trace: &'a Trace,
    sink: &'a mut dyn Sink,
}

impl Sink for Scribe<'_> {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        self.trace.instant("arrival", describe(source, channel, bytes.len()));
        self.sink.frame(source, channel, bytes);
    }

    fn completion(&mut self, completion: Completion) {
        self.trace.complete(&completion);
        self.sink.completion(completion);
    }

    fn peer_closed(&mut self, peer: NodeId) {
        self.trace.instant("closed", format!(r#""peer":{}"#, peer.0));
        self.sink.peer_closed(peer);
    }

    fn peer_lost(&mut self, error: LrtsError) {
        if let Some(peer) = error.peer() {
            self.trace.instant("lost", format!(r#""peer":{}"#, peer.0));
        }
        self.sink.peer_lost(error);
    }
}
