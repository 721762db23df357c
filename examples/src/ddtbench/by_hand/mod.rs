//! Packing by hand: each kernel's loops as an application would write them, which know nothing of its trees.

pub(super) mod fft;
pub(super) mod lists;
mod loops;
pub(super) mod nas;
pub(super) mod strided;
pub(super) mod wrf;

pub use loops::End;

use fft::Transposition;
use lists::{Atoms, Lists, Tensor};
use loops::Loops;
use nas::{LuX, LuY, MgX, MgY, MgZ};
use strided::{Rows, ZDown};
use wrf::Halo;

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
    Rows(Rows),
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
            Self::Rows(loops) => loops.pack(sources, packed),
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
            Self::Rows(loops) => loops.unpack(packed, targets),
        }
    }
}
