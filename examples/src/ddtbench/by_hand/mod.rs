//! Packing by hand: each kernel's loops as an application would write them, which know nothing of its trees.

use super::End;
use super::fft::Transposition;
use super::lammps::Atoms;
use super::milc::ZDown;
use super::nas_lu::{LuX, LuY};
use super::nas_mg::{MgX, MgY, MgZ};
use super::specfem3d::{Lists, Tensor};
use super::wrf::Halo;

/// The loops over what one kernel selects.
pub(super) trait Loops {
    /// Calls `row` with array, place and number of elements of each row, in the order in which they are packed. Rows of a length that
    /// the source says become plain loads and stores.
    fn each_row(&self, end: End, row: impl FnMut(usize, usize, usize));

    fn pack<T: Copy>(&self, sources: &[&[T]], packed: &mut [T]) {
        let mut at = 0;
        self.each_row(End::Source, |array, place, len| {
            packed[at..at + len].copy_from_slice(&sources[array][place..place + len]);
            at += len;
        });
    }

    fn unpack<T: Copy>(&self, packed: &[T], targets: &mut [&mut [T]]) {
        let mut at = 0;
        self.each_row(End::Target, |array, place, len| {
            targets[array][place..place + len].copy_from_slice(&packed[at..at + len]);
            at += len;
        });
    }
}

/// The loops of any kernel.
pub(super) enum ByHand {
    Halo(Halo),
    ZDown(ZDown),
    LuX(LuX),
    LuY(LuY),
    MgX(MgX),
    MgY(MgY),
    MgZ(MgZ),
    Atoms(Atoms),
    Lists(Lists),
    Tensor(Tensor),
    Transposition(Transposition),
}

impl ByHand {
    pub(super) fn pack<T: Copy>(&self, sources: &[&[T]], packed: &mut [T]) {
        match self {
            Self::Halo(loops) => loops.pack(sources, packed),
            Self::ZDown(loops) => loops.pack(sources, packed),
            Self::LuX(loops) => loops.pack(sources, packed),
            Self::LuY(loops) => loops.pack(sources, packed),
            Self::MgX(loops) => loops.pack(sources, packed),
            Self::MgY(loops) => loops.pack(sources, packed),
            Self::MgZ(loops) => loops.pack(sources, packed),
            Self::Atoms(loops) => loops.pack(sources, packed),
            Self::Lists(loops) => loops.pack(sources, packed),
            Self::Tensor(loops) => loops.pack(sources, packed),
            Self::Transposition(loops) => loops.pack(sources, packed),
        }
    }

    pub(super) fn unpack<T: Copy>(&self, packed: &[T], targets: &mut [&mut [T]]) {
        match self {
            Self::Halo(loops) => loops.unpack(packed, targets),
            Self::ZDown(loops) => loops.unpack(packed, targets),
            Self::LuX(loops) => loops.unpack(packed, targets),
            Self::LuY(loops) => loops.unpack(packed, targets),
            Self::MgX(loops) => loops.unpack(packed, targets),
            Self::MgY(loops) => loops.unpack(packed, targets),
            Self::MgZ(loops) => loops.unpack(packed, targets),
            Self::Atoms(loops) => loops.unpack(packed, targets),
            Self::Lists(loops) => loops.unpack(packed, targets),
            Self::Tensor(loops) => loops.unpack(packed, targets),
            Self::Transposition(loops) => loops.unpack(packed, targets),
        }
    }
}
