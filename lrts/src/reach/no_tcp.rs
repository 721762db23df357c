//! TCP in builds without the feature `net`: none, so that nobody can hold one.

use crate::error::TransferError;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::region::RegionKey;
use rustix::fd::BorrowedFd;

/// What is asked of connections of which there are none.
pub(super) struct TcpOptions;

/// Connections of which there are none.
pub(super) enum Tcp {}

impl Tcp {
    pub(super) fn sent(&self, _: NodeId) -> PathUse {
        match *self {}
    }

    pub(super) fn protection(&self, _: NodeId) -> &'static str {
        match *self {}
    }
}

impl Lrts for Tcp {
    fn name(&self) -> &'static str {
        match *self {}
    }

    fn capabilities(&self) -> Capabilities {
        match *self {}
    }

    fn send(&self, _: NodeId, _: Frame<'_>) -> Result<(), NoRoom> {
        match *self {}
    }

    fn progress(&self, _: &mut dyn Sink) -> bool {
        match *self {}
    }

    fn get(&self, _: Get) -> Result<Posted, Refused<Get>> {
        match *self {}
    }

    fn put(&self, _: Put) -> Result<Posted, Refused<Put>> {
        match *self {}
    }

    fn view(&self, _: &RegionKey, _: u64, _: usize, _: Entering) -> Result<Option<Memory>, TransferError> {
        match *self {}
    }

    fn arm(&self) -> bool {
        match *self {}
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        match *self {}
    }

    fn shutdown(&self) {
        match *self {}
    }

    fn is_closed(&self) -> bool {
        match *self {}
    }
}
