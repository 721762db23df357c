//! Releases of sent buffers: they tell the sender, once, when nobody needs its buffer any more.

use super::kind::NocopyKind;
use crate::model::arguments::Arguments;
use crate::model::callback::ErasedCallback;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function that runs when a send is over, given the bytes that were transferred: it fires callbacks with arguments that hand buffers
/// back.
pub(crate) type HandBack = Box<dyn FnOnce(u64, &mut dyn FnMut(ErasedCallback, Arguments)) + Send>;

/// The release, if the sender waits for it.
pub(crate) fn awaited(release: Option<&Arc<Release>>) -> Option<&Arc<Release>> {
    release.filter(|release| release.is_awaited)
}

/// Whether the receiver of bytes that travel with a message answers how many bytes it took, because a post may be shorter.
pub(crate) fn is_answered(kind: NocopyKind, release: Option<&Arc<Release>>) -> bool {
    kind.is_posted() && awaited(release).is_some()
}

/// The release of a sent buffer. When its last clone is dropped, it tells the sender that the buffer is free again, or ends a
/// registration whose end no sender waits for. It is dropped after the memory that it releases.
pub(crate) struct Release {
    is_awaited: bool,
    /// The fewest bytes that any receiver took; lowered by receivers on any thread, read by the last drop.
    taken: AtomicU64,
    run: Option<Box<dyn FnOnce(u64) + Send + Sync>>,
    /// The entry that waits for it, in words, where the job ends if a device does not get past the buffer; elsewhere the transfer's own
    /// error says so.
    whose: Option<Arc<str>>,
}

impl Release {
    /// A release that runs `run` with the bytes that were transferred, out of `offered`; `is_awaited`: whether the sender waits for that.
    pub(crate) fn new(
        offered: u64,
        is_awaited: bool,
        run: impl FnOnce(u64) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::of(None, offered, is_awaited, run)
    }

    /// As [`new`](Self::new), on a device, for the entry that is named in words.
    pub(crate) fn of(
        whose: Option<Arc<str>>,
        offered: u64,
        is_awaited: bool,
        run: impl FnOnce(u64) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { is_awaited, taken: AtomicU64::new(offered), run: Some(Box::new(run)), whose })
    }

    /// The entry that waits for it, where a device that does not get past the buffer ends the job.
    pub(crate) fn whose(&self) -> Option<&str> {
        self.whose.as_deref()
    }

    /// A release of memory that holds `bytes` of what this one releases: it notes what the receivers of that took, if it was not all of it.
    pub(crate) fn of_part(self: &Arc<Self>, bytes: u64) -> Arc<Self> {
        let whole = Arc::clone(self);
        Self::new(bytes, self.is_awaited, move |taken| {
            if taken < bytes {
                whole.take(taken);
            }
        })
    }

    /// Notes that a receiver took only the first `bytes`.
    pub(crate) fn take(&self, bytes: u64) {
        self.taken.fetch_min(bytes, Ordering::Relaxed);
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            run(*self.taken.get_mut());
        }
    }
}
