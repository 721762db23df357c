//! Encoded layouts: their bytes on the wire, and the decoding that believes none of them.
//!
//! Numbers are in base 128, low digits first; signed ones fold their sign into the lowest bit. A layout is a byte for its
//! version, bounds if they are not those of the bytes selected, and a list of operations; a list is its length and its items,
//! an operation its kind, place, loops and body. Operations of which several would be one list, but stand beside each other in a
//! [`sequence`](crate::Raw::sequence), say so in the first byte: what is decoded is what was encoded.
//!
//! Decoding
//! 1. takes no more memory than a few times the bytes given: each item takes at least one, and the limits hold;
//! 2. believes no sum: sizes, bounds and canonical forms are made anew, by the code that makes every layout;
//! 3. refuses what is left over.

use crate::LayoutError;
use crate::value::canonical::canonical;
use crate::value::limits::{DEPTH_MAX, INDICES_MAX, LOOPS_MAX, OPS_MAX, check, check_count};
use crate::value::lists::{list, melt_neighbours, scattered};
use crate::value::op::{Body, Loop, Loops, Op, Piece, lengths};
use crate::value::sums;
use smallvec::{SmallVec, smallvec};

const VERSION: u8 = 1;
/// Beside the version: bounds follow.
const BOUNDED: u8 = 0x80;
/// Beside the version: the operations stay as many as they are.
const SEQUENCE: u8 = 0x40;

const BLOCK: u64 = 0;
const INDEXED: u64 = 1;
const RUNS: u64 = 2;
const EACH: u64 = 3;
const GROUP: u64 = 4;

/// The bounds of a layout that are not those of the bytes selected.
type Bounds = Option<(i64, i64)>;

/// The bytes of operations, each in canonical form, and of bounds.
pub(crate) fn encode(ops: &SmallVec<[Op; 1]>, bounds: Bounds) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    let version = if is_sequence(ops) { VERSION | SEQUENCE } else { VERSION };
    match bounds {
        None => bytes.push(version),
        Some((low, high)) => {
            bytes.push(version | BOUNDED);
            put_signed(&mut bytes, low);
            put_signed(&mut bytes, high);
        }
    }
    put_ops(&mut bytes, ops);
    bytes
}

/// Whether operations have another canonical form together, or none.
fn is_sequence(ops: &SmallVec<[Op; 1]>) -> bool {
    ops.len() > 1 && canonical(ops.clone()).as_ref() != Ok(ops)
}

/// The operations, canonical together or in a sequence, and the bounds that these bytes say.
///
/// # Errors
/// Where they are none, or say too much.
pub(crate) fn decode(bytes: &[u8]) -> Result<(SmallVec<[Op; 1]>, Bounds), LayoutError> {
    let mut reader = Reader { bytes, place: 0, ops: 0 };
    let version = reader.byte()?;
    if version & !(BOUNDED | SEQUENCE) != VERSION {
        return Err(reader.garbled("no version of layouts that is known here"));
    }
    let bounds = match version & BOUNDED {
        0 => None,
        _ => Some((reader.signed()?, reader.signed()?)),
    };
    let ops = reader.ops(0)?;
    if reader.place != bytes.len() {
        return Err(reader.garbled("bytes are left over"));
    }
    let ops = match version & SEQUENCE {
        0 => canonical(ops.into())?,
        _ => alone(ops)?,
    };
    Ok((ops, bounds))
}

/// Operations each in its own canonical form.
fn alone(ops: Vec<Op>) -> Result<SmallVec<[Op; 1]>, LayoutError> {
    let mut forms = SmallVec::new();
    for op in ops {
        forms.extend(canonical(smallvec![op])?);
    }
    check(&forms)?;
    Ok(forms)
}

/// Numbers below this have eight digits or less, which are made and read at once.
const EIGHT_DIGITS: u64 = 1 << 56;

/// The highest bit of each byte: all digits but the last one have it.
const MORE: u64 = 0x8080_8080_8080_8080;

#[inline]
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    if number < EIGHT_DIGITS {
        let digits = (u64::BITS - number.leading_zeros()).div_ceil(7).max(1);
        let end = bytes.len() + digits as usize;
        let more = MORE & ((1 << (8 * (digits - 1))) - 1);
        // A store of fixed length, of which the rest is cut off, takes less than one by one.
        bytes.extend_from_slice(&(spread(number) | more).to_le_bytes());
        return bytes.truncate(end);
    }
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The digits of a number, a byte each, from the lowest byte on.
fn spread(number: u64) -> u64 {
    let halves = (number & 0x0fff_ffff) | (number & 0x00ff_ffff_f000_0000) << 4;
    let pairs = (halves & 0x0000_3fff_0000_3fff) | (halves & 0x0fff_c000_0fff_c000) << 2;
    (pairs & 0x007f_007f_007f_007f) | (pairs & 0x3f80_3f80_3f80_3f80) << 1
}

/// The number of these digits.
fn gathered(digits: u64) -> u64 {
    let pairs = (digits & 0x007f_007f_007f_007f) | (digits & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = (pairs & 0x0000_3fff_0000_3fff) | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    (halves & 0x0fff_ffff) | (halves & 0x0fff_ffff_0000_0000) >> 4
}

fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

fn put_ops(bytes: &mut Vec<u8>, ops: &[Op]) {
    put(bytes, ops.len() as u64);
    for op in ops {
        let kind = match op.body {
            Body::Block(_) => BLOCK,
            Body::Indexed { .. } => INDEXED,
            Body::Runs(_) => RUNS,
            Body::Each { .. } => EACH,
            Body::Group(_) => GROUP,
        };
        put(bytes, kind | (op.loops.len() as u64) << 3);
        put_signed(bytes, op.at);
        for one in &op.loops {
            put(bytes, one.count);
            put_signed(bytes, one.stride);
        }
        put_body(bytes, &op.body);
    }
}

fn put_body(bytes: &mut Vec<u8>, body: &Body) {
    match body {
        Body::Block(len) => put(bytes, *len),
        Body::Indexed { block, scale, indices } => {
            put(bytes, *block);
            put(bytes, *scale);
            put(bytes, indices.len() as u64);
            let mut before = 0;
            bytes.reserve(2 * indices.len());
            for index in indices.iter().map(|index| i64::from(*index)) {
                put_signed(bytes, index - before);
                before = index;
            }
        }
        Body::Runs(pieces) => {
            put(bytes, pieces.len() as u64);
            for (at, len) in lengths(pieces) {
                put_signed(bytes, at);
                put(bytes, len);
            }
        }
        Body::Each { offsets, of } => {
            put(bytes, offsets.len() as u64);
            offsets.iter().for_each(|offset| put_signed(bytes, *offset));
            put_ops(bytes, of);
        }
        Body::Group(of) => put_ops(bytes, of),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    place: usize,
    /// Operations so far.
    ops: usize,
}

impl Reader<'_> {
    fn garbled(&self, why: &'static str) -> LayoutError {
        LayoutError::Garbled { place: self.place, len: self.bytes.len(), why }
    }

    fn byte(&mut self) -> Result<u8, LayoutError> {
        let byte = *self.bytes.get(self.place).ok_or_else(|| self.garbled("they end too early"))?;
        self.place += 1;
        Ok(byte)
    }

    #[inline]
    fn number(&mut self) -> Result<u64, LayoutError> {
        let next = self.bytes[self.place..].first_chunk().map(|next| u64::from_le_bytes(*next));
        match next.map(|next| (next, !next & MORE)) {
            None | Some((_, 0)) => self.number_by_bytes(),
            Some((next, ends)) => {
                let bits = ends.trailing_zeros() + 1;
                self.place += bits as usize / 8;
                Ok(gathered(next << (u64::BITS - bits) >> (u64::BITS - bits) & !MORE))
            }
        }
    }

    /// One at the end of the bytes, or of more than eight digits.
    fn number_by_bytes(&mut self) -> Result<u64, LayoutError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let digit = u64::from(byte & 0x7f);
            if digit << shift >> shift != digit {
                return Err(self.garbled("a number has more than 64 bits"));
            }
            number |= digit << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.garbled("a number has more than 64 bits"))
    }

    fn signed(&mut self) -> Result<i64, LayoutError> {
        let folded = self.number()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// Length of a list whose items take at least a byte each.
    fn length(&mut self, what: &'static str, most: usize) -> Result<usize, LayoutError> {
        let have = self.number()?;
        if have > most as u64 {
            return Err(LayoutError::TooMany { what, have, most: most as u64 });
        }
        if have > (self.bytes.len() - self.place) as u64 {
            return Err(self.garbled("a list is longer than what is left"));
        }
        Ok(have as usize)
    }

    fn list(&mut self, what: &'static str) -> Result<usize, LayoutError> {
        match self.length(what, INDICES_MAX)? {
            0 => Err(self.garbled("a list is empty")),
            len => Ok(len),
        }
    }

    fn ops(&mut self, depth: usize) -> Result<Vec<Op>, LayoutError> {
        check_count("groups within each other", depth, DEPTH_MAX)?;
        let len = self.length("operations", OPS_MAX)?;
        self.ops += len;
        check_count("operations", self.ops, OPS_MAX)?;
        (0..len).map(|_| self.op(depth)).collect()
    }

    /// Operations in a group: not none.
    fn some_ops(&mut self, depth: usize) -> Result<std::sync::Arc<[Op]>, LayoutError> {
        let ops = canonical(self.ops(depth + 1)?.into())?;
        if ops.is_empty() {
            return Err(self.garbled("a group selects nothing"));
        }
        Ok(ops.into_vec().into())
    }

    fn op(&mut self, depth: usize) -> Result<Op, LayoutError> {
        let head = self.number()?;
        let at = self.signed()?;
        let count = usize::try_from(head >> 3).unwrap_or(usize::MAX);
        check_count("loops", count, LOOPS_MAX)?;
        let mut loops = Loops::new();
        for _ in 0..count {
            loops.push(Loop { count: self.number()?, stride: self.signed()? });
        }
        let body = match head & 7 {
            BLOCK => Body::Block(self.number()?),
            INDEXED => return self.indexed(at, loops),
            RUNS => return self.runs(at, loops),
            EACH => {
                let len = self.list("offsets")?;
                let offsets: Result<Vec<i64>, _> = (0..len).map(|_| self.signed()).collect();
                Body::Each { offsets: offsets?.into(), of: self.some_ops(depth)? }
            }
            GROUP => Body::Group(self.some_ops(depth)?),
            _ => return Err(self.garbled("no kind of operation that is known here")),
        };
        Op::new(at, loops, body)
    }

    fn indexed(&mut self, at: i64, loops: Loops) -> Result<Op, LayoutError> {
        let (block, scale) = (self.number()?, self.number()?);
        let (block, scale) = (sums::signed(block)?, sums::signed(scale)?);
        let len = self.list("indices")?;
        let mut index = 0_i64;
        let mut places = Vec::with_capacity(len);
        for _ in 0..len {
            index = sums::add(index, self.signed()?)?;
            places.push(sums::mul(index, scale)?);
        }
        // As nearly all are, at a fraction of what it costs to ask for the form.
        if let Some((listed, _)) = scattered(&places, block as u64, 1) {
            return placed(at, loops, listed);
        }
        relisted(at, loops, places.into_iter().map(|place| (place, block as u64)).collect())
    }

    fn runs(&mut self, at: i64, loops: Loops) -> Result<Op, LayoutError> {
        let len = self.list("pieces")?;
        let mut pieces = Vec::with_capacity(len);
        let mut end = 0;
        for _ in 0..len {
            let (at, len) = (self.signed()?, self.number()?);
            end = sums::add_bytes(end, len)?;
            pieces.push(Piece { at, end });
        }
        relisted(at, loops, lengths(&pieces).collect())
    }
}

/// A list as the rules make it, in loops.
fn relisted(at: i64, loops: Loops, runs: Vec<(i64, u64)>) -> Result<Op, LayoutError> {
    placed(at, loops, list(&melt_neighbours(runs))?)
}

/// A list at this place, in loops.
fn placed(at: i64, mut loops: Loops, listed: Op) -> Result<Op, LayoutError> {
    loops.extend_from_slice(&listed.loops);
    Op::new(sums::add(at, listed.at)?, loops, listed.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_put() {
        let around = (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        let numbers: Vec<u64> = around.chain([u64::MAX, 0x0123_4567_89ab_cdef]).collect();
        let mut bytes = Vec::new();
        for number in &numbers {
            let before = bytes.len();
            put(&mut bytes, *number);
            let digits = (0..10).take_while(|digit| *digit == 0 || number >> (7 * digit) > 0);
            let expected: Vec<u8> = digits.map(|digit| (number >> (7 * digit)) as u8 | 0x80).collect();
            assert_eq!(bytes[before..bytes.len() - 1], expected[..expected.len() - 1], "{number:x}");
            assert_eq!(bytes.last().copied(), expected.last().map(|last| last & 0x7f), "{number:x}");
        }
        let mut reader = Reader { bytes: &bytes, place: 0, ops: 0 };
        for number in numbers {
            assert_eq!(reader.number(), Ok(number));
        }
        assert!(reader.number().is_err(), "they have ended");
        for garbled in [&[0x80; 12][..], &[0xff; 10], &[0x80, 0x80], &[]] {
            assert!(Reader { bytes: garbled, place: 0, ops: 0 }.number().is_err());
        }
        let padded = [0x81, 0x80, 0x80, 0, 7, 7, 7, 7];
        assert_eq!(Reader { bytes: &padded, place: 0, ops: 0 }.number(), Ok(1), "zeros in front are none");
    }
}
