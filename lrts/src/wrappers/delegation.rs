//! Delegation: the methods of [`Lrts`](crate::lrts::Lrts) that a wrapper passes on as they are asked, written once for all wrappers.

/// Methods of the trait, by their names, each of which asks the same of what `$of!(self, lrts => ..)` calls `lrts`.
///
/// The compiler misses none that the trait has no default for, and a test of this folder misses those.
macro_rules! pass_on {
    ($of:ident: $($method:ident)*) => {
        $($crate::wrappers::delegation::pass_on! { @$method $of })*
    };
    (@name $of:ident) => {
        fn name(&self) -> &'static str {
            $of!(self, lrts => lrts.name())
        }
    };
    (@capabilities $of:ident) => {
        fn capabilities(&self) -> $crate::lrts::Capabilities {
            $of!(self, lrts => lrts.capabilities())
        }
    };
    (@send $of:ident) => {
        fn send(
            &self,
            target: $crate::ids::NodeId,
            frame: $crate::frame::Frame<'_>,
        ) -> Result<(), $crate::lrts::NoRoom> {
            $of!(self, lrts => lrts.send(target, frame))
        }
    };
    (@progress $of:ident) => {
        fn progress(&self, sink: &mut dyn $crate::lrts::Sink) -> bool {
            $of!(self, lrts => lrts.progress(sink))
        }
    };
    (@get $of:ident) => {
        fn get(
            &self,
            get: $crate::lrts::Get,
        ) -> Result<$crate::lrts::Posted, $crate::lrts::Refused<$crate::lrts::Get>> {
            $of!(self, lrts => lrts.get(get))
        }
    };
    (@put $of:ident) => {
        fn put(
            &self,
            put: $crate::lrts::Put,
        ) -> Result<$crate::lrts::Posted, $crate::lrts::Refused<$crate::lrts::Put>> {
            $of!(self, lrts => lrts.put(put))
        }
    };
    (@get_runs $of:ident) => {
        fn get_runs(
            &self,
            get: $crate::lrts::Get,
            runs: &$crate::runs::Runs,
        ) -> Result<$crate::lrts::Posted, $crate::lrts::Refused<$crate::lrts::Get>> {
            $of!(self, lrts => lrts.get_runs(get, runs))
        }
    };
    (@put_runs $of:ident) => {
        fn put_runs(
            &self,
            put: $crate::lrts::Put,
            runs: &$crate::runs::Runs,
        ) -> Result<$crate::lrts::Posted, $crate::lrts::Refused<$crate::lrts::Put>> {
            $of!(self, lrts => lrts.put_runs(put, runs))
        }
    };
    (@view $of:ident) => {
        fn view(
            &self,
            key: &$crate::region::RegionKey,
            offset: u64,
            len: usize,
            entering: $crate::lrts::Entering,
        ) -> Result<Option<$crate::memory::Memory>, $crate::error::TransferError> {
            $of!(self, lrts => lrts.view(key, offset, len, entering))
        }
    };
    (@claim $of:ident) => {
        fn claim(
            &self,
            key: &$crate::region::RegionKey,
            offset: u64,
            len: usize,
            mode: $crate::region::claim::ClaimMode,
        ) -> Result<Option<$crate::region::ClaimedRange>, $crate::region::ClaimError> {
            $of!(self, lrts => lrts.claim(key, offset, len, mode))
        }
    };
    (@arm $of:ident) => {
        fn arm(&self) -> bool {
            $of!(self, lrts => lrts.arm())
        }
    };
    (@event_fd $of:ident) => {
        fn event_fd(&self) -> Option<rustix::fd::BorrowedFd<'_>> {
            $of!(self, lrts => lrts.event_fd())
        }
    };
    (@shutdown $of:ident) => {
        fn shutdown(&self) {
            $of!(self, lrts => lrts.shutdown());
        }
    };
    (@is_closed $of:ident) => {
        fn is_closed(&self) -> bool {
            $of!(self, lrts => lrts.is_closed())
        }
    };
}

/// What a wrapper stands around.
macro_rules! inner {
    ($wrapper:expr, $lrts:ident => $call:expr) => {{
        let $lrts = &$wrapper.inner;
        $call
    }};
}

pub(super) use {inner, pass_on};
