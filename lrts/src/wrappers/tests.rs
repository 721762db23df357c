//! Delegation of every method of the trait, also of those with a default.

use super::*;
use crate::error::{LrtsError, TransferError};
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Completion, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memory::{Memory, MemoryMut};
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, RegionKey};
use crate::runs::{Run, Runs};
use parking_lot::Mutex;
use rustix::fd::BorrowedFd;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A backend that notes what it is asked.
#[derive(Default)]
struct Noting(Arc<Mutex<BTreeSet<&'static str>>>);

impl Noting {
    fn note<T>(&self, method: &'static str, answer: T) -> T {
        self.0.lock().insert(method);
        answer
    }
}

impl Lrts for Noting {
    fn name(&self) -> &'static str {
        self.note("name", "noting")
    }

    fn capabilities(&self) -> Capabilities {
        let capabilities = Capabilities {
            messages: true,
            get: true,
            put: true,
            runs: true,
            view: true,
            device: true,
            immediate: false,
            frame_bytes_max: 1000,
        };
        self.note("capabilities", capabilities)
    }

    fn send(&self, _: NodeId, _: Frame<'_>) -> Result<(), NoRoom> {
        self.note("send", Ok(()))
    }

    fn progress(&self, _: &mut dyn Sink) -> bool {
        self.note("progress", true)
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        self.note("get", Err(Refused(get)))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        self.note("put", Err(Refused(put)))
    }

    fn get_runs(&self, get: Get, _: &Runs) -> Result<Posted, Refused<Get>> {
        self.note("get_runs", Err(Refused(get)))
    }

    fn put_runs(&self, put: Put, _: &Runs) -> Result<Posted, Refused<Put>> {
        self.note("put_runs", Err(Refused(put)))
    }

    fn view(
        &self,
        _: &RegionKey,
        _: u64,
        _: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        assert_eq!(entering, Entering::AsUsed, "it is passed on as it was asked");
        self.note("view", Ok(None))
    }

    fn claim(
        &self,
        _: &RegionKey,
        _: u64,
        _: usize,
        _: ClaimMode,
    ) -> Result<Option<ClaimedRange>, ClaimError> {
        self.note("claim", Ok(None))
    }

    fn arm(&self) -> bool {
        self.note("arm", true)
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        self.note("event_fd", None)
    }

    fn shutdown(&self) {
        self.note("shutdown", ());
    }

    fn is_closed(&self) -> bool {
        self.note("is_closed", true)
    }
}

struct Nothing;

impl Sink for Nothing {
    fn frame(&mut self, _: NodeId, _: Channel, _: &[u8]) {}
    fn completion(&mut self, _: Completion) {}
    fn peer_closed(&mut self, _: NodeId) {}
    fn peer_lost(&mut self, _: LrtsError) {}
}

/// The names of all methods, as the trait's source has them: one that is new is missed here until `ask_all` asks it.
fn methods() -> BTreeSet<&'static str> {
    let source = include_str!("../lrts.rs");
    let (_, body) = source.split_once("pub trait Lrts").expect("the trait is there");
    let (body, _) = body.split_once("\n}").expect("it ends");
    let heads = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    heads.map(|head| head.split_once('(').expect("a method has parameters").0).collect()
}

fn ask_all(lrts: &dyn Lrts) {
    let key = RegionKey { node: NodeId(1), slot: 0, generation: 1, len: 8 };
    let get = || Get { key, offset: 0, into: MemoryMut::heap_zeroed(8), len: 8, token: 1 };
    let put = || Put { key, offset: 0, from: MemoryMut::heap_zeroed(8).freeze(), token: 2 };
    let runs = Runs::new([Run { at: 0, here: 0, len: 8 }]);
    lrts.name();
    lrts.capabilities();
    lrts.send(NodeId(1), Frame { channel: Channel::Runtime, head: b"a", body: b"b" }).expect("it has room");
    assert!(lrts.progress(&mut Nothing));
    assert!(lrts.get(get()).is_err() && lrts.put(put()).is_err());
    assert!(lrts.get_runs(get(), &runs).is_err() && lrts.put_runs(put(), &runs).is_err());
    assert!(matches!(lrts.view(&key, 0, 8, Entering::AsUsed), Ok(None)));
    assert!(matches!(lrts.claim(&key, 0, 8, ClaimMode::Read), Ok(None)));
    lrts.arm();
    lrts.event_fd();
    lrts.shutdown();
    lrts.is_closed();
}

fn every_method_reaches_the_backend(around: impl FnOnce(Noting) -> Box<dyn Lrts>) {
    let asked = Arc::default();
    let wrapper = around(Noting(Arc::clone(&asked)));
    ask_all(&*wrapper);
    assert_eq!(*asked.lock(), methods());
}

#[cfg(feature = "net")]
#[test]
fn tags_pass_on_every_method() {
    let key = crate::bootstrap::JobKey([7; 32]);
    every_method_reaches_the_backend(|noting| Box::new(Tags::around(Arc::new(noting), &key, NodeId(0), 2)));
}

#[test]
fn faults_pass_on_every_method() {
    every_method_reaches_the_backend(|noting| {
        Box::new(
            Fault::around(Arc::new(noting), NodeId(0), &FaultPlan::default())
                .expect("descriptors are granted"),
        )
    });
}

#[test]
fn a_trace_passes_on_every_method() {
    let path = std::env::temp_dir().join(format!("chare-delegation-{}", std::process::id()));
    let file = Arc::new(
        TraceFile::create(&path, NodeId(0), TraceWindow::default()).expect("the folder can be written"),
    );
    every_method_reaches_the_backend(|noting| Box::new(Trace::around(Arc::new(noting), file)));
    std::fs::remove_file(path.with_extension("0")).expect("it was written");
}

#[test]
fn a_wrapped_backend_passes_on_every_method() {
    for fault in [None, Some(FaultPlan::default())] {
        let wrappers = Wrappers::new(NodeId(0), None, fault.as_ref(), None).expect("there is no file");
        every_method_reaches_the_backend(|noting| {
            Box::new(wrappers.around(noting).expect("descriptors are granted"))
        });
    }
}
