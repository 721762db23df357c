//! Exchanges: how the edges of a tile get to its neighbours, and theirs to it: by nocopy arguments, or by hand, as before there were any.

mod by_hand;
mod nocopy;

use crate::field::{Problem, Way};
use crate::kernel::DeviceParts;
use crate::sweep::Real;
use crate::tile::Tile;
use chare::devices::Stream;
use chare::prelude::*;
use chare::{DeviceBuffer, Instantiated};
use serde::{Deserialize, Serialize};

/// How edges are exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Exchange {
    /// Device buffers are arguments.
    Nocopy,
    /// Each edge is copied to the host, sent, and copied to the neighbour's device.
    ByHand,
}

/// With which of its neighbours a tile exchanges: rows lie side by side, points of columns apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Among {
    All,
    AboveAndBelow,
    Beside,
    AcrossCorners,
}

impl Among {
    pub(crate) const EACH: [Self; 4] = [Self::All, Self::AboveAndBelow, Self::Beside, Self::AcrossCorners];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::AboveAndBelow => "above and below",
            Self::Beside => "beside",
            Self::AcrossCorners => "across corners",
        }
    }

    pub(crate) fn has(self, way: Way) -> bool {
        match self {
            Self::All => true,
            Self::AboveAndBelow => way.right == 0,
            Self::Beside => way.down == 0,
            Self::AcrossCorners => way.down != 0 && way.right != 0,
        }
    }
}

/// What an exchange is about.
pub(crate) struct Around<'a, R: Real>
where
    Tile<R>: Instantiated,
{
    pub(crate) tile: &'a This<Tile<R>>,
    pub(crate) problem: &'a Problem,
    pub(crate) neighbours: &'a [(Way, (u32, u32))],
    pub(crate) field: &'a DeviceBuffer<R>,
    pub(crate) stream: &'a Stream,
}

impl Exchange {
    pub(crate) const ALL: [Self; 2] = [Self::ByHand, Self::Nocopy];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nocopy => "by nocopy arguments",
            Self::ByHand => "by hand",
        }
    }

    /// Lines of the function that does it, without comments.
    pub(crate) fn lines(self) -> usize {
        let source = match self {
            Self::Nocopy => include_str!("nocopy.rs"),
            Self::ByHand => include_str!("by_hand.rs"),
        };
        let function = source.lines().skip_while(|line| !line.contains("async fn exchange"));
        function.filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count()
    }

    /// The edges of all neighbours in a step.
    pub(crate) async fn run<R: Real>(self, around: Around<'_, R>, step: u32) -> DeviceParts<R>
    where
        Tile<R>: Instantiated,
    {
        match self {
            Self::Nocopy => nocopy::exchange(around, step).await,
            Self::ByHand => by_hand::exchange(around, step).await,
        }
    }
}
