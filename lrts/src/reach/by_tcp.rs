//! TCP to other nodes: what the options ask of it, and its opening, if this build has it.

use super::options::ReachOptions;
#[cfg(feature = "net")]
use super::options::{PATIENCE, exclude};
use crate::backends::Network;
use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::ids::NodeId;
#[cfg(feature = "net")]
use crate::tcp::Protection;

#[cfg(not(feature = "net"))]
pub(super) use super::no_tcp::{Tcp, TcpOptions};
#[cfg(feature = "net")]
pub(super) use crate::tcp::{Tcp, TcpOptions};

/// What the options ask of TCP.
///
/// # Errors
/// Options that exclude each other.
#[cfg(feature = "net")]
pub(super) fn plan(network: Option<Network>, options: &ReachOptions) -> Result<TcpOptions, LrtsError> {
    let flips = options.fault.as_ref().is_some_and(|plan| plan.flip.is_some());
    let protection = match (options.encrypt, options.clear, network) {
        (true, true, _) => return exclude("+encrypt", "+clear".to_owned()),
        (true, false, Some(network)) => {
            return Err(LrtsError::Bootstrap(format!(
                "`+encrypt` seals what goes over TCP, and what goes over {} stays readable; leave one of them out",
                network.name()
            )));
        }
        (false, true, _) if flips => return exclude("+fault flip", "+clear".to_owned()),
        (true, false, None) => Protection::Seals,
        (false, true, _) => Protection::Clear,
        (false, false, _) => Protection::Tags,
    };
    Ok(TcpOptions { protection, nolocal: options.nolocal, fault: options.fault.clone() })
}

/// Nothing, which is all that may be asked of TCP where there is none.
///
/// # Errors
/// An option is about TCP.
#[cfg(not(feature = "net"))]
pub(super) fn plan(_: Option<Network>, options: &ReachOptions) -> Result<TcpOptions, LrtsError> {
    match [(options.encrypt, "+encrypt"), (options.clear, "+clear")].into_iter().find(|(asked, _)| *asked) {
        Some((_, option)) => Err(LrtsError::MissingFeature { option: option.to_owned(), feature: "net" }),
        None => Ok(TcpOptions),
    }
}

/// Opens connections to `peers`, if there are any. Collective, also without peers: other nodes may have some.
///
/// # Errors
/// As of `Tcp::open`.
#[cfg(feature = "net")]
pub(super) fn open(
    bootstrap: &mut dyn Bootstrap,
    peers: &[NodeId],
    options: &TcpOptions,
) -> Result<Option<Tcp>, LrtsError> {
    let tcp = Tcp::open(bootstrap, peers, options, PATIENCE)?;
    Ok((!peers.is_empty()).then_some(tcp))
}

/// Opens nothing.
///
/// # Errors
/// There are peers.
#[cfg(not(feature = "net"))]
pub(super) fn open(
    _: &mut dyn Bootstrap,
    peers: &[NodeId],
    _: &TcpOptions,
) -> Result<Option<Tcp>, LrtsError> {
    peers.first().map_or(Ok(None), |peer| {
        Err(LrtsError::Unreachable {
            peer: *peer,
            cause: "only TCP would reach it, and the program was built without the feature `net` of the crate `chare`"
                .to_owned(),
        })
    })
}

#[cfg(all(test, not(feature = "net")))]
mod tests {
    use crate::bootstrap::local::Local;
    use crate::reach::{Reach, ReachOptions};

    #[test]
    fn what_only_tcp_would_do_is_refused_with_the_feature_that_does_it() {
        let options = |change: fn(&mut ReachOptions)| {
            let mut options = ReachOptions::default();
            change(&mut options);
            options
        };
        let missing = [
            options(|options| options.encrypt = true),
            options(|options| options.clear = true),
            options(|options| options.lrts = Some("tcp".to_owned())),
        ];
        for options in missing {
            let error = options.check().expect_err("there is no TCP").to_string();
            assert!(error.ends_with("`--features chare/net`"), "{error}");
        }
        let nolocal = options(|options| options.nolocal = true);
        let mut nodes = Local::job(2).expect("sockets");
        let errors =
            nodes.iter_mut().map(|node| Reach::open(node, &nolocal).err().map(|error| error.to_string()));
        for error in errors {
            let error = error.expect("there is no TCP");
            assert!(error.contains("built without the feature `net`"), "{error}");
        }
    }
}
