//! News of long layouts between peers, and the bound of the layouts that they are about.

use crate::model::envelope::frame::LayoutNews;
use crate::model::ids::NodeId;
use smallvec::SmallVec;

chare_lrts::knob! {
    /// How many layouts a node keeps, and tells.
    pub(super) fn layouts_max() -> usize = 4096, or [1, 3];
}

/// The name of a layout, which follows from its content.
pub(crate) type Digest = [u8; 16];

/// News of a layout, and the peer that is to hear them.
pub(crate) type News = (NodeId, Digest, LayoutNews);

/// All news of one message: mostly none, or one.
pub(crate) type AllNews = SmallVec<[News; 1]>;
