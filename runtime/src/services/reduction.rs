//! Reductions over collections: partials go from the members of a PE to the first PE of the node, up the tree of nodes, to the callback.
//!
//! 1. A PE says a reduction when it closes it (see [`crate::model::reduction::Contributions`]) to the first PE of its node, which takes its
//!    own without a message. That PE says on the combined partial once all PEs of the node and of the nodes below that take part have
//!    said theirs.
//! 2. The root calls back when all PEs have closed the reduction.
//! 3. In an array that may grow, PEs may be without members, and must be told that a reduction has begun: the first PE of each node tells
//!    its own PEs and the nodes right below what waits there and they have not said. It tells them to which broadcast the reduction
//!    belongs, so that PEs with newborns know whether to wait for them; when it learns that later it tells them once more. In other arrays,
//!    a PE that loses its last member says so.
//!    So the root learns when no member is left anywhere. In an array that may grow, all PEs say it when `array` has found that out.
//! 4. The creation of a collection's elements is counted as well, over PEs, beside the reductions: it ends when all of them exist.

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Body, Envelope, SystemMessage, opened};
use crate::model::ids::{BroadcastId, CollectionId, Index, NodeId, PeId, ServiceId, Target};
use crate::model::reduction::reducers::Data;
use crate::model::reduction::{Begun, Closed, Gathering, Partial, Refusal, Share, Statement};
use crate::model::registry::{Identity, Standing, show};
use crate::model::travel::Traveller;
use crate::node::{Delivery, NodeService};
use crate::pe::early::Missing;
use crate::pe::places::{FromAfar, LocalCollection};
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub(crate) const ID: ServiceId = ServiceId(2);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<ReductionMessage>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(()),
    deliver: |pe, options, message| receive(pe, options, opened(message)),
    event: Some(|pe, event| match event {
        ChareEvent::Born { collection } => report_creation(pe, *collection),
        ChareEvent::Called { broadcast } => hear(pe, *broadcast),
        ChareEvent::Gone { chare, left, .. } => {
            if let Target::Member(collection, index) = chare.target
                && *left != Standing::AFAR
            {
                remove_member(pe, (collection, index), *left);
            }
        }
        ChareEvent::Forgotten { member: Target::Member(collection, index), afar: Some(left), .. } => {
            remove_member(pe, (*collection, *index), *left);
        }
        _ => {}
    }),
    ..Service::named(ID, "reductions")
};

/// A message between PEs about reductions over a collection.
#[derive(Serialize, Deserialize)]
enum ReductionMessage {
    /// To the first PE of a node: a statement of one of its PEs, or of the first PE of a node below.
    Said { collection: CollectionId, from: PeId, number: u64, statement: Statement },
    /// To a PE of a node, from the node's first PE: reductions have begun.
    Begun { collection: CollectionId, begun: Begun },
    /// To the first PE of a node, from that of the node above: reductions have begun.
    BegunAbove { collection: CollectionId, begun: Begun },
    /// To the home of a member that lives elsewhere, or did: the member's contribution of this number.
    FromAfar {
        collection: CollectionId,
        index: Index,
        number: u64,
        within: Option<BroadcastId>,
        share: Share,
    },
    /// To the first PE of a node: so many PEs have all elements that the collection begins with.
    Created { collection: CollectionId, pes: u64 },
}

impl SystemMessage for ReductionMessage {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        "a reduction".to_owned()
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Said { statement: Statement::Closed(partial), .. } => partial.bytes(),
            Self::FromAfar { share, .. } => share.bytes(),
            _ => 0,
        }
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}

/// On a node's first PE: the partials that wait for others, each with its collection and the PEs, or first PEs of nodes: those from which
/// something has come, and those that lack.
pub(crate) fn each_partial(pe: &Pe, mut tell: impl FnMut(CollectionId, &Partial, [Vec<PeId>; 2])) {
    for collection in pe.places.borrow().collections() {
        let gathering = collection.gathering.iter().flat_map(|gathering| gathering.each_waiting());
        gathering.for_each(|(partial, children)| tell(collection.info.id, partial, children));
    }
}

fn receive(pe: &Pe, options: CallOptions, message: ReductionMessage) -> Outcome {
    let (ReductionMessage::Said { collection: id, .. }
    | ReductionMessage::Begun { collection: id, .. }
    | ReductionMessage::BegunAbove { collection: id, .. }
    | ReductionMessage::FromAfar { collection: id, .. }
    | ReductionMessage::Created { collection: id, .. }) = message;
    if matches!(message, ReductionMessage::Begun { .. } | ReductionMessage::BegunAbove { .. })
        && pe.places.borrow().has_ended(id)
    {
        // News of what was over before they came.
        return Outcome::Processed;
    }
    // A message of another PE may be faster than the news of the collection.
    if pe.places.borrow().collection(id).is_none() {
        return pe.keep(Missing::Collection(id), options, Body::System(Box::new(message)));
    }
    match message {
        ReductionMessage::Said { from, number, statement, .. } => take(pe, id, (from, number), statement),
        ReductionMessage::Begun { begun, .. } => begin(pe, id, begun),
        ReductionMessage::BegunAbove { begun, .. } => begin_on_node(pe, id, begun),
        ReductionMessage::FromAfar { index, number, within, share, .. } => {
            take_from_afar(pe, (id, index), number, (within, share));
        }
        ReductionMessage::Created { pes, .. } => count_created(pe, id, pes),
    }
    Outcome::Processed
}

fn first_pe(pe: &Pe, node: NodeId) -> PeId {
    pe.node.topology.pe(node, 0)
}

/// Runs `body` with this PE's part of a collection, which is known here.
fn with_collection<R>(pe: &Pe, id: CollectionId, body: impl FnOnce(&mut LocalCollection) -> R) -> R {
    let mut places = pe.places.borrow_mut();
    body(places.collection_mut(id).expect("a member's collection is known on its PE"))
}

/// Runs `body` with what the node gathers of a collection's reductions, on the first PE of the node.
fn with_gathering<R>(pe: &Pe, id: CollectionId, body: impl FnOnce(&mut Gathering) -> R) -> R {
    with_collection(pe, id, |collection| {
        let LocalCollection { info, gathering, .. } = collection;
        let gather = || {
            let topology = &pe.node.topology;
            let mates = pe.node.pes().filter(|mate| info.takes_part(*mate));
            let below = topology.children(pe.node.id, info.root()).filter(|node| info.is_any_below(*node));
            let children = mates.chain(below.map(|node| topology.pe(node, 0))).collect();
            Box::new(Gathering::new(children, info.may_be_anywhere()))
        };
        body(gathering.get_or_insert_with(gather))
    })
}

fn fail_reduction(pe: &Pe, id: CollectionId, cause: String) {
    let chare = with_collection(pe, id, |collection| collection.info.chare.name);
    pe.fail(format!("a reduction over {chare}"), cause);
}

fn send(pe: &Pe, to: PeId, message: ReductionMessage) {
    outbox::send(pe, to, Envelope::system(CallOptions::new(), message));
}

/// Leaves a statement of this PE with the first PE of the node: that one takes its own at once, so that what goes up the tree leaves
/// before the entry that contributed is over.
fn say(pe: &Pe, collection: CollectionId, number: u64, statement: Statement) {
    let first = first_pe(pe, pe.node.id);
    if first == pe.id {
        take(pe, collection, (pe.id, number), statement);
    } else {
        send(pe, first, ReductionMessage::Said { collection, from: pe.id, number, statement });
    }
}

/// Adds the contribution of a member on this PE to others of the same reduction, where that is all there is to do. Returns whether it was
/// added.
pub(crate) fn join(pe: &Pe, id: CollectionId, number: u64, data: &Data, callback: &ErasedCallback) -> bool {
    let within = pe.within(id);
    with_collection(pe, id, |collection| collection.contributions.join(number, within, data, callback))
}

/// Adds the contribution of a member on this PE to a reduction of its collection.
pub(crate) fn contribute(pe: &Pe, identity: &Identity, (id, index): (CollectionId, Index), share: Share) {
    let (within, standing) = (pe.within(id), identity.standing.get());
    if standing == Standing::AFAR {
        return contribute_from_afar(pe, (id, index), (within, share));
    }
    let added =
        with_collection(pe, id, |collection| collection.contributions.add((index, standing), within, share));
    if let Some(standing) = take_added(pe, (id, index), added) {
        identity.standing.set(standing);
    }
}

/// Says what has been closed by a contribution, or ends the job. Returns the member's standing after it.
fn take_added(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    added: Result<(Standing, Option<Closed>), Refusal>,
) -> Option<Standing> {
    match added {
        Ok((standing, closed)) => {
            if let Some((number, partial)) = closed {
                say(pe, id, number, Statement::Closed(partial));
            }
            return Some(standing);
        }
        Err(Refusal::Missed(cause)) => {
            let name = with_collection(pe, id, |collection| collection.info.chare.name);
            let who = show(name, Target::Member(id, index));
            pe.fail(format!("a contribution of {who} of {name}"), cause);
        }
        Err(Refusal::Misfit(cause)) => fail_reduction(pe, id, cause),
    }
    None
}

/// Adds the contribution of a member on this PE whose home counts it: the member lives elsewhere than at home, or has just come home.
fn contribute_from_afar(pe: &Pe, (id, index): (CollectionId, Index), (within, share): FromAfar) {
    let (home, number) = with_collection(pe, id, |collection| {
        let number = collection.travellers.get_mut(&index).map(Traveller::contribute);
        (collection.info.home(index), number)
    });
    match number {
        Some(number) => {
            send(pe, home, ReductionMessage::FromAfar { collection: id, index, number, within, share });
        }
        None => {
            let kept = with_collection(pe, id, |collection| {
                let home = collection.home.as_mut().expect("its elements move");
                home.contribute_at_home(index, (within, share)).is_ok()
            });
            assert!(kept, "who has come home from a journey that is over has a standing of its own");
            add_from_afar(pe, (id, index));
        }
    }
}

/// At the home of a member that lives elsewhere, or did: takes a contribution, whose turn may not have come.
fn take_from_afar(pe: &Pe, (id, index): (CollectionId, Index), number: u64, contribution: FromAfar) {
    let taken = with_collection(pe, id, |collection| {
        let home = collection.home.as_mut().ok_or_else(|| "its elements do not move".to_owned())?;
        home.contribute(index, number, contribution)
    });
    match taken {
        Ok(()) => add_from_afar(pe, (id, index)),
        Err(cause) => fail_reduction(pe, id, cause),
    }
}

/// At the home of a member that lives elsewhere, or did: adds the contributions of the member whose turn has come.
fn add_from_afar(pe: &Pe, (id, index): (CollectionId, Index)) {
    let next = |LocalCollection { home, contributions, .. }: &mut LocalCollection| {
        let ((within, share), standing) = home.as_mut()?.next_contribution(index)?;
        let added = contributions.add((index, *standing), within, share);
        if let Ok((next, _)) = &added {
            *standing = *next;
        }
        Some(added)
    };
    while let Some(added) = with_collection(pe, id, next) {
        take_added(pe, (id, index), added);
    }
    pe.settle(id, index);
}

/// Takes note that the members of this PE hear a broadcast; the reductions that belong to it may have been waiting for that.
fn hear(pe: &Pe, broadcast: BroadcastId) {
    with_collection(pe, broadcast.collection, |collection| collection.contributions.hear(broadcast));
    close_complete(pe, broadcast.collection);
}

/// Closes the reductions that can be closed, and leaves when no member is here, none can come and nothing is open.
fn close_complete(pe: &Pe, id: CollectionId) {
    let next = |LocalCollection { contributions, .. }: &mut LocalCollection| {
        let closed = contributions.close().map(|(number, partial)| (number, Statement::Closed(partial)));
        closed.or_else(|| contributions.leave().map(|number| (number, Statement::Left)))
    };
    while let Some((number, statement)) = with_collection(pe, id, next) {
        say(pe, id, number, statement);
    }
}

/// Takes note that no member of a collection that could grow is anywhere, and that none will come.
pub(crate) fn end_births(pe: &Pe, id: CollectionId) {
    with_collection(pe, id, |collection| collection.contributions.end_births());
    close_complete(pe, id);
}

/// Takes note that a member of this PE is gone, which left with this standing.
fn remove_member(pe: &Pe, (id, index): (CollectionId, Index), left: Standing) {
    with_collection(pe, id, |collection| collection.contributions.remove_member(index, left));
    close_complete(pe, id);
}

/// Reports that all elements that a collection begins with on this PE exist. A collection in which nobody ever is is over when its root
/// knows it.
fn report_creation(pe: &Pe, id: CollectionId) {
    let (is_awaited, is_over) = with_collection(pe, id, |LocalCollection { info, .. }| {
        (info.created().is_some(), info.is_nobody_ever() && pe.id == first_pe(pe, info.root()))
    });
    if is_awaited {
        tell_created(pe, pe.node.id, id, 1);
    } else if is_over {
        tell_if_over(pe, id);
    }
}

fn tell_created(pe: &Pe, node: NodeId, collection: CollectionId, pes: u64) {
    let to = first_pe(pe, node);
    if to == pe.id {
        count_created(pe, collection, pes);
    } else {
        send(pe, to, ReductionMessage::Created { collection, pes });
    }
}

/// On a node's first PE: counts PEs of this node and of the nodes below that have all elements that a collection begins with.
fn count_created(pe: &Pe, id: CollectionId, pes: u64) {
    let (created, callback, root) = with_collection(pe, id, |collection| {
        collection.created = collection.created.saturating_add(pes);
        (collection.created, collection.info.created(), collection.info.root())
    });
    let topology = &pe.node.topology;
    if created < topology.pes_below(pe.node.id, root) {
        return;
    }
    match (topology.parent(pe.node.id, root), callback) {
        (Some(parent), _) => tell_created(pe, parent, id, created),
        (None, Some(callback)) => {
            fire(pe, callback, Arguments::new(()));
            tell_if_over(pe, id);
        }
        (None, None) => fail_reduction(pe, id, "its creation is told of, which nobody awaits".to_owned()),
    }
}

/// On a node's first PE: takes a statement of a PE of this node or of a node below, and passes on what is whole.
fn take(pe: &Pe, id: CollectionId, said: (PeId, u64), statement: Statement) {
    let mut whole = SmallVec::new();
    let taken = with_gathering(pe, id, |gathering| {
        gathering.take(said, statement, &pe.node.allowance, &mut whole)?;
        Ok(gathering.news())
    });
    match taken {
        Ok(news) => {
            whole.into_iter().for_each(|statement| pass_on(pe, id, statement));
            tell(pe, id, news);
        }
        Err(cause) => fail_reduction(pe, id, cause),
    }
}

/// On a node's first PE: says what is whole to the node above, or calls back.
fn pass_on(pe: &Pe, id: CollectionId, statement: Statement) {
    let root = with_collection(pe, id, |collection| collection.info.root());
    if let Some(parent) = pe.node.topology.parent(pe.node.id, root) {
        let number = with_gathering(pe, id, |gathering| gathering.say(&statement));
        let said = ReductionMessage::Said { collection: id, from: pe.id, number, statement };
        return send(pe, first_pe(pe, parent), said);
    }
    let Statement::Closed(partial) = statement else { return tell_if_over(pe, id) };
    let callback = partial.callback;
    match partial.finish() {
        Ok(result) => fire(pe, callback, result),
        Err(cause) => fail_reduction(pe, id, cause),
    }
}

/// At the root: tells that the collection is over, if no member is left below and the news of its creation have come where somebody awaits
/// them.
fn tell_if_over(pe: &Pe, id: CollectionId) {
    let is_over = with_collection(pe, id, |collection| {
        let LocalCollection { info, gathering, created, .. } = collection;
        let is_told = info.created().is_none() || *created >= u64::from(pe.node.topology.pes());
        is_told && gathering.as_ref().map_or(info.is_nobody_ever(), |gathering| gathering.is_left())
    });
    if is_over {
        pe.tell(ChareEvent::Over { collection: id });
    }
}

/// Takes note that reductions have begun: a PE without members closes them, and one with newborns may learn that they are not awaited.
fn begin(pe: &Pe, id: CollectionId, begun: Begun) {
    match with_collection(pe, id, |collection| collection.contributions.begin(begun)) {
        Ok(()) => close_complete(pe, id),
        Err(cause) => fail_reduction(pe, id, cause),
    }
}

/// On a node's first PE: takes note of the same on behalf of the node, and tells those below.
fn begin_on_node(pe: &Pe, id: CollectionId, begun: Begun) {
    let begun = with_gathering(pe, id, |gathering| {
        gathering.begin(begun, &pe.node.allowance)?;
        Ok(gathering.news())
    });
    match begun {
        Ok(news) => tell(pe, id, news),
        Err(cause) => fail_reduction(pe, id, cause),
    }
}

/// Tells PEs of this node, and first PEs of nodes below, that reductions have begun.
fn tell(pe: &Pe, collection: CollectionId, news: Vec<(PeId, Begun)>) {
    for (to, begun) in news {
        let message = match pe.node.rank_here(to) {
            Some(_) => ReductionMessage::Begun { collection, begun },
            None => ReductionMessage::BegunAbove { collection, begun },
        };
        send(pe, to, message);
    }
}
