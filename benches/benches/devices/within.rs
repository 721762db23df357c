//! Packing, unpacking and stepping within a device, beside a copy that moves as many sectors: by one step, and by the device's
//! two-dimensional copy.

use crate::bed::{Bed, Fallible, every_second};
use crate::blocking::Between;
use crate::row::{Row, Table};
use chare_benches::{Spread, sectors_share};
use chare_layout::Plan;
use std::sync::Arc;

/// Operations given at once: the wait for the end weighs nothing.
const AT_ONCE: u32 = 16;

/// What is done with blocks that lie apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Within {
    /// Blocks that lie apart go side by side.
    Pack,
    /// Blocks that lie side by side go apart.
    Unpack,
    /// Blocks that lie apart go to others that do.
    Step,
}

impl Within {
    fn name(self) -> &'static str {
        match self {
            Self::Pack => "pack",
            Self::Unpack => "unpack",
            Self::Step => "step",
        }
    }

    fn plan(self, bytes: u64, block: u64) -> Fallible<Plan> {
        let apart = every_second(bytes, block)?;
        Ok(match self {
            Self::Pack => Plan::pack(&apart)?,
            Self::Unpack => Plan::unpack(&apart)?,
            Self::Step => Plan::new(&apart, &apart)?,
        })
    }

    /// Bytes from block to block, in the source and in the target.
    fn strides(self, block: u64) -> [u64; 2] {
        match self {
            Self::Pack => [2 * block, block],
            Self::Unpack => [block, 2 * block],
            Self::Step => [2 * block; 2],
        }
    }

    pub(crate) fn measure(self, bed: &Bed, table: &mut Table) -> Fallible {
        for (bytes, block) in bed.shapes() {
            let row = |side| Row { part: self.name(), side, bytes, block };
            let plan = Arc::new(self.plan(bytes, block)?);
            let (from, mut to) = (bed.shared(2 * bytes)?, bed.zeroed(2 * bytes)?);
            let took = bed.time(AT_ONCE, || Ok(to.step_from(&bed.stream, &plan, &from)?))?;
            let ceiling = copy(bed, bytes)?.times(sectors_share(bytes, block, self.strides(block)));
            table.add(row("one step"), took, ceiling);
            let between = Between::new(bed, bytes, block)?;
            let took = bed.time(AT_ONCE, || match self {
                Self::Pack => between.pack(),
                Self::Unpack => between.unpack(),
                Self::Step => between.step(),
            })?;
            table.add(row("2-D copy"), took, ceiling);
        }
        Ok(())
    }
}

/// The device's own copy.
pub(crate) fn copy(bed: &Bed, bytes: u64) -> Fallible<Spread> {
    let (from, mut to) = (bed.shared(bytes)?, bed.zeroed(bytes)?);
    bed.time(AT_ONCE, || Ok(to.copy_from(&bed.stream, &from)?))
}
