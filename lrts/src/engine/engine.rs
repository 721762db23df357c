//! Engine: something that copies fragments, at once or by itself while the processors do other things; and the one that is always there, which
//! copies with the thread that submits.

use super::job::Fragment;

/// State of a fragment that an engine has taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Submitted {
    /// It has been copied, and has taken the thread's time.
    Over,
    /// The engine has it, until [`Engine::poll`] hands it back.
    #[cfg_attr(not(any(feature = "dsa", test)), expect(dead_code, reason = "only hardware copies by itself"))]
    UnderWay,
}

/// Copies fragments. No call blocks. Any thread may make any call.
///
/// 1. An engine touches the places of a fragment only while it has the fragment.
/// 2. It hands every fragment back, in any order, with as many bytes as it has moved, from the first on. What it has not moved goes to
///    another engine: a page that is not there, say, which only a processor can bring in.
pub(crate) trait Engine: Send + Sync {
    /// What it is, in words, for `+stats`.
    fn describe(&self) -> &str;

    /// Starts to copy a fragment.
    ///
    /// # Errors
    /// The fragment, when there is no room for it now, or when this engine cannot reach its ends.
    fn submit(&self, fragment: Fragment) -> Result<Submitted, Fragment>;

    /// Hands back the fragments that it is done with, and how many bytes of each it has moved.
    fn poll(&self, done: &mut dyn FnMut(Fragment, usize));

    /// Whether it has no fragment.
    fn is_idle(&self) -> bool;
}

/// The processors: every thread that polls, and every one that has nothing else to do.
pub(crate) struct Helpers;

impl Engine for Helpers {
    fn describe(&self) -> &str {
        "processors"
    }

    fn submit(&self, fragment: Fragment) -> Result<Submitted, Fragment> {
        fragment.copy();
        Ok(Submitted::Over)
    }

    fn poll(&self, _done: &mut dyn FnMut(Fragment, usize)) {}

    fn is_idle(&self) -> bool {
        true
    }
}
