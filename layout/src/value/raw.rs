//! The untyped value: operations in canonical form and what is known of them, in bytes.

use crate::LayoutError;
use crate::value::bounds::Facts;
use crate::value::op::{self, Op};
use crate::value::runs::Runs;
use crate::value::{bounds, canonical, encoded, injective, limits, sums};
use sha2::{Digest, Sha256};
use smallvec::SmallVec;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

/// Places of a stream that a fingerprint looks at.
const SAMPLES: u64 = 8;

/// Which bytes of a buffer, in which order: what [`Layout`](crate::Layout) shares, without types.
///
/// Its constructors mean what those of MPI mean, with the value they are called on as the inner type; all of them count in
/// 64 bits and refuse in words what does not fit. A value never changes, so nothing has to be committed or freed.
///
/// ```
/// use chare_layout::Raw;
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// // Three pieces of two doubles each, four doubles apart.
/// let layout = Raw::bytes_of(8)?.vector(3, 2, 4)?;
/// assert_eq!(layout.runs().collect::<Vec<_>>(), [(0, 16), (32, 16), (64, 16)]);
/// assert_eq!((layout.bytes(), layout.extent()), (48, 80));
/// # Ok(())
/// # }
/// ```
pub struct Raw {
    pub(crate) ops: SmallVec<[Op; 1]>,
    bytes: u64,
    origin: i64,
    span: u64,
    low: i64,
    high: i64,
    grain: u64,
    runs: u64,
    digest: OnceLock<[u8; 16]>,
    fingerprint: OnceLock<u64>,
    /// Why it may not be written, if it was looked for.
    clash: OnceLock<Option<Box<LayoutError>>>,
}

impl Raw {
    /// The value of operations one after the other, with bounds of its own or those of what they touch.
    pub(crate) fn assemble(ops: SmallVec<[Op; 1]>, bounds: Option<(i64, i64)>) -> Result<Self, LayoutError> {
        let ops = canonical::canonical(ops)?;
        let facts = bounds::facts(&ops)?;
        Self::known(ops, facts, bounds)
    }

    /// The value of operations in canonical form, each or together, of which this is known.
    pub(crate) fn known(
        ops: SmallVec<[Op; 1]>,
        facts: Option<Facts>,
        bounds: Option<(i64, i64)>,
    ) -> Result<Self, LayoutError> {
        let Facts { bytes, low: origin, high: end, runs, grain, .. } = facts.unwrap_or(Facts::NOTHING);
        let (low, high) = bounds.unwrap_or((origin, end));
        // Whoever asks for the distance of two in a row must get it.
        high.checked_sub(low).ok_or(LayoutError::TooFar { what: sums::PLACE })?;
        let (digest, fingerprint, clash) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let span = end.abs_diff(origin);
        Ok(Self { ops, bytes, origin, span, low, high, grain, runs, digest, fingerprint, clash })
    }

    /// The same selection with other bounds.
    pub(crate) fn bounded(self, low: i64, high: i64) -> Result<Self, LayoutError> {
        high.checked_sub(low).ok_or(LayoutError::TooFar { what: sums::PLACE })?;
        Ok(Self { low, high, digest: OnceLock::new(), fingerprint: OnceLock::new(), ..self })
    }

    /// Selections that lie apart, each so many bytes further on, as they are: what is known of them is known of all.
    pub(crate) fn apart(selections: &[(i64, &Self)]) -> Result<Self, LayoutError> {
        let mut ops = SmallVec::new();
        let (mut bytes, mut runs, mut grain) = (0, 0, 0);
        let (mut origin, mut end) = (i64::MAX, i64::MIN);
        for (at, selection) in selections {
            for op in &selection.ops {
                ops.push(op.shifted(*at)?);
            }
            bytes = sums::add_bytes(bytes, selection.bytes)?;
            runs += selection.runs;
            grain = sums::gcd(grain, sums::gcd(selection.grain, at.unsigned_abs()));
            origin = origin.min(sums::add(selection.origin, *at)?);
            end = end.max(sums::add(selection.end(), *at)?);
        }
        limits::check(&ops)?;
        end.checked_sub(origin).ok_or(LayoutError::TooFar { what: sums::PLACE })?;
        let clash = OnceLock::new();
        if selections.iter().all(|(_, selection)| selection.clash.get() == Some(&None)) {
            clash.get_or_init(|| None);
        }
        let span = end.abs_diff(origin);
        let (low, high, digest, fingerprint) = (origin, end, OnceLock::new(), OnceLock::new());
        Ok(Self { ops, bytes, origin, span, low, high, grain, runs, digest, fingerprint, clash })
    }

    /// Bytes of the packed stream: MPI's size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first byte selected; with [`span`](Self::span), MPI's true lower bound and true extent.
    pub fn origin(&self) -> i64 {
        self.origin
    }

    /// All bytes selected lie in `origin .. origin + span`.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// MPI's lower bound: where a layout of these starts, which [`resized`](Self::resized) may put elsewhere than its bytes.
    pub fn lower_bound(&self) -> i64 {
        self.low
    }

    /// Distance of two of these in a row: MPI's extent. Whatever was said stays; nothing is rounded to an alignment, which a
    /// [`Datatype`](crate::Datatype) does.
    pub fn extent(&self) -> i64 {
        self.high - self.low
    }

    pub(crate) fn upper_bound(&self) -> i64 {
        self.high
    }

    /// Whether lower bound and extent are those of the bytes selected.
    pub(crate) fn is_tight(&self) -> bool {
        (self.low, self.high) == (self.origin, self.end())
    }

    pub(crate) fn end(&self) -> i64 {
        self.origin.wrapping_add_unsigned(self.span)
    }

    /// The largest number of which all blocks, strides and places are multiples; 0 if nothing is selected.
    pub fn grain(&self) -> u64 {
        self.grain
    }

    /// Pieces of memory after neighbours melted: as many as [`runs`](Self::runs) gives.
    pub fn run_count(&self) -> u64 {
        self.runs
    }

    /// Indices, offsets and pieces of its lists: about as many numbers as its bytes say. 0 for nests of loops.
    pub fn index_count(&self) -> u64 {
        op::index_count(&self.ops)
    }

    /// Whether it selects one piece of memory, or nothing.
    pub fn is_contiguous(&self) -> bool {
        self.runs <= 1
    }

    /// Whether no byte is selected twice, so that it may be a target.
    ///
    /// Cost: closed forms for nests of loops; lists of pieces are walked once, and sorted if they do not ascend; kept.
    ///
    /// # Errors
    /// [`LayoutError::Overlaps`] with the place in the stream of a byte selected again, and
    /// [`LayoutError::MayOverlap`] for more than a million interleaved pieces, which are not looked through.
    pub fn check_target(&self) -> Result<(), LayoutError> {
        let clash = self.clash.get_or_init(|| injective::check(&self.ops).err().map(Box::new));
        clash.as_deref().cloned().map_or(Ok(()), Err)
    }

    /// Whether a buffer of `len` bytes holds all that it selects.
    ///
    /// # Errors
    /// [`LayoutError::OutOfBounds`].
    pub fn check_bounds(&self, len: u64) -> Result<(), LayoutError> {
        let end = self.end();
        if self.origin < 0 || u64::try_from(end).is_ok_and(|end| end > len) {
            return Err(LayoutError::OutOfBounds { origin: self.origin, end, len });
        }
        Ok(())
    }

    /// The pieces of memory in the order of the stream, as `(place, length)` in bytes. Pieces that touch are one, within loops
    /// and across them.
    ///
    /// ```
    /// use chare_layout::Raw;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let pair = Raw::bytes_of(4)?.hindexed(&[1, 1], &[8, 0])?;
    /// assert_eq!(pair.runs().collect::<Vec<_>>(), [(8, 4), (0, 4)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn runs(&self) -> Runs<'_> {
        self.runs_within(0, self.bytes())
    }

    /// The runs of `len` bytes of the stream from place `at` on; fewer where the stream ends.
    ///
    /// Cost: the way to the place is as long as the layout is deep, plus a bisection of a list.
    pub fn runs_within(&self, at: u64, len: u64) -> Runs<'_> {
        let left = len.min(self.bytes().saturating_sub(at));
        Runs::new(&self.ops, at, left)
    }

    /// Its bytes: some 4 to 40 for nests of loops, one or two for each index of a list.
    ///
    /// ```
    /// use chare_layout::Raw;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let layout = Raw::bytes_of(8)?.vector(3, 1, 10)?;
    /// assert!(layout.encode().len() <= 12);
    /// assert_eq!(Raw::decode(&layout.encode())?, layout);
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode(&self) -> Vec<u8> {
        encoded::encode(&self.ops, (!self.is_tight()).then_some((self.low, self.high)))
    }

    /// The layout that these bytes say.
    ///
    /// # Errors
    /// [`LayoutError::Garbled`] where they are none, [`LayoutError::TooMany`] and [`LayoutError::TooFar`] where they say too much.
    pub fn decode(bytes: &[u8]) -> Result<Self, LayoutError> {
        let (ops, bounds) = encoded::decode(bytes)?;
        let facts = bounds::facts(&ops)?;
        Self::known(ops, facts, bounds)
    }

    /// Names what it probably is, at a fraction of what [`digest`](Self::digest) costs: unequal ones differ in nearly all cases, equal ones
    /// never do. The same in this process only.
    ///
    /// Cost: a look at a few places of the stream, however long its lists are. Taken once.
    ///
    /// ```
    /// use chare_layout::Raw;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let list = |last| Raw::bytes_of(8)?.indexed_block(1, &[5, 1, last]);
    /// assert_eq!(list(9)?.fingerprint(), list(9)?.fingerprint());
    /// assert_ne!(list(9)?.fingerprint(), list(8)?.fingerprint());
    /// # Ok::<(), chare_layout::LayoutError>(())
    /// # }
    /// ```
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            (self.bytes, self.runs, self.grain, self.origin, self.span, self.low, self.high)
                .hash(&mut hasher);
            for sample in 0..SAMPLES {
                let at = u128::from(self.bytes) * u128::from(sample) / u128::from(SAMPLES);
                self.runs_within(at as u64, self.grain).for_each(|run| run.hash(&mut hasher));
            }
            hasher.finish()
        })
    }

    /// Names its content to those who know it: the first half of the SHA-256 of [`encode`](Self::encode). Taken once.
    pub fn digest(&self) -> [u8; 16] {
        *self.digest.get_or_init(|| {
            let whole = Sha256::digest(self.encode());
            std::array::from_fn(|place| whole[place])
        })
    }
}

/// Equal canonical forms and bounds; equal values have equal digests.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        (self.low, self.high) == (other.low, other.high) && self.ops == other.ops
    }
}

impl Eq for Raw {}

impl fmt::Debug for Raw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Raw")
            .field("ops", &self.ops)
            .field("bytes", &self.bytes)
            .field("lower_bound", &self.low)
            .field("extent", &self.extent())
            .finish()
    }
}
