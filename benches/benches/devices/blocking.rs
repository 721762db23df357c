//! Blocking schemes: what MV2-GPU-NC was compared with. Each stage waits for the one before, and nothing overlaps.

use crate::bed::{Bed, Fallible};
use crate::grid::{Grid, copy, send};
use chare_device::{Block, Pinned};

/// How blocks get to the host, and back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheme {
    /// By a two-dimensional copy between the device and the host.
    TwoDimensional,
    /// By a two-dimensional copy within the device, and one copy to the host.
    PackedByCopy,
}

impl Scheme {
    pub(crate) const ALL: [Self; 2] = [Self::TwoDimensional, Self::PackedByCopy];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TwoDimensional => "2-D copy",
            Self::PackedByCopy => "2-D copy on the device, then a copy",
        }
    }

    /// As a program's way from device to device.
    pub(crate) fn sent(self) -> &'static str {
        match self {
            Self::TwoDimensional => "2-D copy, then send",
            Self::PackedByCopy => "2-D copy on the device, copy, send",
        }
    }
}

/// Two memories of a device, and what lies between them.
pub(crate) struct Between<'a> {
    bed: &'a Bed,
    grid: Grid,
    from: Block,
    to: Block,
    packed: Block,
    sent: Pinned,
    received: Pinned,
}

impl<'a> Between<'a> {
    pub(crate) fn new(bed: &'a Bed, bytes: u64, block: u64) -> Fallible<Self> {
        let grid = Grid::new(bytes, block)?;
        let (from, to, packed) = (grid.apart(bed)?, grid.apart(bed)?, bed.device.allocate(bytes)?);
        let (sent, received) = (bed.device.pinned(bytes)?, bed.device.pinned(bytes)?);
        Ok(Self { bed, grid, from, to, packed, sent, received })
    }

    /// Gives the stream what brings all blocks to the host.
    pub(crate) fn stage(&self, scheme: Scheme) -> Fallible {
        let Self { bed, grid, from, packed, sent, .. } = self;
        match scheme {
            Scheme::TwoDimensional => grid.pack(bed, from, &sent.span()),
            Scheme::PackedByCopy => {
                grid.pack(bed, from, &packed.span())?;
                copy(bed, &packed.span(), &sent.span())
            }
        }
    }

    /// And what brings them back.
    pub(crate) fn unstage(&self, scheme: Scheme) -> Fallible {
        let Self { bed, grid, to, packed, received, .. } = self;
        match scheme {
            Scheme::TwoDimensional => grid.unpack(bed, &received.span(), to),
            Scheme::PackedByCopy => {
                copy(bed, &received.span(), &packed.span())?;
                grid.unpack(bed, &packed.span(), to)
            }
        }
    }

    /// Carries all of it, and waits for each stage.
    pub(crate) fn carry(&mut self, scheme: Scheme) -> Fallible {
        self.stage(scheme)?;
        self.bed.finish()?;
        send(&mut self.sent, &mut self.received);
        self.unstage(scheme)?;
        self.bed.finish()
    }

    /// What of that the host does.
    pub(crate) fn send(&mut self) {
        send(&mut self.sent, &mut self.received);
    }

    /// Packs within the device, by one two-dimensional copy.
    pub(crate) fn pack(&self) -> Fallible {
        self.grid.pack(self.bed, &self.from, &self.packed.span())
    }

    /// And unpacks.
    pub(crate) fn unpack(&self) -> Fallible {
        self.grid.unpack(self.bed, &self.packed.span(), &self.to)
    }
    /// And copies from blocks to blocks.
    pub(crate) fn step(&self) -> Fallible {
        self.grid.step(self.bed, &self.from, &self.to)
    }
}
