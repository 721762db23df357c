//! Simulated network: frames between nodes that driven threads step, in a time of their own; a seed decides how long each is on its way, or
//! a [model](Network) does.
//! What it moves is frames alone, of which get and put are made by [`Emulated`](crate::emulated::Emulated), as over TCP; or messages of
//! [endpoints](Endpoint), which reach each other's memory one-sidedly; or frames, and memory at one moment ([`Fidelity`]).
//!
//! A frame's way is two files: `end` sends it and hands it to the sink, and `wires` has it in between. Whoever drives the nodes lets
//! frames arrive at each one after another ([`Wires::arrive`]).

mod chance;
mod corruption;
mod direct;
mod end;
mod endpoint;
mod goodbyes;
mod model;
mod moments;
mod one_sided;
mod weather;
mod wires;

pub use chance::{Chance, ChanceError, Chances};
pub use end::End;
pub use endpoint::Endpoint;
pub use model::{Kept, LogGops, Network, Shape};
pub use moments::Moments;
pub use weather::Weather;
pub use wires::{Arrival, Wires};

use std::str::FromStr;

/// How memory moves between the nodes of a simulated job. As text it is its name, such as `leased`.
///
/// ```
/// use chare_lrts::simulated::Fidelity;
///
/// assert_eq!("leased".parse(), Ok(Fidelity::Leased));
/// assert!("rdma".parse::<Fidelity>().unwrap_err().contains("emulated"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Fidelity {
    /// By messages alone, as over TCP: the real emulated get and put.
    #[default]
    Emulated,
    /// By one-sided access under leases, as over `verbs` and `ofi`: the real protocol, over simulated network interfaces. Short transfers go by
    /// messages.
    Leased,
    /// Each get and put at one moment, under the claims that it always has, without a protocol; and neighbours that lend each other memory in
    /// place, as those of a real host do, unless a model describes the network. For jobs in which such protocols do not matter, with many PEs.
    Direct,
}

impl FromStr for Fidelity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "emulated" => Ok(Self::Emulated),
            "leased" => Ok(Self::Leased),
            "direct" => Ok(Self::Direct),
            _ => Err(format!(
                "{text} is no way in which memory moves between simulated nodes: write emulated, leased or direct"
            )),
        }
    }
}
