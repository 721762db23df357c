//! Audiences: the numbers of members that broadcasts come to, counted for callers that ask. What the members then do never stands here.
//!
//! Copies of a broadcast, which go to members that have moved, are counted when they come there: members may end before.
//!
//! Nobody hears a broadcast over a collection without members, so nobody begins a reduction that the caller may wait for, and only
//! the caller knows the callback. Each PE that has called its members therefore tells the caller how many they were.

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::{CallOptions, Heard};
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Envelope, SystemMessage, opened};
use crate::model::ids::{AudienceId, PeId, ServiceId};
use crate::node::{Delivery, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use chare_lrts::codec::{CodecError, Writer};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

pub(crate) const ID: ServiceId = ServiceId(9);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<Count>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Audiences::default())),
    deliver: |pe, _, message| {
        take_in(pe, opened(message));
        Outcome::Processed
    },
    event: Some(|pe, event| {
        if let ChareEvent::Copied { audience: AudienceId { caller, serial: audience }, is_heard } = *event {
            let count = Count::OfCopy { audience, is_heard };
            outbox::send(pe, caller, Envelope::system(CallOptions::new(), count));
        }
    }),
    ..Service::named(ID, "audiences")
};

/// A count of members that hear a broadcast: to the caller.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Count {
    /// A PE has called so many members itself, and sent so many copies to others that have moved.
    OfPe { audience: u64, members: u64, copies: u64 },
    /// A copy has come to its element, or the element has ended.
    OfCopy { audience: u64, is_heard: bool },
}

impl SystemMessage for Count {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        "the number of members that hear a call of all".to_owned()
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}

/// An audience that is being counted.
struct Audience {
    callback: ErasedCallback,
    /// PEs that have not told yet.
    awaited: u32,
    /// Copies that PEs have told of, less those that have come to their elements. These may tell first.
    copies: i64,
    members: u64,
}

/// The audiences of this PE's broadcasts.
#[derive(Default)]
struct Audiences {
    open: FxHashMap<u64, Audience>,
    next: u64,
}

impl Audiences {
    fn open(&mut self, callback: ErasedCallback, awaited: u32) -> u64 {
        let serial = self.next;
        self.next += 1;
        self.open.insert(serial, Audience { callback, awaited, copies: 0, members: 0 });
        serial
    }

    /// Adds a count. Returns the callback and the sum when it was the last.
    fn add(&mut self, count: Count) -> Option<(ErasedCallback, u64)> {
        let (Count::OfPe { audience: serial, .. } | Count::OfCopy { audience: serial, .. }) = count;
        let audience = self.open.get_mut(&serial)?;
        match count {
            Count::OfPe { members, copies, .. } => {
                audience.members = audience.members.saturating_add(members);
                audience.copies = audience.copies.saturating_add_unsigned(copies);
                audience.awaited = audience.awaited.saturating_sub(1);
            }
            Count::OfCopy { is_heard, .. } => {
                audience.members = audience.members.saturating_add(is_heard.into());
                audience.copies -= 1;
                if audience.copies < 0 {
                    chare_lrts::sometimes!("a copy of a broadcast was heard before it was told of");
                }
            }
        }
        if audience.awaited > 0 || audience.copies != 0 {
            return None;
        }
        self.open.remove(&serial).map(|Audience { callback, members, .. }| (callback, members))
    }
}

fn audiences(pe: &Pe) -> &RefCell<Audiences> {
    pe.state(ID)
}

/// The options with which a broadcast of this PE goes out: if the caller asks who hears it, all PEs are asked.
pub(crate) fn count(pe: &Pe, options: CallOptions) -> CallOptions {
    match options.question() {
        Some(Heard::Asked(callback)) => {
            let serial = audiences(pe).borrow_mut().open(callback, pe.node.topology.pes());
            options.counted(AudienceId { caller: pe.id, serial })
        }
        Some(Heard::Counted(_)) | None => options,
    }
}

/// Tells the caller how many members here hear the broadcast, and to how many others it goes on from here.
pub(crate) fn tell(
    pe: &Pe,
    AudienceId { caller, serial: audience }: AudienceId,
    Called { members, copies }: Called,
) {
    let count = Count::OfPe { audience, members, copies };
    outbox::send(pe, caller, Envelope::system(CallOptions::new(), count));
}

/// The members that a PE has called.
#[derive(Clone, Copy)]
pub(crate) struct Called {
    pub(crate) members: u64,
    /// Copies to members that have moved.
    pub(crate) copies: u64,
}

/// At the caller: calls back when all PEs have told.
fn take_in(pe: &Pe, count: Count) {
    let whole = audiences(pe).borrow_mut().add(count);
    if let Some((callback, members)) = whole {
        fire(pe, callback, Arguments::new(members));
    }
}
