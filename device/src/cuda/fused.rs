//! Fused launches: the launches of many plans as one for each length of words, so that all halos of a turn take as long to launch as one.
//!
//! Long copies in no loop stay copies of the driver. Plans whose words are long do not wait for those whose words are short.

use crate::cuda::launch::{Launch, gathered, launches};
use chare_layout::Plan;

/// What carries out plans between buffers at these addresses, source and target, in any order.
pub(crate) fn fused<'a>(steps: impl IntoIterator<Item = (&'a Plan, u64, u64)>) -> Vec<Launch> {
    gathered(steps.into_iter().flat_map(|(plan, source, target)| launches(plan, source, target)))
}
