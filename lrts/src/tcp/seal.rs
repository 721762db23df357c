//! Seal: the tags of one direction of a connection, made on one side and checked on the other.
//!
//! ```text
//! header, its tag | a tag for each segment | body: a first, short segment, then longer ones
//! ```
//!
//! 1. A header has a tag of its own: no length is believed, and no memory taken for it, before that was checked.
//! 2. A body is cut into segments at fixed places, each with its tag: none of its bytes counts as arrived before its segment was checked.
//!    The first is short: it says where the others belong.
//! 3. Each tag takes the next number, from 0 on, under a key of this direction of this connection alone. What is repeated, left out or
//!    brought into another order therefore has a wrong tag, as has what was changed.
//! 4. Tags stand before the body, so that it lies in one piece on both sides and what is read of it is checked at once.

use super::header::{FRAME_BYTES_MAX, HEADER_BYTES};
use super::protection::Protection;
use crate::aead::{Aead, KEY_BYTES, TAG_BYTES, Tag, rekey};
use crate::frame::Frame;

/// Bytes of the first segment: more than the headers of what travels in bodies.
pub(super) const FIRST_SEGMENT_BYTES: usize = 1 << 10;

/// Bytes of the others: they are in the cache when their tag is computed.
const SEGMENT_BYTES: usize = 64 << 10;

/// Tags of the longest frame.
pub(super) const TAGS_MAX: usize = segments(FRAME_BYTES_MAX);

/// Segments of a body of `len` bytes.
const fn segments(len: usize) -> usize {
    match len {
        0 => 0,
        _ => 1 + len.saturating_sub(FIRST_SEGMENT_BYTES).div_ceil(SEGMENT_BYTES),
    }
}

/// Where the segment ends that holds the byte at `position` of a body of `len` bytes.
fn end_of_segment(position: usize, len: usize) -> usize {
    let end = match position.checked_sub(FIRST_SEGMENT_BYTES) {
        None => FIRST_SEGMENT_BYTES,
        Some(beyond) => FIRST_SEGMENT_BYTES + (beyond / SEGMENT_BYTES + 1) * SEGMENT_BYTES,
    };
    end.min(len)
}

/// Bytes of the tags of a body of `len` bytes.
pub(super) const fn tags_bytes(len: usize) -> usize {
    TAG_BYTES * segments(len)
}

/// Bytes that go before a body of `len` bytes.
pub(super) const fn lead_bytes(len: usize) -> usize {
    HEADER_BYTES + TAG_BYTES + tags_bytes(len)
}

/// What the tag of a header is made of: a whole word, which takes two thirds of the time.
fn word(header: &[u8; HEADER_BYTES]) -> [u8; 8] {
    let mut word = [0; 8];
    word[..HEADER_BYTES].copy_from_slice(header);
    word
}

/// A tag that is wrong: what it stands for was changed on the way or forged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Forged;

/// Both directions of a connection, as one of its nodes sees them.
pub(super) struct Seals {
    pub(super) outgoing: Option<Seal>,
    pub(super) incoming: Option<Seal>,
}

impl Seals {
    /// Those of a handshake that left the keys of what goes out and of what comes in. Their successors are used here, so that
    /// nothing which the handshake did with them is ever repeated.
    pub(super) fn new(
        protection: Protection,
        outgoing: &[u8; KEY_BYTES],
        incoming: &[u8; KEY_BYTES],
    ) -> Self {
        Self { outgoing: Seal::new(protection, outgoing), incoming: Seal::new(protection, incoming) }
    }
}

/// One direction.
pub(super) struct Seal {
    aead: Aead,
    is_sealing: bool,
    /// Of the next tag.
    number: u64,
}

impl Seal {
    /// `None` where frames travel in clear.
    pub(super) fn new(protection: Protection, key: &[u8; KEY_BYTES]) -> Option<Self> {
        let is_sealing = protection == Protection::Seals;
        (protection != Protection::Clear).then(|| Self {
            aead: Aead::new(&rekey(key)),
            is_sealing,
            number: 0,
        })
    }

    /// Tags made or checked so far.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Takes back the tags of a frame of which no byte has left.
    pub(super) fn rewind(&mut self, number: u64) {
        self.number = number;
    }

    fn next(&mut self) -> u64 {
        self.number += 1;
        self.number - 1
    }

    fn make(&mut self, segment: &[u8]) -> Tag {
        let number = self.next();
        self.aead.tag(number, segment)
    }

    /// Writes into `staged`, which is empty, how a frame begins; what it returns of the frame follows from where it lies. That is all of it
    /// except for a short head, and nothing when bodies are sealed.
    pub(super) fn stage<'a>(
        &mut self,
        header: &[u8; HEADER_BYTES],
        frame: Frame<'a>,
        staged: &mut Vec<u8>,
    ) -> &'a [u8] {
        // A frame of one part has it in either place.
        let (head, body) =
            if frame.body.is_empty() { (&[][..], frame.head) } else { (frame.head, frame.body) };
        let len = frame.len();
        staged.extend_from_slice(header);
        let tag = self.make(&word(header));
        staged.extend_from_slice(&tag);
        let tags = staged.len();
        let begin = tags + tags_bytes(len);
        staged.resize(begin, 0);
        staged.extend_from_slice(head);
        let mut copied = if self.is_sealing { len } else { 0 };
        while copied < head.len() {
            copied = end_of_segment(copied, len);
        }
        let (near, far) = body.split_at(copied - head.len());
        staged.extend_from_slice(near);
        let (lead, near) = staged.split_at_mut(begin);
        let (mut start, places) = (0, lead[tags..].as_chunks_mut::<TAG_BYTES>().0);
        for place in places {
            let end = end_of_segment(start, len);
            *place = match near.get_mut(start..end) {
                Some(segment) if self.is_sealing => {
                    let number = self.next();
                    self.aead.seal(number, segment)
                }
                Some(segment) => self.make(segment),
                None => self.make(&far[start - copied..end - copied]),
            };
            start = end;
        }
        far
    }

    /// Checks a header.
    ///
    /// # Errors
    /// Its tag is wrong.
    pub(super) fn check(&mut self, header: &[u8; HEADER_BYTES], tag: &Tag) -> Result<(), Forged> {
        let number = self.next();
        if self.aead.is_right(number, &word(header), tag) { Ok(()) } else { Err(Forged) }
    }

    /// Checks the segments that are whole in `arrived`, the bytes of a body of `len` bytes from `start` on, where a segment starts; those that are
    /// sealed it opens where they are. `tags` are all of the body. Returns how many bytes they have.
    ///
    /// # Errors
    /// A tag is wrong.
    pub(super) fn open(
        &mut self,
        tags: &[Tag],
        (start, len): (usize, usize),
        arrived: &mut [u8],
    ) -> Result<usize, Forged> {
        let mut opened = 0;
        while start + opened < len {
            let position = start + opened;
            let size = end_of_segment(position, len) - position;
            let Some(segment) = arrived.get_mut(opened..opened + size) else { break };
            let tag = &tags[segments(position)];
            let number = self.next();
            let is_right = match self.is_sealing {
                true => self.aead.open(number, segment, tag),
                false => self.aead.is_right(number, segment, tag),
            };
            if !is_right {
                return Err(Forged);
            }
            opened += size;
        }
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Channel;
    use crate::tcp::header::Header;

    const LENS: [usize; 11] = [
        0,
        1,
        FIRST_SEGMENT_BYTES - 1,
        FIRST_SEGMENT_BYTES,
        FIRST_SEGMENT_BYTES + 1,
        FIRST_SEGMENT_BYTES + SEGMENT_BYTES - 1,
        FIRST_SEGMENT_BYTES + SEGMENT_BYTES,
        FIRST_SEGMENT_BYTES + SEGMENT_BYTES + 1,
        300_000,
        FRAME_BYTES_MAX - 1,
        FRAME_BYTES_MAX,
    ];

    #[test]
    fn segments_cover_a_body() {
        for len in LENS {
            let (mut position, mut index) = (0, 0);
            while position < len {
                assert_eq!(segments(position), index, "of the byte at {position}");
                position = end_of_segment(position, len);
                index += 1;
            }
            assert_eq!((position, index), (len, segments(len)));
            assert!(index <= TAGS_MAX);
        }
    }

    #[test]
    fn what_is_staged_is_what_is_opened() {
        let key = [7; KEY_BYTES];
        for protection in [Protection::Tags, Protection::Seals] {
            let [mut sender, mut receiver] =
                [(); 2].map(|()| Seal::new(protection, &key).expect("it protects"));
            for len in LENS {
                let whole: Vec<u8> = (0..len).map(|byte| (byte * 7) as u8).collect();
                for cut in [0, 1, 60, FIRST_SEGMENT_BYTES, FIRST_SEGMENT_BYTES + 1, 100_000, len] {
                    let Some((head, body)) = whole.split_at_checked(cut) else { continue };
                    let frame = Frame { channel: Channel::Runtime, head, body };
                    let header = Header::Frame { channel: frame.channel, len }.encode();
                    let mut staged = Vec::new();
                    let rest = sender.stage(&header, frame, &mut staged);
                    if head.len() < FIRST_SEGMENT_BYTES && protection == Protection::Tags {
                        assert!(
                            staged.len() <= lead_bytes(len) + FIRST_SEGMENT_BYTES,
                            "long data are not copied"
                        );
                    }
                    let mut wire = [&staged, rest].concat();
                    assert_eq!(wire.len(), lead_bytes(len) + len);
                    let (lead, body) = wire.split_at_mut(lead_bytes(len));
                    let (first, lead) = lead.split_first_chunk().expect("a header");
                    let ([tag, tags @ ..], []) = lead.as_chunks() else { panic!("tags") };
                    assert_eq!(receiver.check(first, tag), Ok(()));
                    assert_eq!(receiver.open(tags, (0, len), body), Ok(len));
                    assert!(*body == *whole, "{len} bytes, {cut} of them in the head, {protection:?}");
                }
            }
            assert_eq!(sender.number(), receiver.number());
        }
    }

    #[test]
    fn what_is_sealed_cannot_be_read() {
        let mut seal = Seal::new(Protection::Seals, &[7; KEY_BYTES]).expect("it protects");
        let (header, mut staged) =
            (Header::Frame { channel: Channel::Runtime, len: 400 }.encode(), Vec::new());
        let frame = Frame { channel: Channel::Runtime, head: &[5; 200], body: &[5; 200] };
        assert!(seal.stage(&header, frame, &mut staged).is_empty());
        assert!(!staged.windows(8).any(|window| window == [5; 8]));
    }
}
