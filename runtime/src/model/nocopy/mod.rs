//! Nocopy values: typed buffers, the nocopy arguments of a call at each step of their way, posts, and handles of registered memory.
//!
//! ```text
//! SendBuffer<T> --> Outgoing --> Leaving --(same process)--> Arrived --> Received<T>, Posted<T>
//!                                   |                           ^
//!                                   +--> Descriptor --> view, get, or bytes that came along
//! ```
//!
//! On its way to one chare an argument is [`Local`]: a [`Leaving`] in memory of the host, or one in memory of a [`device`].
//!
//! Code that brings these values from node to node never stands here: see `transfer`.

mod arguments;
mod arrived;
mod buffer;
mod completion;
mod descriptor;
mod device;
pub(crate) mod divided;
mod eager;
mod handle;
mod kind;
mod landing;
mod layout_method;
mod local;
mod outgoing;
mod parts;
mod posts;
mod registration;
mod release;
pub(crate) mod selected;
mod selection;
mod several;
mod view;

pub(crate) use arguments::Nocopy;
pub use arguments::{NocopyArguments, Posted, Received};
pub(crate) use arrived::Arrived;
#[cfg(test)]
pub(in crate::model) use arrived::ArrivedArgument;
pub use arrived::NocopyParameter;
pub use buffer::{Buffer, BufferMut, Element};
pub(crate) use buffer::{ElementType, lend_vector};
pub use completion::Completion;
pub(crate) use descriptor::{
    CarriedDescriptor, Descriptor, Descriptors, DeviceDescriptor, Few, Lender, LentLayout, ToldLayout,
    carried_bytes, lent_bytes,
};
pub(crate) use device::{
    DeviceFilled, DeviceFrame, DeviceRefusal, DeviceWay, GivenMemory, LeavingDevice, MappedDevice,
    NamedMemory, OutgoingDevice, PostedDevice, RemoteDevice,
};
pub use device::{
    DeviceLanding, DevicePosted, DeviceReceived, DeviceSourceHandle, DeviceTargetHandle, DeviceTransferError,
    DeviceTransferFailed, DeviceTransferred, SendDeviceBuffer, SentDevice,
};
pub(crate) use eager::EagerBytes;
pub(crate) use handle::RemoteRange;
pub use handle::{SourceHandle, SourceSelection, TargetHandle, TargetSelection};
pub use kind::NocopyKind;
pub(crate) use landing::{Given, PostedMemory};
pub use landing::{Landing, NocopyLanding};
pub use layout_method::{LayoutMethod, LayoutMethodError};
pub(crate) use local::Local;
pub(crate) use outgoing::{Keep, Leaving, OutgoingMemory, packed_bytes};
pub use outgoing::{NocopyArgument, Outgoing, SendBuffer, Sent};
pub use parts::{NotJoined, NotSplit, Part, PartLayout, PartMut, Rest, SendPart, Shown, Split, SplitAll};
pub use posts::{MatchError, NotPosted, Post, PostError, PostRefusal, Posts};
pub(crate) use posts::{PostSink, PostSlot, fits};
pub use registration::Registration;
pub(crate) use release::{HandBack, Release, awaited, is_answered};
pub use selection::BufferSelection;
pub use several::{Several, SeveralMut};
pub use view::ReceivedView;
