//! Audiences: the numbers of members that broadcasts come to, counted for callers that ask. What the members then do never stands here.
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
use crate::pe::{Pe, Service};
use chare_lrts::codec::{CodecError, Writer};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

pub(crate) const ID: ServiceId = ServiceId(8);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<Count>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Audiences::default())),
    deliver: |pe, _, message| {
        take_in(pe, opened(message));
        Outcome::Processed
    },
    ..Service::named(ID, "audiences")
};

/// The number of members that one PE has called: to the caller.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Count {
    audience: u64,
    members: u64,
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
        self.open.insert(serial, Audience { callback, awaited, members: 0 });
        serial
    }

    /// Adds a PE's count. Returns the callback and the sum when it was the last.
    fn add(&mut self, Count { audience: serial, members }: Count) -> Option<(ErasedCallback, u64)> {
        let audience = self.open.get_mut(&serial)?;
        audience.members = audience.members.saturating_add(members);
        audience.awaited -= 1;
        if audience.awaited > 0 {
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

/// Tells the caller how many members here hear the broadcast.
pub(crate) fn tell(pe: &Pe, AudienceId { caller, serial }: AudienceId, members: u64) {
    outbox::send(pe, caller, Envelope::system(CallOptions::new(), Count { audience: serial, members }));
}

/// At the caller: calls back when all PEs have told.
fn take_in(pe: &Pe, count: Count) {
    let whole = audiences(pe).borrow_mut().add(count);
    if let Some((callback, members)) = whole {
        fire(pe, callback, Arguments::new(members));
    }
}
