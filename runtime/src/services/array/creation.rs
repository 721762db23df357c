//! Creation of arrays, groups and nodegroups: every node is told the blueprint, every PE constructs its members.
//!
//! On the PE that creates them, collections wait for their turn in [`Own`], in order; [`bring_forward`] constructs the members there
//! before, for code that wants them at once. Calls of members elsewhere do not wait for that: they follow the news of the creation.

use super::message::{ArrayFrame, ArrayMessage, ID, Insert, InsertionOrder, Stage};
use crate::base::host_memory::host_memory_bytes;
use crate::delivery::lifecycle::construct;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::collection::{Blueprint, CollectionInfo};
use crate::model::envelope::Envelope;
use crate::model::home::{Lives, bond};
use crate::model::ids::{CollectionId, Index, NodeId, PeId, Target};
use crate::model::registry::{ChareRegistration, Identity, Standing, find_chare};
use crate::model::travel::Traveller;
use crate::node::Node;
use crate::pe::early::Missing;
use crate::pe::places::LocalCollection;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe};
use crate::services::broadcast::tree::{self, TreeMessage};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// Creates a collection on all PEs. One message to each node, down a tree.
///
/// # Panics
/// If the placement does not fit the elements or the job.
pub(crate) fn create(
    pe: &Pe,
    blueprint: Blueprint,
    chare: &'static ChareRegistration,
    arguments: &Arguments,
) {
    let told = |_| ArrayFrame::Members { root: pe.node.id, blueprint: Box::new(blueprint.clone()) };
    tree::tell_nodes(pe, TreeMessage::plain(ID), arguments, told);
    let info = match CollectionInfo::new(blueprint, chare, pe.node.topology.clone(), host_memory_bytes()) {
        Ok(info) => Arc::new(info),
        Err(cause) => panic!("{} cannot be created: {cause}", chare.name),
    };
    pe.places.borrow_mut().announce(Arc::clone(&info));
    own(pe).borrow_mut().push_back((Arc::clone(&info), arguments.clone()));
    for to in pe.node.pes() {
        let message = if to == pe.id {
            ArrayMessage::CreateNext
        } else {
            ArrayMessage::CreateMembers { info: Arc::clone(&info), arguments: arguments.clone() }
        };
        outbox::send(pe, to, Envelope::system(CallOptions::new().expedited(), message));
    }
}

/// The collections that a PE has created and whose members there are to be constructed, oldest first.
pub(super) type Own = RefCell<VecDeque<(Arc<CollectionInfo>, Arguments)>>;

pub(super) fn own(pe: &Pe) -> &Own {
    pe.state(ID)
}

/// Creates the next collection of this PE's own here, unless it was brought forward.
pub(super) fn create_next(pe: &Pe) -> Outcome {
    let next = own(pe).borrow_mut().pop_front();
    next.map_or(Outcome::Processed, |(info, arguments)| create_members(pe, info, arguments))
}

/// Creates a collection that this PE has created, here and now, if it is not here yet; those that this PE has created before come first.
/// A collection that is to come after another PE's waits for that nevertheless.
pub(crate) fn bring_forward(pe: &Pe, id: CollectionId) {
    let waits = |own: &VecDeque<(Arc<CollectionInfo>, _)>| {
        own.front().is_some_and(|(info, _)| info.id.serial <= id.serial)
    };
    // The code that runs may have asked to be removed: that is not for the constructors.
    let running_goes = pe.destroyed.take();
    while id.creator == pe.id && waits(&own(pe).borrow()) {
        pe.counters.sent.add(1);
        if create_next(pe) == Outcome::Processed {
            pe.counters.processed.add(1);
        }
    }
    pe.destroyed.set(running_goes);
}

/// Takes in a collection that another node has created: passes the frame on, and tells the PEs of this node.
///
/// # Errors
/// The part of the frame that does not fit this program or this job, in words.
pub(super) fn arrive(
    node: &Node,
    root: NodeId,
    blueprint: Blueprint,
    (frame, rest): (&[u8], &[u8]),
) -> Result<(), String> {
    node.post_to_children(&node.outside, root, frame, None);
    let chare = find_chare(blueprint.chare)?;
    let checked = blueprint.elements.check(&chare.index);
    checked.map_err(|cause| format!("an element of {}: {cause}", chare.name))?;
    // A collection that is created without elements comes without arguments.
    let arguments = if blueprint.elements.len() == 0 {
        Arguments::new(())
    } else {
        (chare.decode)(rest).map_err(|error| error.to_string())?
    };
    let info = CollectionInfo::new(blueprint, chare, node.topology.clone(), host_memory_bytes())
        .map_err(|cause| format!("{} cannot be created: {cause}", chare.name))?;
    let info = Arc::new(info);
    tree::tell_pes(node, &CallOptions::new().expedited(), || ArrayMessage::CreateMembers {
        info: Arc::clone(&info),
        arguments: arguments.clone(),
    });
    Ok(())
}

/// Creates a collection on this PE, with the members that it begins with here.
pub(super) fn create_members(pe: &Pe, info: Arc<CollectionInfo>, arguments: Arguments) -> Outcome {
    let (id, chare) = (info.id, info.chare);
    if pe.places.borrow().has_come(id) {
        pe.fail(format!("creating {}", chare.name), "a collection of this number was created before");
        return Outcome::Processed;
    }
    // Collections that the same PE created before, or that this one is to come after, must be here first: constructors may rely on them.
    let before = (id.serial > pe.serials.first()).then(|| CollectionId { serial: id.serial - 1, ..id });
    let missing = before.into_iter().chain(info.after()).find(|before| !pe.places.borrow().has_come(*before));
    let wait_for = |missing, info, arguments| {
        let message = ArrayMessage::CreateMembers { info, arguments };
        pe.keep(Missing::Collection(missing), CallOptions::new().expedited(), message.into())
    };
    if let Some(missing) = missing {
        return wait_for(missing, info, arguments);
    }
    if let Some(other) = info.bound_to() {
        let bound = pe.places.borrow().collection(other).map(|other| info.bind(&other.info));
        match bound {
            Some(Ok(())) => {}
            Some(Err(cause)) => {
                pe.fail(format!("creating {}", chare.name), cause);
                return Outcome::Processed;
            }
            // Where nobody lives does not matter.
            None if pe.places.borrow().has_ended(other) && info.is_nobody_ever() => info.place_nobody(),
            None => return wait_for(other, info, arguments),
        }
    }
    let bound = (info.may_move() && info.bound_to().is_some()).then(|| Arc::clone(&info));
    if let Some(mate) = bound.as_ref().and_then(|info| await_bond(pe, info)) {
        let message = ArrayMessage::CreateMembers { info, arguments };
        return pe.keep(mate, CallOptions::new().expedited(), message.into());
    }
    if bound.is_some() {
        // Those that it is bound to have waited for it.
        pe.see_to_wishes();
    }
    let members = info.members_on(pe.id);
    pe.places.borrow_mut().insert_collection(LocalCollection::new(info, pe.id, members.len()));
    for index in members {
        if let Some(to) = bound.as_ref().and_then(|info| elsewhere(pe, info, index)) {
            send_first(pe, (id, index), to, (chare, arguments.clone()));
            continue;
        }
        construct(
            pe,
            Identity::new(Target::Member(id, index), &chare.name, Standing::NEW),
            chare,
            arguments.clone(),
        );
    }
    pe.tell(ChareEvent::Born { collection: id });
    pe.release_early(Missing::Collection(id));
    Outcome::Processed
}

/// Finds an element under way of arrays that move and to which a collection is going to be bound. Its creation waits for that: where such
/// elements live, those that it begins with are to live, too. Until it is created none of them may go.
fn await_bond(pe: &Pe, info: &CollectionInfo) -> Option<Missing> {
    let mut places = pe.places.borrow_mut();
    let mut bond = places.bond_mut(info.bound_to()?);
    let under_way = bond.iter().find_map(|collection| {
        let (index, ..) = collection.home.as_ref()?.under_way().next()?;
        Some(Missing::Member(collection.info.id, index))
    })?;
    chare_lrts::sometimes!("the creation of a bound array waited for an element under way");
    bond.iter_mut().for_each(|collection| collection.follower = Some(info.id));
    Some(under_way)
}

/// The PE where a member is to live with which a collection begins, if that is not its home: those that it is bound to have moved there.
fn elsewhere(pe: &Pe, info: &CollectionInfo, index: Index) -> Option<PeId> {
    match find_companion(pe, info, index) {
        Companion::Lives(at) => at.filter(|at| *at != pe.id),
        Companion::UnderWay(_) => unreachable!("the creation waits for what is under way"),
    }
}

/// Has a member with which a collection begins constructed elsewhere: for its home it has lived here, and leaves.
fn send_first(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    to: PeId,
    (chare, arguments): (&'static ChareRegistration, Arguments),
) {
    let (traveller, name) = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("it was created above");
        (collection.let_go(index, to, None, Standing::NEW), collection.names.get(&index).cloned())
    };
    let mut order = InsertionOrder::new((id, index), name, (pe.id, Some(to)), Stage::Granted);
    order.traveller = Some(traveller);
    let insert = ArrayMessage::Insert(Insert { order, chare, arguments });
    outbox::send(pe, to, Envelope::system(CallOptions::new().expedited(), insert));
}

/// What a new element of a bound array is to live with.
pub(super) enum Companion {
    /// Elements of other arrays, on that PE, or nothing.
    Lives(Option<PeId>),
    /// Elements of other arrays that move, of which this one is under way.
    UnderWay(Missing),
}

/// At the home: finds the elements of other arrays with which a new element is to live.
pub(super) fn find_companion(pe: &Pe, info: &CollectionInfo, index: Index) -> Companion {
    let mut places = pe.places.borrow_mut();
    if info.may_move() {
        return find_bond(pe.id, &places.bond_mut(info.id), index);
    }
    let other = info.bound_to().and_then(|other| places.collection(other));
    Companion::Lives(other.and_then(|other| {
        let is_here = other.members.include(index).then_some(pe.id);
        is_here.or_else(|| other.away.get(&index).copied())
    }))
}

/// Finds the elements that live and have an index in bound arrays whose elements move.
fn find_bond(here: PeId, arrays: &[&mut LocalCollection], index: Index) -> Companion {
    let homes = arrays.iter().filter_map(|collection| collection.home.as_deref());
    match bond::find(homes, index) {
        Lives::On(at) => Companion::Lives(Some(at)),
        Lives::UnderWay(number) => Companion::UnderWay(Missing::Member(arrays[number].info.id, index)),
        Lives::AtHomeOrNowhere => {
            let is_here = arrays.iter().any(|collection| collection.members.include(index));
            Companion::Lives(is_here.then_some(here))
        }
    }
}

/// Creates a member of a collection that is here already, which has its home elsewhere and may move: the home counts it.
pub(super) fn create_traveller(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    (name, traveller): (Option<Box<[u8]>>, Traveller),
    arguments: Arguments,
) {
    let stay = traveller.stay;
    let taken_in = {
        let mut places = pe.places.borrow_mut();
        let collection = places.collection_mut(id).expect("a member comes after its collection");
        if let Some(name) = name {
            collection.names.insert(index, name);
        }
        collection.take_in(pe.id, index, traveller).map(|standing| (collection.info.chare, standing))
    };
    let (chare, standing) = match taken_in {
        Ok(taken_in) => taken_in,
        Err(cause) => return pe.fail("the insertion of an element".to_owned(), cause),
    };
    pe.tell(ChareEvent::Constructed { member: (id, index), stay });
    construct(pe, Identity::new(Target::Member(id, index), &chare.name, standing), chare, arguments);
}

/// Creates a member of a collection that is here already.
pub(super) fn create_member(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    name: Option<Box<[u8]>>,
    arguments: Arguments,
) {
    let begun = pe.places.borrow_mut().collection_mut(id).map(|collection| {
        if let Some(name) = name {
            collection.names.insert(index, name);
        }
        (collection.info.chare, collection.contributions.add_member(index))
    });
    let Some((chare, standing)) = begun else { unreachable!("a member comes after its collection") };
    construct(pe, Identity::new(Target::Member(id, index), &chare.name, standing), chare, arguments);
}
