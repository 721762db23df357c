//! Provider: chooses who carries the job, the one that was asked for or the best that reaches every node.
//!
//! 1. Asked for by name: that one, or an error that says why not and what is there.
//! 2. Otherwise libfabric's order decides among those that reach other hosts (its order: the fastest network first).
//! 3. Of several addresses of a provider, the host's own is taken; loopback when all nodes are on this host.

use super::info::{Demands, HONOURED, Info, query};
use super::options::BACKEND;
use crate::error::LrtsError;
use crate::leased::wire::BUFFER_BYTES;
use chare_ofi_sys::Library;
use chare_ofi_sys::abi::{FI_CONTEXT, FI_CONTEXT2};
use std::net::{IpAddr, Ipv4Addr};

/// Reaches this host only: taken when asked for, as there are nearer paths.
const HOST_ONLY: &str = "shm";

/// The library.
///
/// # Errors
/// [`LrtsError::NoProvider`], when it is not here.
pub(super) fn load() -> Result<&'static Library, LrtsError> {
    Library::load().map_err(|error| LrtsError::NoProvider { backend: BACKEND, cause: error.to_string() })
}

/// The names of all providers that can carry a job, the best first.
///
/// # Errors
/// As for [`load`].
pub(super) fn suitable() -> Result<Vec<String>, LrtsError> {
    let mut names = Vec::new();
    for offer in query(load()?, None, Demands::NoDelivery) {
        let name = offer.provider();
        if unsuitable(&offer).is_none() && !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Chooses an offer.
///
/// # Errors
/// [`LrtsError::NoProvider`], with the reason.
pub(super) fn choose(
    library: &'static Library,
    wanted: Option<&str>,
    host: Option<IpAddr>,
) -> Result<Info, LrtsError> {
    let mut offers = query(library, wanted, Demands::Full);
    if offers.is_empty() {
        offers = query(library, wanted, Demands::NoDelivery);
    }
    let mut reasons = Vec::new();
    offers.retain(|offer| {
        let name = offer.provider();
        let reason = match wanted {
            // A hint for `tcp` also yields `tcp;ofi_rxm`, which is good; `shm;ofi_hook` was not asked for.
            Some(wanted) if !name.split(';').any(|part| part == wanted) && name != wanted => {
                Some(format!("`{name}` is not `{wanted}`"))
            }
            None if name == HOST_ONLY => Some(format!("`{name}` reaches this host only")),
            _ => unsuitable(offer),
        };
        let keeps = reason.is_none();
        reasons.extend(reason);
        keeps
    });
    let preferred = host.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let Some(first) = offers.first().map(Info::provider) else {
        return Err(refuse(library, wanted, reasons));
    };
    offers.retain(|offer| offer.provider() == first);
    let at = offers.iter().position(|offer| offer.source() == Some(preferred)).unwrap_or(0);
    Ok(offers.swap_remove(at))
}

/// What this backend cannot give to a provider, in words.
fn unsuitable(offer: &Info) -> Option<String> {
    let name = offer.provider();
    let foreign = offer.mr_mode() & !HONOURED;
    if foreign != 0 {
        return Some(format!("`{name}` asks for memory registration of kind {foreign:#x}"));
    }
    let mode = offer.mode() & !(FI_CONTEXT | FI_CONTEXT2);
    if mode != 0 {
        return Some(format!("`{name}` asks for operations of mode {mode:#x}"));
    }
    if offer.message_bytes_max() < BUFFER_BYTES {
        let max = offer.message_bytes_max();
        return Some(format!("`{name}` carries messages of {max} bytes, {BUFFER_BYTES} are needed"));
    }
    if offer.key_bytes() > 8 {
        return Some(format!("`{name}` has memory keys of {} bytes", offer.key_bytes()));
    }
    None
}

fn refuse(library: &'static Library, wanted: Option<&str>, mut reasons: Vec<String>) -> LrtsError {
    reasons.dedup();
    let here = suitable().unwrap_or_default();
    if let Some(wanted) = wanted
        && reasons.is_empty()
    {
        let known = query(library, Some(wanted), Demands::None);
        reasons.push(match known.first() {
            None => format!("libfabric has no provider `{wanted}` on this host"),
            Some(offer) => format!(
                "`{wanted}` offers {}, and no ordered reliable datagrams with one-sided access",
                offer.endpoint_kind()
            ),
        });
    }
    if reasons.is_empty() {
        reasons.push("libfabric offers none".to_owned());
    }
    let (major, minor) = library.version();
    let cause = format!("{}; libfabric {major}.{minor} offers here: {}", reasons.join(", "), here.join(", "));
    LrtsError::NoProvider { backend: BACKEND, cause }
}
