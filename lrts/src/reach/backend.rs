//! The trait `Lrts` of `reach`: each call goes to a backend by the path that was decided.

use super::Reach;
use super::polling::is_turn_of_the_farther;
use super::route::Carrier;
use crate::error::TransferError;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memcpy::copy;
use crate::memory::Memory;
use crate::region::RegionKey;
use crate::runs::Runs;
use rustix::fd::BorrowedFd;
use std::sync::atomic::Ordering;

impl Lrts for Reach {
    fn name(&self) -> &'static str {
        "reach"
    }

    fn capabilities(&self) -> Capabilities {
        let mapped = self.peers.are_mapped();
        Capabilities {
            messages: self.peers.len() > 1,
            get: true,
            put: true,
            runs: self.fabric.as_ref().is_some_and(|fabric| fabric.direct().capabilities().runs),
            view: mapped,
            device: self.fabric.as_ref().is_some_and(|fabric| fabric.direct().capabilities().device),
            immediate: false,
            frame_bytes_max: self.frame_bytes_max,
        }
    }

    /// # Panics
    /// If the frame is too long or the target is this node.
    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let len = frame.len();
        assert!(len <= self.frame_bytes_max, "frame of {len} bytes");
        // The carriers may be told later.
        if self.closing.load(Ordering::Acquire) {
            return Err(NoRoom);
        }
        match (self.peers.carrier(target), &self.shm, &self.tcp, &self.fabric) {
            (Carrier::Shm, Some(shm), ..) => shm.send(target, frame),
            (Carrier::Tcp, _, Some(tcp), _) => tcp.send(target, frame),
            (Carrier::Fabric, .., Some(fabric)) => fabric.carrier().send(target, frame),
            _ => panic!("messages to {target}, which is this node, never reach the network"),
        }
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let happened = match (&self.shm, &self.tcp, &self.fabric) {
            (Some(shm), None, None) => shm.progress(sink),
            (None, Some(tcp), None) => tcp.progress(sink),
            (None, None, Some(fabric)) => self.progress_on(&**fabric, sink),
            (None, None, None) => false,
            (shm, tcp, fabric) => {
                let happened = shm.as_ref().is_some_and(|shm| shm.progress(sink));
                let farther = is_turn_of_the_farther() && {
                    let by_tcp = tcp.as_ref().is_some_and(|tcp| tcp.progress(sink));
                    fabric.as_ref().is_some_and(|fabric| self.progress_on(&**fabric, sink)) || by_tcp
                };
                farther || happened
            }
        };
        // What has arrived would wait for a piece of a copy.
        if happened {
            self.go_on_if_forsaken(sink);
            return true;
        }
        self.go_on_copying(sink)
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        self.post(get.into()).map_err(|operation| Refused(operation.into_get()))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        self.post(put.into()).map_err(|operation| Refused(operation.into_put()))
    }

    fn get_runs(&self, get: Get, runs: &Runs) -> Result<Posted, Refused<Get>> {
        self.transfer_runs(get.into(), runs).map_err(|operation| Refused(operation.into_get()))
    }

    fn put_runs(&self, put: Put, runs: &Runs) -> Result<Posted, Refused<Put>> {
        self.transfer_runs(put.into(), runs).map_err(|operation| Refused(operation.into_put()))
    }

    /// Lends memory of this node, or of a neighbour that `shm` has mapped, or the network.
    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        let peer = self.peers.get(key.node).ok_or(TransferError::StaleKey(key.node))?;
        let lent = match &self.shm {
            _ if key.node == self.regions.node() => copy::view(&self.regions, key, offset, len)?,
            Some(shm) if peer.mapping.load(Ordering::Relaxed) => {
                match shm.inner().view(key, offset, len, entering) {
                    // A get takes another path.
                    Err(TransferError::Refused { .. }) => None,
                    lent => lent?,
                }
            }
            None if peer.mapping.load(Ordering::Relaxed) => match &self.fabric {
                Some(fabric) => fabric.direct().view(key, offset, len, entering)?,
                None => None,
            },
            _ => None,
        };
        if lent.is_some() {
            peer.traffic.viewed.add(len);
        }
        Ok(lent)
    }

    fn arm(&self) -> bool {
        if let Some(host) = self.unwatched_host() {
            host.doorbell().silence();
        }
        // The news at the end: the wake-up for them has been taken now.
        !self.waker.take()
            && self.under_way.may_sleep()
            && self.copies.may_sleep()
            && self.carriers().all(|carrier| carrier.arm())
            && !self.has_news()
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        self.waker.events()
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        self.take_leave();
    }

    fn is_closed(&self) -> bool {
        self.closing.load(Ordering::Acquire)
            && self.copies.is_idle()
            && self.waiting.is_empty()
            && self.carriers().all(|carrier| carrier.is_closed())
    }
}
