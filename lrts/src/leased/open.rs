//! Start-up of `leased`: publishes where every node is, and exchanges one hello with each.
//!
//! 1. Every node publishes what its network is, its address and its door, or why it has none: then all give up
//!    with that reason, none waits for the others.
//! 2. Each pair makes its keepalive connection, which proves that both belong to the job.
//! 3. Unless the network connects on demand, hellos travel both ways between each pair before any node goes on: the
//!    lower node speaks first, the other answers. So the path is known to work, and providers that connect with the
//!    first message have done so, from one end.

use super::endpoint::Endpoint;
use super::exchange::{LeasedExchange, Parts};
use super::registrations::Registrations;
use super::server::Server;
use crate::ambient::{clock, dice};
use crate::bootstrap::Bootstrap;
use crate::codec;
use crate::error::LrtsError;
use crate::fabric::sleeper::Sleeper;
use crate::ids::NodeId;
use crate::region::Regions;
use crate::tcp::keepalive::Keepalives;
#[cfg(feature = "sim")]
use crate::tcp::keepalive::standalone::Signs;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// The longest cause that is published: 1,024 bytes are allowed, and a character takes at most four.
const CAUSE_CHARACTERS_MAX: usize = 200;

/// How a network is opened.
pub(crate) struct Opening<'a> {
    /// The backend's name.
    pub(crate) backend: &'static str,
    /// The option that chooses among the backend's networks.
    pub(crate) option: &'static str,
    /// Regions that stay registered with the network while nobody uses them.
    pub(crate) registrations_max: usize,
    /// The nodes it reaches.
    pub(crate) peers: &'a [NodeId],
    /// How long greetings may take, after all nodes have published where they are.
    pub(crate) patience: Duration,
}

/// Publication of a node for the others.
#[derive(Serialize, Deserialize)]
enum Published {
    Ready { kind: String, address: Vec<u8>, door: u64 },
    Failed { cause: String },
}

/// All that a node knows of its peers, greeted. `open_endpoint` is given this node's door.
///
/// # Errors
/// See [`Leased::open`](super::Leased::open).
pub(super) fn open(
    bootstrap: &mut dyn Bootstrap,
    regions: &Arc<Regions>,
    opening: &Opening<'_>,
    open_endpoint: impl FnOnce(&dyn Bootstrap, u64) -> Result<Box<dyn Endpoint>, LrtsError>,
) -> Result<(LeasedExchange, Sleeper), LrtsError> {
    let Opening { backend, peers: expected, patience, .. } = *opening;
    let node = bootstrap.node();
    let door = dice::draw();
    let opened = open_endpoint(bootstrap, door).and_then(|endpoint| Ok((endpoint.address()?, endpoint)));
    let mut published = Vec::new();
    let mine = match &opened {
        Ok((address, endpoint)) => Published::Ready { kind: endpoint.kind(), address: address.clone(), door },
        Err(error) => {
            let cause = error.to_string().chars().take(CAUSE_CHARACTERS_MAX).collect();
            Published::Failed { cause }
        }
    };
    codec::encode_into(&mine, &mut published).expect("texts and numbers are always encoded");
    let gathered = bootstrap.all_gather(published)?;
    let (_, mut endpoint) = opened?;
    let mut peers = Vec::new();
    for (peer, bytes) in (0..).map(NodeId).zip(gathered) {
        peers.push(match expected.contains(&peer) {
            false => None,
            true => {
                let door = introduce(&mut *endpoint, peer, &bytes, opening)?;
                Some((door, Server::new(Arc::clone(regions))))
            }
        });
    }
    let keepalives = Keepalives::open(backend, bootstrap, expected, patience)?;
    let sleeper = Sleeper::new(backend, endpoint.descriptor(), keepalives.event_fd())?;
    let (signs, registrations) = (Box::new(keepalives), registrations(&*endpoint, opening.registrations_max));
    let parts = Parts { node, backend, door, endpoint, registrations, signs, peers };
    Ok((greet(LeasedExchange::new(parts), opening)?, sleeper))
}

/// The regions that stay registered with a network while nobody uses them, if it takes as many.
fn registrations(endpoint: &dyn Endpoint, most: usize) -> Registrations {
    Registrations::new(most.min(endpoint.registrations_max()))
}

/// All that a node knows of peers on a network that needs no addresses, and where the number of a node is its door.
#[cfg(feature = "sim")]
pub(super) fn introduced(
    backend: &'static str,
    regions: &Arc<Regions>,
    endpoint: Box<dyn Endpoint>,
    signs: Box<dyn Signs>,
    (nodes, registrations_max): (u32, usize),
) -> LeasedExchange {
    let node = regions.node();
    let door = |peer: NodeId| u64::from(peer.0);
    let peer = |peer| (peer != node).then(|| (door(peer), Server::new(Arc::clone(regions))));
    let peers = (0..nodes).map(NodeId).map(peer).collect();
    let registrations = registrations(&*endpoint, registrations_max);
    LeasedExchange::new(Parts { node, backend, door: door(node), endpoint, registrations, signs, peers })
}

/// Tells the endpoint where a peer is. Returns the peer's door.
fn introduce(
    endpoint: &mut dyn Endpoint,
    peer: NodeId,
    published: &[u8],
    opening: &Opening<'_>,
) -> Result<u64, LrtsError> {
    let Opening { backend, option, .. } = *opening;
    let connect = |cause| LrtsError::Connect { peer, backend, cause };
    let published: Published =
        codec::decode(published).map_err(|error| connect(format!("it published no address: {error}")))?;
    let mine = endpoint.kind();
    match published {
        Published::Failed { cause } => Err(connect(cause)),
        Published::Ready { kind, .. } if kind != mine => {
            Err(connect(format!("it chose `{kind}`, this node `{mine}`; name one for all with `{option}`")))
        }
        Published::Ready { address, door, .. } => {
            endpoint.introduce(peer, &address, door)?;
            Ok(door)
        }
    }
}

/// Exchanges hellos with all peers.
fn greet(mut exchange: LeasedExchange, opening: &Opening<'_>) -> Result<LeasedExchange, LrtsError> {
    let Opening { backend, option, patience, .. } = *opening;
    let deadline = clock::now() + patience;
    let mut rounds = 0_u32;
    while let Some(peer) = exchange.ungreeted() {
        let happened = exchange.advance(false, rounds.is_multiple_of(64));
        rounds = rounds.wrapping_add(1);
        exchange.keep_frames();
        if let Some(error) = exchange.take_loss() {
            return Err(error);
        }
        if clock::now() >= deadline {
            let cause =
                format!("the network did not carry its hello in time; choose another with `{option}`");
            return Err(LrtsError::Connect { peer, backend, cause });
        }
        if !happened {
            std::thread::yield_now();
        }
    }
    Ok(exchange)
}
