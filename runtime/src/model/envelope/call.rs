//! Calls of entries, the most frequent messages: target, entry and arguments.
//! `api/proxy -> transfer -> **model/envelope** -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! A [`Call`] has room for everything that a call may say. Most calls say little, and the cost of a message inside a process is mostly
//! its length: the message is written and read on the way, and each of its cache lines crosses between two PEs. So a call that says
//! little is a [`ShortCall`], half as long; and once a call has found its chare it is a `FoundCall`, which waits in the PE's queue (see
//! `pe/queued.rs`).

use crate::model::arguments::{Arguments, ShortArguments};
use crate::model::ids::{PackedTarget, PeId, Target};
use crate::model::nocopy::Nocopy;
use crate::model::registry::EntryRegistration;

/// A call of one entry of one chare.
pub(crate) struct Call {
    pub(crate) target: Target,
    /// The PE that called; it is told when the target lives on another PE than the caller thought.
    pub(crate) from: PeId,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    /// `None` where the entry has no nocopy parameters.
    pub(crate) nocopy: Option<Box<Nocopy>>,
    pub(crate) reference: u64,
}

/// A call that is queued by default, without nocopy arguments or a reference number, whose arguments take one word.
#[repr(C)]
pub(crate) struct ShortCall {
    target: PackedTarget,
    from: PeId,
    entry: &'static EntryRegistration,
    arguments: ShortArguments,
}

// One cache line of an spsc queue's slot holds a turn and a short call.
const _: () = assert!(size_of::<ShortCall>() <= 56);

impl Call {
    /// Whether the call says no more than its target, its entry and its arguments.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.reference == 0
    }

    /// The bytes of its arguments, with those of nocopy arguments that have not been sent yet.
    pub(crate) fn bytes(&self) -> u64 {
        (self.arguments.encoded_bytes() + self.nocopy.as_deref().map_or(0, Nocopy::leaving_bytes)) as u64
    }

    /// Whether buffers of devices are among nocopy arguments that are still in the sender's process.
    #[inline]
    pub(crate) fn sends_of_devices(&self) -> bool {
        self.nocopy.as_deref().is_some_and(Nocopy::sends_of_devices)
    }

    /// The same call in less room.
    ///
    /// # Errors
    /// The unchanged call, when it says more than a short call can.
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

#[cfg(test)]
mod tests {
    use super::{Arguments, Call, ShortArguments};
    use crate::base::erased::{Erased, Short};

    /// Ambiguous, so that it does not compile, for a type that is `Sync`.
    trait NotSync<Is> {
        fn check() {}
    }
    impl<T> NotSync<()> for T {}
    impl<T: Sync> NotSync<u8> for T {}

    fn is_send<T: Send>() {}

    #[test]
    fn arguments_are_sent_but_not_shared() {
        <Erased as NotSync<_>>::check();
        <Short as NotSync<_>>::check();
        <Arguments as NotSync<_>>::check();
        <ShortArguments as NotSync<_>>::check();
        <Call as NotSync<_>>::check();
        is_send::<Call>();
        is_send::<Short>();
    }
}
