//! Inbound half of a connection: the bytes that arrived, cut into frames.
//!
//! 1. A frame is gathered in a buffer, which grows to the longest that a header announced; that length was checked against the bound first,
//!    and so was the header's tag, where there are tags.
//! 2. The sink may know where the bytes of a long frame belong. What is missing of it is then read to there, and only what follows it
//!    into the buffer.
//! 3. The sink hears of no byte before its tag was checked ([`Seal`]). What was read to where it belongs and is not yet checked lies there
//!    unannounced.

use super::header::{HEADER_BYTES, Header};
use super::seal::{FIRST_SEGMENT_BYTES, Forged, Seal, TAGS_MAX, tags_bytes};
use crate::aead::{TAG_BYTES, Tag};
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::Sink;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags};
use std::io::IoSliceMut;

/// Room for a few hundred small frames per system call.
const BUFFER_BYTES: usize = 64 << 10;

/// What is read into the buffer together with the rest of a frame that goes elsewhere: what the next one begins with, and few of its bytes
/// more than its first segment, so that the others can go elsewhere too.
const AFTER_BYTES: usize = 4 << 10;

/// Reads from one connection before the next has its turn.
const READS: usize = 4;

/// Result of reading a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The kernel has nothing more now, or the turn is over.
    Bytes(usize),
    /// The peer's last word; nothing follows.
    Goodbye,
    /// The connection ended, for this reason.
    End(String),
    /// The peer sent what no correct peer sends.
    Breach(String),
    /// Somebody else did.
    Forged,
}

impl From<Forged> for Heard {
    fn from(_: Forged) -> Self {
        Self::Forged
    }
}

/// Result of one read.
struct Received {
    /// Bytes; none at the end of the connection.
    count: usize,
    /// Whether the kernel had no more.
    is_all: bool,
}

/// A frame whose header has been read.
#[derive(Clone, Copy)]
struct Announced {
    channel: Channel,
    len: usize,
    /// Bytes of its body whose tags were right.
    checked: usize,
    /// The sink takes the bytes that are not checked, as they come.
    is_elsewhere: bool,
}

/// One connection's way in.
pub(super) struct Inbound {
    /// What checks it, unless it comes in clear.
    seal: Option<Seal>,
    buffer: Vec<u8>,
    have: usize,
    frame: Option<Announced>,
    /// The tags of a frame that goes elsewhere.
    tags: [Tag; TAGS_MAX],
    /// Bytes of such a frame that are where they belong and not yet checked.
    unchecked: usize,
}

impl Inbound {
    pub(super) fn new(seal: Option<Seal>) -> Self {
        let (buffer, tags) = (vec![0; BUFFER_BYTES], [[0; TAG_BYTES]; TAGS_MAX]);
        Self { seal, buffer, have: 0, frame: None, tags, unchecked: 0 }
    }

    /// Reads and delivers what has arrived.
    pub(super) fn read(&mut self, socket: &OwnedFd, source: NodeId, sink: &mut dyn Sink) -> Heard {
        let mut total = 0;
        for _ in 0..READS {
            match self.receive(socket, source, sink) {
                Ok(Ok(Received { count: 0, .. })) => {
                    return Heard::End("the connection was closed without a goodbye".to_owned());
                }
                Ok(Ok(Received { count, is_all })) => {
                    total += count;
                    match self.deliver(source, sink) {
                        Ok(()) if is_all => return Heard::Bytes(total),
                        Ok(()) => {}
                        Err(heard) => return heard,
                    }
                }
                Ok(Err(Forged)) => return Heard::Forged,
                Err(Errno::AGAIN) => return Heard::Bytes(total),
                Err(Errno::INTR) => {}
                Err(errno) => return Heard::End(errno.to_string()),
            }
        }
        Heard::Bytes(total)
    }

    /// The frame that goes elsewhere, if one does. The buffer is empty then.
    fn elsewhere(&self) -> Option<Announced> {
        self.frame.filter(|frame| frame.is_elsewhere)
    }

    /// Asks the kernel once.
    fn receive(
        &mut self,
        socket: &OwnedFd,
        source: NodeId,
        sink: &mut dyn Sink,
    ) -> Result<Result<Received, Forged>, Errno> {
        let Some(frame) = self.elsewhere() else {
            let room = &mut self.buffer[self.have..];
            let (count, _) = rustix::net::recv(socket, &mut *room, RecvFlags::DONTWAIT)?;
            let is_all = count < room.len();
            self.have += count;
            return Ok(Ok(Received { count, is_all }));
        };
        let room = frame.len - frame.checked - self.unchecked;
        let mut after = std::mem::take(&mut self.buffer);
        let mut received = Err(Errno::AGAIN);
        let filled = self.fill(frame, source, sink, &mut |place| {
            let mut rooms = [IoSliceMut::new(place), IoSliceMut::new(&mut after[..AFTER_BYTES])];
            let none = &mut RecvAncillaryBuffer::default();
            received = rustix::net::recvmsg(socket, &mut rooms, none, RecvFlags::DONTWAIT);
            received.as_ref().map_or(0, |received| received.bytes.min(room))
        });
        self.buffer = after;
        let count = received?.bytes;
        self.have = count.saturating_sub(room);
        Ok(filled.map(|()| Received { count, is_all: count < room + AFTER_BYTES }))
    }

    /// Lets `write` go on where a frame goes, behind what is there, and tells the sink of what is checked. It returns how many bytes it wrote.
    ///
    /// # Errors
    /// A tag is wrong.
    fn fill(
        &mut self,
        frame: Announced,
        source: NodeId,
        sink: &mut dyn Sink,
        write: &mut dyn FnMut(&mut [u8]) -> usize,
    ) -> Result<(), Forged> {
        let Self { seal, tags, unchecked, .. } = self;
        let mut checked = Ok(0);
        sink.rest(source, &mut |place| {
            *unchecked += write(&mut place[*unchecked..]);
            checked = check(seal, tags, frame, &mut place[..*unchecked]);
            checked.unwrap_or(0)
        });
        let count = checked?;
        self.unchecked -= count;
        let checked = frame.checked + count;
        self.frame = (checked < frame.len).then_some(Announced { checked, ..frame });
        Ok(())
    }

    /// Delivers all whole frames and makes room for the rest of the next.
    ///
    /// # Errors
    /// What ends the connection.
    fn deliver(&mut self, source: NodeId, sink: &mut dyn Sink) -> Result<(), Heard> {
        if self.elsewhere().is_some() {
            return Ok(());
        }
        let mut start = 0;
        let need = loop {
            let Some(frame) = self.frame else {
                let arrived = &self.buffer[start..self.have];
                match read_header(&mut self.seal, arrived)? {
                    None => break HEADER_BYTES + TAG_BYTES,
                    Some((Header::Goodbye, _)) => return Err(Heard::Goodbye),
                    Some((Header::Frame { channel, len }, read)) => {
                        start += read;
                        self.frame = Some(Announced { channel, len, checked: 0, is_elsewhere: false });
                        continue;
                    }
                }
            };
            let Announced { channel, len, .. } = frame;
            let lead = if self.seal.is_some() { tags_bytes(len) } else { 0 };
            let Some((tags, arrived)) = self.buffer[start..self.have].split_at_mut_checked(lead) else {
                break lead + len;
            };
            let tags = tags.as_chunks().0;
            if let Some(body) = arrived.get_mut(..len) {
                check(&mut self.seal, tags, frame, &mut body[frame.checked..])?;
                sink.frame(source, channel, body);
                self.frame = None;
                start += lead + len;
                continue;
            }
            let Some(first) = arrived.get_mut(..FIRST_SEGMENT_BYTES).filter(|_| frame.checked == 0) else {
                break lead + len;
            };
            check(&mut self.seal, tags, frame, first)?;
            let frame = Announced { checked: first.len(), ..frame };
            if !sink.begin(source, channel, first, len) {
                self.frame = Some(frame);
                break lead + len;
            }
            self.tags[..tags.len()].copy_from_slice(tags);
            let rest = start + lead + first.len()..std::mem::take(&mut self.have);
            let frame = Announced { is_elsewhere: true, ..frame };
            let buffer = std::mem::take(&mut self.buffer);
            let filled = self.fill(frame, source, sink, &mut |place| {
                let rest = &buffer[rest.clone()];
                place[..rest.len()].copy_from_slice(rest);
                rest.len()
            });
            self.buffer = buffer;
            return filled.map_err(Heard::from);
        };
        self.buffer.copy_within(start..self.have, 0);
        self.have -= start;
        if need > self.buffer.len() {
            self.buffer.resize(need, 0);
        }
        Ok(())
    }
}

/// Checks what is whole in `arrived`, the bytes of a frame behind those that are checked. Returns how many bytes may be told of.
fn check(
    seal: &mut Option<Seal>,
    tags: &[Tag],
    Announced { checked, len, .. }: Announced,
    arrived: &mut [u8],
) -> Result<usize, Forged> {
    match seal {
        None => Ok(arrived.len()),
        Some(seal) => seal.open(tags, (checked, len), arrived),
    }
}

/// The header at the front of what arrived, and how many bytes it takes with its tag; `None` until they are here.
///
/// # Errors
/// What ends the connection.
fn read_header(seal: &mut Option<Seal>, arrived: &[u8]) -> Result<Option<(Header, usize)>, Heard> {
    let Some((header, mut rest)) = arrived.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    if let Some(seal) = seal {
        let Some((tag, behind)) = rest.split_first_chunk() else { return Ok(None) };
        seal.check(header, tag)?;
        rest = behind;
    }
    match Header::decode(*header) {
        Ok(Header::Goodbye) if rest.is_empty() => Ok(Some((Header::Goodbye, arrived.len()))),
        Ok(Header::Goodbye) if seal.is_some() => Err(Heard::Forged),
        Ok(Header::Goodbye) => Err(Heard::Breach(format!("{} bytes after its goodbye", rest.len()))),
        Ok(header) => Ok(Some((header, arrived.len() - rest.len()))),
        Err(cause) => Err(Heard::Breach(cause)),
    }
}

#[cfg(test)]
mod tests;
