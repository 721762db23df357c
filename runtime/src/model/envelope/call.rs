//! A call of an entry: what most messages are. `proxy -> zerocopy -> **envelope** -> location -> outbox`
//!
//! A [`Call`] has room for everything that a call may say. Most say little, and what a message costs inside a process is mostly its
//! length: it is written and read on the way, and between two PEs each of its cache lines crosses. So a call that says little is a
//! [`ShortCall`], half as long; and once it has found its chare, a `FoundCall`, which waits in the PE's queue (see `pe/queued.rs`).

use crate::model::arguments::{Arguments, ShortArguments};
use crate::model::ids::{PackedTarget, PeId, Target};
use crate::model::nocopy::Nocopy;
use crate::model::registry::EntryRegistration;

/// A call of one entry of one chare.
pub(crate) struct Call {
    pub(crate) target: Target,
    /// The PE that called: it is told when the target lives elsewhere than it thought.
    pub(crate) from: PeId,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    /// Nothing where the entry has no nocopy parameters.
    pub(crate) nocopy: Option<Box<Nocopy>>,
    pub(crate) reference: u64,
}

/// A call that is queued by default, without nocopy arguments or a reference number, its arguments one word.
#[repr(C)]
pub(crate) struct ShortCall {
    target: PackedTarget,
    from: PeId,
    entry: &'static EntryRegistration,
    arguments: ShortArguments,
}

// A slot of a chain has a turn and this in one cache line.
const _: () = assert!(size_of::<ShortCall>() <= 56);

impl Call {
    /// Whether it says no more than its target, its entry and its arguments, and all of them are here.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.reference == 0 && self.is_ready()
    }

    /// Whether its nocopy arguments, if it has any, are where its entry takes them from.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.nocopy.as_deref().is_none_or(|nocopy| nocopy.is_ready(self.entry.has_posts()))
    }

    /// The same call in less room.
    ///
    /// # Errors
    /// The call as it is, when it says more than a short one.
    #[inline]
    pub(crate) fn shorten(self) -> Result<ShortCall, Self> {
        let is_short = self.nocopy.is_none() && self.reference == 0;
        let Some(packed) = is_short.then(|| PackedTarget::pack(self.target)).flatten() else {
            return Err(self);
        };
        let Self { target, from, entry, arguments, .. } = self;
        match arguments.shorten() {
            Ok(arguments) => Ok(ShortCall { target: packed, from, entry, arguments }),
            Err(arguments) => Err(Self { target, from, entry, arguments, nocopy: None, reference: 0 }),
        }
    }
}

impl From<ShortCall> for Call {
    #[inline]
    fn from(ShortCall { target, from, entry, arguments }: ShortCall) -> Self {
        Self {
            target: target.unpack(),
            from,
            entry,
            arguments: arguments.widen(),
            nocopy: None,
            reference: 0,
        }
    }
}
