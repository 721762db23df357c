//! Seeds: singletons that are to be created, and of which the program does not say where (`+seeds`). The idea, and the word, is that of
//! Charm++'s seed balancers (manual, "Seed load balancers").
//!
//! With `+seeds steal`:
//!
//! 1. A seed is planted on the PE that creates it, which is its *home*: it waits in a row there, and a message to the PE itself says that the
//!    next one of the row has its turn. The row is as long as such messages are many, or shorter.
//! 2. A PE that has nothing to do says so in its node, once. Whoever plants a seed, or comes to one while others wait, gives half of the row to
//!    a PE that has said so: the oldest, of which the most follows where trees grow.
//! 3. A seed is given at most once, and by its home. From then on the home sends calls of the singleton there, and forgets it when it has
//!    ended. A call that overtakes the seed waits for it (`pe/early`); one that comes after the end, and before its home knows of that, is
//!    refused by what the PE remembers of ends (`pe/creations/strays`).
//!
//! With `+seeds least` PEs say from time to time how many messages wait for them, and the less loaded one of two is chosen: "the power of two
//! choices" (Mitzenmacher, 2001).

mod bed;

use crate::base::typed_box::TypedBox;
use crate::delivery::{lifecycle, outbox};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Create, Envelope, SystemMessage, opened};
use crate::model::ids::{ChareId, PeId, ServiceId, Target};
use crate::model::registry::{Identity, Standing};
use crate::node::seeds::Seeds;
use crate::node::{Node, NodeService};
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use bed::Bed;
use chare_lrts::dice;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::OnceLock;

pub(crate) const SERVICE: Service = Service {
    node: NodeService { state: || Box::new(OnceLock::<Bed>::new()), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::<VecDeque<Create>>::default()),
    deliver: |pe, _, message| receive(pe, opened(message)),
    poll: |pe| {
        say_waiting(pe, pe.queue.borrow().len() + 1);
        false
    },
    before_rest: |pe| {
        say_waiting(pe, 0);
        offer(pe);
        false
    },
    event: Some(|pe, event| {
        if let ChareEvent::StrayEnded { id } = event {
            pe.strays.borrow_mut().note_end(*id);
            send(pe, id.home, SeedMessage::Ended { id: *id });
        }
    }),
    clear: |pe| drop(row(pe).take()),
    ..Service::named(ID, "seeds")
};

/// The most seeds that a PE with nothing to do gets at once: they are given no further.
const GIVEN_AT_ONCE: usize = 4;

/// The seeds that wait on this PE.
fn row(pe: &Pe) -> &RefCell<VecDeque<Create>> {
    pe.state(ID)
}

/// What the PEs of a node say of themselves, from its first creation on.
fn bed(node: &Node) -> &Bed {
    node.state::<OnceLock<Bed>>(ID).get().expect("the first creation has made it")
}

/// Makes the bed of a node and has its PEs speak, unless there is one.
fn open(pe: &Pe) {
    let mut is_new = false;
    pe.node.state::<OnceLock<Bed>>(ID).get_or_init(|| {
        is_new = true;
        Bed::new(pe.node.pes().count())
    });
    if is_new {
        pe.node.pes().for_each(|to| send(pe, to, SeedMessage::Begin));
    }
}

/// Where a singleton is to be created.
pub(crate) enum Ground {
    /// On that PE.
    On(PeId),
    /// On this PE, unless it is given to another one.
    Seed,
}

/// Chooses where a singleton is to be created.
#[inline]
pub(crate) fn choose(pe: &Pe, options: &CallOptions) -> Ground {
    let random = PeId(dice::below(pe.node.topology.pes().into()) as u32);
    match pe.node.seeds {
        Seeds::Random => Ground::On(random),
        chosen => choose_here(pe, (chosen, options), random),
    }
}

#[cold]
fn choose_here(pe: &Pe, (chosen, options): (Seeds, &CallOptions), random: PeId) -> Ground {
    let node = &pe.node;
    let (Some(rank), pes) = (node.rank_here(random), node.pes().count()) else { return Ground::On(random) };
    if pes == 1 {
        return Ground::On(random);
    }
    open(pe);
    if chosen == Seeds::Steal && options.is_default() {
        return Ground::Seed;
    }
    let other = dice::below(pes as u64) as usize;
    Ground::On(node.topology.pe(node.id, bed(node).lesser(rank, other) as u32))
}

/// Plants the seed of a singleton whose home is this PE.
pub(crate) fn plant(pe: &Pe, create: Create) {
    row(pe).borrow_mut().push_back(create);
    send(pe, pe.id, SeedMessage::Sprout);
    give(pe);
}

fn send(pe: &Pe, to: PeId, message: SeedMessage) {
    outbox::send(pe, to, Envelope::system(CallOptions::new(), message));
}

/// Says that so many messages wait for this PE, with the one that runs.
fn say_waiting(pe: &Pe, messages: usize) {
    bed(&pe.node).say_waiting(pe.node.topology.rank_of(pe.id), messages);
}

/// Says that this PE has nothing to do.
fn offer(pe: &Pe) {
    if pe.node.seeds == Seeds::Steal {
        bed(&pe.node).add_idle(pe.node.topology.rank_of(pe.id));
    }
}

/// Gives half of the seeds to PEs that have nothing to do.
fn give(pe: &Pe) {
    let row = row(pe);
    while !row.borrow().is_empty()
        && let Some(rank) = bed(&pe.node).take_idle()
    {
        let to = pe.node.topology.pe(pe.node.id, rank as u32);
        if to == pe.id {
            // It has something to do now.
            continue;
        }
        let share = row.borrow().len().div_ceil(2).min(GIVEN_AT_ONCE);
        for _ in 0..share {
            let Some(create) = row.borrow_mut().pop_front() else { return };
            chare_lrts::sometimes!("a singleton was given to a PE that had nothing to do");
            pe.strays.borrow_mut().give(create.id, to);
            pe.created_chares.borrow_mut().note(create.id);
            pe.places.borrow_mut().learn(Target::Chare(create.id), to);
            let missing = Missing::Chare(create.id);
            send(pe, to, SeedMessage::Given(create));
            // Calls of it that came before its turn.
            pe.release_early(missing);
        }
    }
}

fn receive(pe: &Pe, message: SeedMessage) -> Outcome {
    match message {
        SeedMessage::Begin => {
            pe.attend_to(ID, true);
            return Outcome::NotCounted;
        }
        SeedMessage::Sprout => {
            let next = row(pe).borrow_mut().pop_front();
            give(pe);
            if let Some(create) = next {
                return lifecycle::create_chare(pe, create);
            }
        }
        SeedMessage::Given(create) => take(pe, create),
        SeedMessage::Ended { id } => {
            pe.strays.borrow_mut().forget(id);
            pe.places.borrow_mut().forget(Target::Chare(id));
        }
    }
    Outcome::Processed
}

/// Creates a singleton whose home is another PE.
fn take(pe: &Pe, Create { id, chare, arguments }: Create) {
    let target = Target::Chare(id);
    lifecycle::construct(pe, Identity::new(target, &chare.name, Standing::NEW), chare, arguments);
    pe.release_early(Missing::Chare(id));
}

/// The service's number.
const ID: ServiceId = ServiceId(17);

enum SeedMessage {
    /// Seeds are planted in this process from now on.
    Begin,
    /// The next seed of this PE has its turn, unless it was given away.
    Sprout,
    /// A seed for a PE that had nothing to do.
    Given(Create),
    /// To the home: the singleton has ended.
    Ended { id: ChareId },
}

impl SystemMessage for SeedMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        match self {
            Self::Given(create) => format!("the creation of a {}", create.chare.name),
            _ => "the creation of singletons".to_owned(),
        }
    }

    fn is_counted(&self) -> bool {
        !matches!(self, Self::Begin)
    }
}
