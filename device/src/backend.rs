//! Backends: what a kind of device does, in the three traits that each kind implements.
//!
//! `device`, `stream` and `memory` stand above them and have checked what they hand down: spans lie within their memory, and all
//! memory and events are of this device. A backend returns [`DeviceError::Lost`] from every call once its device is lost.

#![expect(unsafe_code, reason = "copies whose callers promise what no type can")]

use crate::memory::mapping::{Domain, Mapping, MemoryHandle};
use crate::memory::span::Span;
use crate::words::bell::Bell;
use crate::words::error::DeviceError;
use crate::words::info::{Info, Priority, Uuid};
use chare_layout::Plan;
use std::any::Any;
use std::ffi::c_void;
use std::io;
use std::sync::Arc;

/// A device.
pub(crate) trait Backend: Send + Sync {
    /// What it is.
    fn info(&self) -> &Arc<Info>;

    /// Whether it is still there.
    fn check(&self) -> Result<(), DeviceError>;

    /// Maps so many bytes: of the host, zeros; of the device, whatever was there before.
    fn map(&self, domain: Domain, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError>;

    /// Whether it can map memory of another device of the host.
    fn reaches(&self, other: Uuid) -> bool;

    /// Maps memory that another process, or another device of this one, has exported.
    fn import(&self, handle: MemoryHandle) -> Result<Box<dyn Mapping>, DeviceError>;

    /// Takes memory of the device that somebody else made. Dropping it leaves the memory as it is.
    fn adopt(&self, address: u64, bytes: u64) -> Result<Box<dyn Mapping>, DeviceError>;

    /// How many tables were copied to it.
    fn tables_copied(&self) -> u64;

    /// Makes a queue of commands.
    fn queue(&self, priority: Priority) -> Result<Box<dyn Queue>, DeviceError>;

    /// Takes a stream that somebody else made, who keeps it until `guard` is dropped.
    ///
    /// # Safety
    /// It is a stream of this device and stays one until then.
    unsafe fn adopt_queue(
        &self,
        raw: *mut c_void,
        guard: Box<dyn Any + Send + Sync>,
    ) -> Result<Box<dyn Queue>, DeviceError>;
}

/// What a stream calls when it is that far.
pub(crate) type Call = Box<dyn FnOnce() + Send>;

/// What a closure does in place of a kernel: it reads the sources and writes the target.
pub(crate) type Kernel = Box<dyn FnOnce(&[&[u8]], &mut [u8]) + Send>;

/// A plan that fits its spans.
pub(crate) struct Step {
    pub(crate) plan: Arc<Plan>,
    pub(crate) from: Span,
    pub(crate) to: Span,
}

/// Planes of rows of equal length, all at equal distances on either side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    /// Rows of a plane.
    pub(crate) count: u64,
    /// Bytes of a row.
    pub(crate) bytes: u64,
    pub(crate) planes: u64,
    pub(crate) source: Pitch,
    pub(crate) target: Pitch,
}

/// Where the rows of one side stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pitch {
    /// Bytes from one row to the next, no less than a row has.
    pub(crate) row: u64,
    /// Such distances from one plane to the next, no less than a plane has rows.
    pub(crate) rows: u64,
}

impl Rows {
    /// Bytes between the first byte of a side and the end of its last row.
    pub(crate) fn extent(&self, side: Pitch) -> u64 {
        let rows = self.planes.saturating_sub(1) * side.rows + self.count.saturating_sub(1);
        rows * side.row + self.bytes
    }
}

/// Commands in their order. None of these waits. The memory of spans is kept until the command is over. When the queue is dropped,
/// what was put in is still done.
pub(crate) trait Queue: Send + Sync {
    /// Copies between spans of one length that share no byte.
    ///
    /// # Safety
    /// Until the command is over, nobody else writes what it reads or touches what it writes.
    unsafe fn copy(&self, from: Span, to: Span) -> Result<(), DeviceError>;

    /// Copies rows, all of which lie within the spans, apart.
    ///
    /// # Safety
    /// As for `copy`, for the rows.
    unsafe fn copy_rows(&self, rows: Rows, from: Span, to: Span) -> Result<(), DeviceError>;

    /// Copies by a plan that fits the spans.
    ///
    /// # Safety
    /// As for `copy`, for what the plan selects, which shares no byte either.
    unsafe fn step(&self, plan: Arc<Plan>, from: Span, to: Span) -> Result<(), DeviceError>;

    /// Copies by plans, in any order or at the same time.
    ///
    /// # Safety
    /// As for `step`, for each; and none touches what another one writes.
    unsafe fn step_all(&self, steps: Vec<Step>) -> Result<(), DeviceError>;

    /// Writes zeros.
    ///
    /// # Safety
    /// As for `copy`, for what it writes.
    unsafe fn zero(&self, span: Span) -> Result<(), DeviceError>;

    /// Has a closure read the sources and write the target, where the threads of the device can run one; if it panics, the device is lost.
    ///
    /// # Safety
    /// As for `copy`, from all sources to the target, which shares no byte with them.
    unsafe fn compute(&self, kernel: Kernel, sources: Vec<Span>, target: Span) -> Result<(), DeviceError>;

    /// Has a signal fire when all before is done.
    fn record(&self) -> Result<Arc<dyn Signal>, DeviceError>;

    /// As [`record`](Self::record), by a signal that knows when it has fired.
    fn stamp(&self) -> Result<Arc<dyn Signal>, DeviceError>;

    /// Has all that follows wait for a signal of this device.
    fn wait(&self, signal: &Arc<dyn Signal>) -> Result<(), DeviceError>;

    /// Calls when all before is done, or the device is lost, on a thread that must not be kept, and must not use the device.
    fn call(&self, call: Call) -> Result<(), DeviceError>;

    /// Waits, on this thread, until all before is done, or the device is lost.
    fn finish(&self) -> Result<(), DeviceError> {
        sleep_until_done(self)
    }

    /// Keeps memory until all before is done.
    fn keep(&self, span: Span) -> Result<(), DeviceError>;

    /// What the kind of device calls it; null where it has no name for it.
    fn raw(&self) -> *mut c_void;
}

/// Has a queue ring when all it was given is done, and sleeps until then.
pub(crate) fn sleep_until_done(queue: &(impl Queue + ?Sized)) -> Result<(), DeviceError> {
    let refused = |error: io::Error| DeviceError::Refused {
        operation: "waiting for a stream",
        device: "the host".to_owned(),
        cause: error.to_string(),
    };
    let bell = Bell::new().map_err(refused)?;
    let rung = bell.clone();
    queue.call(Box::new(move || rung.ring()))?;
    bell.wait().map_err(refused)
}

/// What fires when a queue is that far.
pub(crate) trait Signal: Any + Send + Sync {
    /// Whether it has fired. If so, commands before it no longer keep their memory.
    fn is_complete(&self) -> Result<bool, DeviceError>;

    /// Nanoseconds on the device between an earlier signal and this one, both of them stamps of one device that have fired.
    fn nanoseconds_since(&self, earlier: &dyn Signal) -> Result<u64, DeviceError>;
}
