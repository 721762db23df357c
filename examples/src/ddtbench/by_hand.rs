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
            Self::Halo(loops) => pack(loops, sources, packed),
            Self::ZDown(loops) => pack(loops, sources, packed),
            Self::LuX(loops) => pack(loops, sources, packed),
            Self::LuY(loops) => pack(loops, sources, packed),
            Self::MgX(loops) => pack(loops, sources, packed),
            Self::MgY(loops) => pack(loops, sources, packed),
            Self::MgZ(loops) => pack(loops, sources, packed),
            Self::Atoms(loops) => pack(loops, sources, packed),
            Self::Lists(loops) => pack(loops, sources, packed),
            Self::Tensor(loops) => pack(loops, sources, packed),
            Self::Transposition(loops) => pack(loops, sources, packed),
        }
    }

    pub(super) fn unpack<T: Copy>(&self, packed: &[T], targets: &mut [&mut [T]]) {
        match self {
            Self::Halo(loops) => unpack(loops, packed, targets),
            Self::ZDown(loops) => unpack(loops, packed, targets),
            Self::LuX(loops) => unpack(loops, packed, targets),
            Self::LuY(loops) => unpack(loops, packed, targets),
            Self::MgX(loops) => unpack(loops, packed, targets),
            Self::MgY(loops) => unpack(loops, packed, targets),
            Self::MgZ(loops) => unpack(loops, packed, targets),
            Self::Atoms(loops) => unpack(loops, packed, targets),
            Self::Lists(loops) => unpack(loops, packed, targets),
            Self::Tensor(loops) => unpack(loops, packed, targets),
            Self::Transposition(loops) => unpack(loops, packed, targets),
        }
    }
}

fn pack<T: Copy>(loops: &impl Loops, sources: &[&[T]], packed: &mut [T]) {
    let mut at = 0;
    loops.each_row(End::Source, |array, place, len| {
        packed[at..at + len].copy_from_slice(&sources[array][place..place + len]);
        at += len;
    });
}

fn unpack<T: Copy>(loops: &impl Loops, packed: &[T], targets: &mut [&mut [T]]) {
    let mut at = 0;
    loops.each_row(End::Target, |array, place, len| {
        targets[array][place..place + len].copy_from_slice(&packed[at..at + len]);
        at += len;
    });
}
