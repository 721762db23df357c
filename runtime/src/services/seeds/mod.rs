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
//!
//! 1. What the PEs of another node say, a node asks for while it creates singletons: with one choice in [`ASK_ONE_IN`] whose first PE is
//!    there, whether or not that is chosen, so that no old word stands for ever. While an answer is under way it is not asked again: so
//!    questions and answers are fewer than creations, and end with them.
//! 2. Until a node has answered, what was created there from here is what is known to wait there: one that is too busy to answer gets less.
//! 3. Neither is a message to a PE, and quiescence counts neither: nothing waits for them.

mod bed;

use crate::base::counters::Counters;
use crate::base::typed_box::TypedBox;
use crate::delivery::{lifecycle, outbox};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Create, Envelope, SystemMessage, frame, opened};
use crate::model::ids::{ChareId, NodeId, PeId, ServiceId, Target};
use crate::model::registry::{Identity, Standing};
use crate::node::seeds::Seeds;
use crate::node::{Arrival, Delivery, Node, NodeService};
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use bed::{Bed, Hearsay};
use chare_lrts::{codec, dice};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

pub(crate) const SERVICE: Service = Service {
    node: NodeService { state: || Box::new(Known::default()), arrive, ..NodeService::NONE },
    state: || TypedBox::new(RefCell::<VecDeque<Create>>::default()),
    attends: |node| node.seeds != Seeds::Random,
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

/// One in so many choices asks another node for the loads of its PEs: half a message more for a creation, and a word of a node is as old as
/// four creations for each node of the job.
const ASK_ONE_IN: u64 = 4;

/// What a node knows of loads.
#[derive(Default)]
struct Known {
    /// Of its own PEs, if they speak.
    here: OnceLock<Bed>,
    /// Of others, if it creates singletons by that.
    elsewhere: OnceLock<Hearsay>,
}

/// The seeds that wait on this PE.
fn row(pe: &Pe) -> &RefCell<VecDeque<Create>> {
    pe.state(ID)
}

fn known(node: &Node) -> &Known {
    node.state(ID)
}

/// What the PEs of a node say of themselves.
fn bed(node: &Node) -> &Bed {
    known(node).here.get_or_init(|| Bed::new(node.pes().count()))
}

/// What the PEs of other nodes said of themselves.
fn elsewhere(node: &Node) -> &Hearsay {
    let topology = &node.topology;
    known(node).elsewhere.get_or_init(|| Hearsay::new(topology.nodes(), topology.pes_per_node()))
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
        chosen => choose_by_load(pe, (chosen, options), random),
    }
}

#[cold]
fn choose_by_load(pe: &Pe, (chosen, options): (Seeds, &CallOptions), random: PeId) -> Ground {
    let node = &pe.node;
    let topology = &node.topology;
    let other = match chosen {
        Seeds::Least => PeId(dice::below(topology.pes().into()) as u32),
        _ if !node.is_here(random) => return Ground::On(random),
        _ if topology.pes_per_node() == 1 => return Ground::On(pe.id),
        _ => topology.pe(node.id, dice::below(topology.pes_per_node().into()) as u32),
    };
    if chosen == Seeds::Steal && options.is_default() {
        return Ground::Seed;
    }
    if !node.is_here(random) && dice::below(ASK_ONE_IN) == 0 {
        ask(pe, topology.node_of(random));
    }
    let less = if waiting(node, other) < waiting(node, random) { other } else { random };
    note_created(node, less);
    Ground::On(less)
}

/// The messages that wait for a PE, as far as this node knows.
fn waiting(node: &Node, pe: PeId) -> u32 {
    match node.rank_here(pe) {
        Some(rank) => bed(node).waiting(rank),
        None => elsewhere(node).waiting(node.topology.node_of(pe), node.topology.rank_of(pe)),
    }
}

/// A singleton is created on a PE, which has yet to say so.
fn note_created(node: &Node, pe: PeId) {
    match node.rank_here(pe) {
        Some(rank) => bed(node).note_created(rank),
        None => elsewhere(node).note_created(node.topology.node_of(pe), node.topology.rank_of(pe)),
    }
}

/// Asks another node what waits for its PEs, unless its answer is under way.
fn ask(pe: &Pe, whom: NodeId) {
    if elsewhere(&pe.node).begin_to_ask(whom) {
        post(&pe.node, &pe.counters, whom, &Word::Ask);
    }
}

/// Sends another node a word, which costs nothing, because no PE runs it.
fn post(node: &Node, counters: &Counters, to: NodeId, word: &Word) {
    let bytes = frame::encode_system(ID, word).expect("numbers refuse nothing");
    node.post(counters, to, bytes);
}

/// Takes a word of another node.
fn arrive(node: &Arc<Node>, arrival: Arrival<'_>) -> Result<Option<Delivery>, String> {
    match codec::decode(arrival.said).map_err(|error| error.to_string())? {
        Word::Ask => {
            let waiting = bed(node).all_waiting();
            post(node, &node.outside, arrival.source, &Word::Waiting(waiting));
        }
        Word::Waiting(waiting) => elsewhere(node).hear(arrival.source, &waiting)?,
    }
    Ok(None)
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

/// Says that so many messages wait in this PE's run queue, with the one that runs; what has not been taken out of its mailbox is not counted.
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
    /// The next seed of this PE has its turn, unless it was given away.
    Sprout,
    /// A seed for a PE that had nothing to do.
    Given(Create),
    /// To the home: the singleton has ended.
    Ended { id: ChareId },
}

/// What nodes say to each other.
#[derive(Serialize, Deserialize)]
enum Word {
    /// What waits for each of your PEs?
    Ask,
    /// So many messages, by rank.
    Waiting(Vec<u32>),
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
}
