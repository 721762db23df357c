//! Start-up: which provider, where everybody is, and one hello from everybody to everybody.
//!
//! 1. Every node publishes its provider, its endpoint's name and its door, or why it has none: then all give up
//!    with that reason, none waits for the others.
//! 2. Each pair makes its lifeline, which proves that both belong to the job.
//! 3. Hellos travel both ways between each pair, by the fabric, before any node goes on: so the path is known to
//!    work, and providers that connect with the first message have done so.

use super::endpoint::Endpoint;
use super::exchange::{Exchange, Introduction, Parts};
use super::registrations::Registrations;
use super::server::Server;
use super::{BACKEND, OfiOptions, provider};
use crate::bootstrap::Bootstrap;
use crate::codec;
use crate::error::LrtsError;
use crate::fabric::lifelines::Lifelines;
use crate::ids::NodeId;
use crate::region::Regions;
use crate::tcp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest cause that is published: 1,024 bytes are allowed, and a character takes at most four.
const CAUSE_CHARACTERS_MAX: usize = 200;

/// What a node tells the others.
#[derive(Serialize, Deserialize)]
enum Published {
    Ready { provider: String, name: Vec<u8>, door: u64 },
    Failed { cause: String },
}

fn open_endpoint(
    options: &OfiOptions,
    bootstrap: &dyn Bootstrap,
) -> Result<(Endpoint, Published), LrtsError> {
    let library = provider::load()?;
    let offer = provider::choose(library, options.provider.as_deref(), bootstrap.host_address())?;
    let endpoint = Endpoint::open(library, offer)?;
    let published = Published::Ready {
        provider: endpoint.info().provider(),
        name: endpoint.name()?,
        door: rand::random(),
    };
    Ok((endpoint, published))
}

/// All that a node knows of its peers, greeted.
///
/// # Errors
/// See [`Ofi::open`](super::Ofi::open).
pub(super) fn open(
    bootstrap: &mut dyn Bootstrap,
    expected: &[NodeId],
    regions: &Arc<Regions>,
    options: &OfiOptions,
    patience: Duration,
) -> Result<Exchange, LrtsError> {
    let node = bootstrap.node();
    let opened = open_endpoint(options, bootstrap);
    let mut published = Vec::new();
    let encoded = match &opened {
        Ok((_, ready)) => codec::encode_into(ready, &mut published),
        Err(error) => {
            let cause = error.to_string().chars().take(CAUSE_CHARACTERS_MAX).collect();
            codec::encode_into(&Published::Failed { cause }, &mut published)
        }
    };
    encoded.expect("texts and numbers are always encoded");
    let gathered = bootstrap.all_gather(published)?;
    let (mut endpoint, mine) = opened?;
    let Published::Ready { provider, door, .. } = mine else { unreachable!("an open endpoint is ready") };
    let mut peers = Vec::new();
    for (peer, bytes) in (0..).map(NodeId).zip(gathered) {
        peers.push(match expected.contains(&peer) {
            false => None,
            true => {
                let introduction = introduce(&mut endpoint, peer, &bytes, &provider)?;
                Some((introduction, Server::new(Arc::clone(regions))))
            }
        });
    }
    let lifelines = Lifelines::new(BACKEND, tcp::connect(bootstrap, expected, patience)?)?;
    let registrations = Registrations::new(options.registrations_max);
    let exchange = Exchange::new(Parts { node, door, endpoint, registrations, lifelines, peers });
    greet(exchange, patience)
}

/// Enters what a peer published into the address table.
fn introduce(
    endpoint: &mut Endpoint,
    peer: NodeId,
    published: &[u8],
    provider: &str,
) -> Result<Introduction, LrtsError> {
    let connect = |cause| LrtsError::Connect { peer, backend: BACKEND, cause };
    let published: Published =
        codec::decode(published).map_err(|error| connect(format!("it published no address: {error}")))?;
    match published {
        Published::Failed { cause } => Err(connect(cause)),
        Published::Ready { provider: theirs, .. } if theirs != provider => Err(connect(format!(
            "it chose the provider `{theirs}`, this node `{provider}`; name one for all with `+ofi NAME`"
        ))),
        Published::Ready { name, door, .. } => Ok(Introduction { address: endpoint.insert(&name)?, door }),
    }
}

/// Exchanges hellos with everybody.
fn greet(mut exchange: Exchange, patience: Duration) -> Result<Exchange, LrtsError> {
    let deadline = Instant::now() + patience;
    let mut rounds = 0_u32;
    while let Some(peer) = exchange.ungreeted() {
        let happened = exchange.advance(false, rounds.is_multiple_of(64));
        rounds = rounds.wrapping_add(1);
        if let Some(error) = exchange.take_loss() {
            return Err(error);
        }
        if Instant::now() >= deadline {
            let cause =
                "the fabric did not carry its hello in time; choose another provider with `+ofi NAME`";
            return Err(LrtsError::Connect { peer, backend: BACKEND, cause: cause.to_owned() });
        }
        if !happened {
            std::thread::yield_now();
        }
    }
    Ok(exchange)
}
