//! Envelopes: messages in flight, as values.
//! `api/proxy -> transfer -> **model/envelope** -> pe/places -> delivery/outbox -> delivery/outbound -> node/posting -> lrts`
//!
//! Inside a process an [`Envelope`] moves as it is; a [`frame`] exists only between processes. A message that a service sends to
//! itself is a [`SystemMessage`], whose content the service alone knows.
//!
//! Code that sends or runs a message never stands here.

mod call;
pub(crate) mod frame;
mod plain_call;
mod system;

pub(crate) use call::{Call, ShortCall};
pub(crate) use plain_call::{Argument, PlainCall, Released};
pub(crate) use system::{SystemMessage, opened};

use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::{ErasedCallback, FutureId};
use crate::model::ids::ChareId;
use crate::model::registry::ChareRegistration;

/// One message for one PE.
pub(crate) struct Envelope {
    pub(crate) options: CallOptions,
    pub(crate) body: Body,
}

impl Envelope {
    /// A message of a service.
    pub(crate) fn system(options: CallOptions, message: impl SystemMessage) -> Self {
        Self { options, body: Body::System(Box::new(message)) }
    }

    /// Whether the message is a call that is queued by default and [is plain](Call::is_plain).
    #[inline]
    pub(crate) fn is_plain_call(&self) -> bool {
        matches!(&self.body, Body::Call(call) if call.is_plain()) && self.options.is_default()
    }

    /// The memory that the message takes, in bytes, roughly: without memory that others lend, and without the contents of messages that
    /// only the runtime writes.
    pub(crate) fn bytes(&self) -> u64 {
        let content = match &self.body {
            Body::Call(Call { arguments, nocopy, .. }) => {
                arguments.encoded_bytes() + nocopy.as_ref().map_or(0, |nocopy| nocopy.kept_bytes())
            }
            Body::System(message) => message.bytes(),
            _ => 0,
        };
        (size_of::<Self>() + content) as u64
    }
}

/// The content of a message: the work that it asks of a PE. It is moved several times on its way, so rare and large contents stand in a
/// box.
pub(crate) enum Body {
    Call(Call),
    Create(Create),
    Resolve {
        future: FutureId,
        value: Arguments,
    },
    /// News that a future's value will not come.
    Broken {
        future: FutureId,
        cause: Box<str>,
    },
    /// A callback that fires outside any entry; it stays on its node.
    Callback(Box<Fired>),
    /// A message of a service.
    System(Box<dyn SystemMessage>),
}

impl Body {
    /// The subject of the message, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Call(call) => format!("a call of {}::{}", call.entry.chare, call.entry.name),
            Self::Create(create) => format!("creating {}", create.chare.name),
            Self::Resolve { .. } | Self::Broken { .. } => "resolving a future".to_owned(),
            Self::Callback(_) => "a callback".to_owned(),
            Self::System(message) => message.describe(),
        }
    }
}

/// A callback and the value it fires with.
pub(crate) struct Fired {
    pub(crate) callback: ErasedCallback,
    pub(crate) value: Arguments,
}

/// The creation of a singleton.
pub(crate) struct Create {
    pub(crate) id: ChareId,
    pub(crate) chare: &'static ChareRegistration,
    pub(crate) arguments: Arguments,
}
