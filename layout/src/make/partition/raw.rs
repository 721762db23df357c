//! The untyped partition: the rule, its check, and the layout of each part, in bytes.

use crate::value::bounds::Facts;
use crate::value::op::Op;
use crate::value::{limits, sums};
use crate::{Distributed, Distribution, LayoutError, Order, Raw};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// One dimension of an array, and in how many pieces it is dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dealt {
    pub(super) size: u64,
    pub(super) distribution: Distribution,
    pub(super) pieces: u64,
}

impl Dealt {
    fn piece(&self, process: u64) -> Distributed {
        let Self { size, distribution, pieces } = *self;
        Distributed { size, distribution, processes: pieces, process }
    }

    /// The pieces that differ most: the first one has the most blocks, one ends with a block that is cut short, the last one lies furthest.
    fn unlike(&self) -> [Distributed; 3] {
        let block = match self.distribution {
            Distribution::Block => self.size.div_ceil(self.pieces),
            Distribution::Cyclic(block) => block,
            Distribution::None => self.size,
        };
        let cut_short = self.size.saturating_sub(1).checked_div(block).unwrap_or_default() % self.pieces;
        [0, cut_short, self.pieces - 1].map(|process| self.piece(process))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Rule {
    /// An array, the last index fastest.
    Array(Vec<Dealt>),
    /// Layouts of a buffer of so many elements, encoded: the rule is plain data, so that whatever has one may be a key of a map.
    Table { elements: u64, parts: Vec<Box<[u8]>> },
}

/// What a [`RawPartition`] shares, and how it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) element_bytes: u64,
    pub(super) rule: Rule,
}

/// What [`Partition`](crate::Partition) shares, without the type of the elements.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Told", into = "Told")]
pub struct RawPartition(Arc<Told>);

impl TryFrom<Told> for RawPartition {
    type Error = LayoutError;

    fn try_from(told: Told) -> Result<Self, LayoutError> {
        let Told { element_bytes, rule } = &told;
        let element = Raw::bytes_of(*element_bytes)?;
        if *element_bytes == 0 {
            return Err(LayoutError::NotWhole { grain: 0, element: 0 });
        }
        match rule {
            Rule::Array(dimensions) => check_array(&element, dimensions)?,
            Rule::Table { elements, parts } => check_table(&element, *elements, parts)?,
        }
        Ok(Self(Arc::new(told)))
    }
}

impl From<RawPartition> for Told {
    fn from(partition: RawPartition) -> Self {
        Arc::unwrap_or_clone(partition.0)
    }
}

fn check_array(element: &Raw, dimensions: &[Dealt]) -> Result<(), LayoutError> {
    limits::check_count("dimensions", dimensions.len(), limits::LOOPS_MAX)?;
    let mut parts = 1;
    for (dimension, dealt) in dimensions.iter().enumerate() {
        if dealt.pieces == 0 {
            let why = "it is dealt out in no piece: give it 1 or more";
            return Err(LayoutError::Distribution { dimension, why });
        }
        parts = sums::mul_bytes(parts, dealt.pieces)?;
    }
    sums::signed(parts)?;
    // All places lie within the array, which is checked with any part. What a part takes differs: the most loops have those of first
    // pieces, the most operations those of pieces that are cut short.
    let pieces: Vec<_> = dimensions.iter().map(Dealt::unlike).collect();
    (0..3).try_for_each(|which| {
        let part: Vec<_> = pieces.iter().map(|unlike| unlike[which]).collect();
        element.darray(&part, Order::C).map(drop)
    })
}

fn check_table(element: &Raw, elements: u64, parts: &[Box<[u8]>]) -> Result<(), LayoutError> {
    let len = sums::mul_bytes(elements, element.bytes())?;
    let parts: Vec<Raw> = parts.iter().map(|part| Raw::decode(part)).collect::<Result<_, _>>()?;
    for part in &parts {
        part.check_bounds(len)?;
        if !part.grain().is_multiple_of(element.bytes()) {
            return Err(LayoutError::NotWhole { grain: part.grain(), element: element.bytes() });
        }
    }
    let all: Vec<_> = parts.iter().map(|part| (1, 0, part)).collect();
    Raw::structure(&all)?.check_target()
}

impl RawPartition {
    /// Bytes of an element of the buffer.
    pub fn element_bytes(&self) -> u64 {
        self.0.element_bytes
    }

    /// Bytes of the buffer.
    pub fn bytes(&self) -> u64 {
        let elements = match &self.0.rule {
            // In the order in which the check has multiplied them.
            Rule::Array(dimensions) => dimensions.iter().rev().map(|dealt| dealt.size).product(),
            Rule::Table { elements, .. } => *elements,
        };
        elements * self.element_bytes()
    }

    /// How many parts there are.
    pub fn len(&self) -> u64 {
        match &self.0.rule {
            Rule::Array(dimensions) => dimensions.iter().map(|dealt| dealt.pieces).product(),
            Rule::Table { parts, .. } => parts.len() as u64,
        }
    }

    /// Whether it is an array dealt out by a rule, which takes a few bytes to tell, and no table of layouts.
    pub fn is_rule(&self) -> bool {
        matches!(self.0.rule, Rule::Array(_))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the part at this place in the grid of parts; `None` if there is none. One coordinate is a number already.
    pub fn number_of(&self, place: &[u64]) -> Option<u64> {
        match &self.0.rule {
            Rule::Array(dimensions) if place.len() == dimensions.len() => {
                dimensions.iter().zip(place).try_fold(0, |number, (dealt, place)| {
                    (*place < dealt.pieces).then(|| number * dealt.pieces + place)
                })
            }
            _ => match *place {
                [number] => (number < self.len()).then_some(number),
                _ => None,
            },
        }
    }

    /// The part of this number, made anew each time; `None` if there is none.
    pub fn part(&self, number: u64) -> Option<Raw> {
        if number >= self.len() {
            return None;
        }
        let dimensions = match &self.0.rule {
            Rule::Array(dimensions) => dimensions,
            Rule::Table { parts, .. } => {
                let part = Raw::decode(&parts[number as usize]);
                return Some(part.unwrap_or_else(|error| unreachable!("it was decoded before: {error}")));
            }
        };
        if let Some(rows) = self.make_rows(dimensions, number) {
            return Some(rows);
        }
        let mut left = number;
        let place_along = |dealt: &Dealt| {
            let place = left % dealt.pieces;
            left /= dealt.pieces;
            dealt.piece(place)
        };
        let mut piece: Vec<_> = dimensions.iter().rev().map(place_along).collect();
        piece.reverse();
        let element = Raw::bytes_of(self.element_bytes());
        let part = element.and_then(|element| element.darray(&piece, Order::C));
        Some(part.unwrap_or_else(|error| unreachable!("parts that take more could be made: {error}")))
    }

    /// The part of this number, if only the slowest dimension is dealt out, in blocks: one piece of memory, of which nothing has to be
    /// found out. `None` if it is empty, too.
    fn make_rows(&self, dimensions: &[Dealt], number: u64) -> Option<Raw> {
        let [rows, inner @ ..] = dimensions else { return None };
        if rows.distribution != Distribution::Block || inner.iter().any(|dealt| dealt.pieces > 1) {
            return None;
        }
        // In the order in which the check has multiplied them.
        let row = inner.iter().rev().fold(self.element_bytes(), |bytes, dealt| bytes * dealt.size);
        let each = rows.size.div_ceil(rows.pieces);
        let first = number.checked_mul(each).filter(|first| *first < rows.size)?;
        let (at, bytes) = ((first * row) as i64, each.min(rows.size - first) * row);
        let (facts, bounds) = (Facts::run(at, bytes).ok()?, (0, (rows.size * row) as i64));
        let ops = [Op::block(at, bytes)].into();
        (bytes > 0).then(|| Raw::known(ops, Some(facts), Some(bounds)).ok()).flatten()
    }
}

impl fmt::Debug for RawPartition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.len();
        match &self.0.rule {
            Rule::Array(dimensions) => write!(out, "Partition({parts} parts of {dimensions:?})"),
            Rule::Table { elements, .. } => write!(out, "Partition({parts} parts of {elements} elements)"),
        }
    }
}
