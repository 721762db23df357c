//! Listening: on which address and ports a node waits for nodes of other hosts, as the user chooses or as this host suggests.
//!
//! 1. `+interface` names a network interface, or a network in which this host has an address. It holds on every host of the job, and
//!    also where nobody would listen: a name that does not exist stops the start.
//! 2. Without it, nodes that are all on one host listen on loopback, others on their host's outward address (see `address`).
//! 3. `+ports` bounds the ports; without it the kernel chooses.

use super::address::{self, Own};
use crate::error::LrtsError;
use ipnet::IpNet;
use std::fmt;
#[cfg(feature = "net")]
use std::io::{self, ErrorKind};
use std::net::IpAddr;
#[cfg(feature = "net")]
use std::net::SocketAddr;
use std::str::FromStr;
use thiserror::Error;

/// What a user says of the places at which nodes listen. The same on all nodes of a job.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Listening {
    /// `+interface NAME|CIDR`.
    pub interface: Option<Interface>,
    /// `+ports A-B`.
    pub ports: Option<Ports>,
}

/// An interface, by its name or by the network that it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interface {
    /// By the kernel's name: `eth0`.
    Named(String),
    /// By an address in this network: `10.1.0.0/16`.
    Within(IpNet),
}

/// Ports, from the first to the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    first: u16,
    last: u16,
}

/// A text that names no interface or no ports.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ListeningError {
    /// There is a slash, but no network around it.
    #[error("`{0}` is no network such as 10.1.0.0/16 or fd00::/8")]
    Network(String),
    /// There is nothing.
    #[error("the name is empty")]
    Nameless,
    /// These are no two numbers of ports, in order.
    #[error("`{0}` is no range of ports such as 5000-5099, within 1 to 65535")]
    Ports(String),
}

impl FromStr for Interface {
    type Err = ListeningError;

    fn from_str(text: &str) -> Result<Self, ListeningError> {
        match (text, text.parse::<IpAddr>()) {
            ("", _) => Err(ListeningError::Nameless),
            (_, Ok(address)) => Ok(Self::Within(address.into())),
            _ if text.contains('/') => {
                text.parse().map(Self::Within).map_err(|_| ListeningError::Network(text.to_owned()))
            }
            _ => Ok(Self::Named(text.to_owned())),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => out.write_str(name),
            Self::Within(network) => network.fmt(out),
        }
    }
}

impl FromStr for Ports {
    type Err = ListeningError;

    fn from_str(text: &str) -> Result<Self, ListeningError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(ListeningError::Ports(text.to_owned())),
        }
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.first, self.last)
    }
}

impl IntoIterator for Ports {
    type Item = u16;
    type IntoIter = std::ops::RangeInclusive<u16>;

    fn into_iter(self) -> Self::IntoIter {
        self.first..=self.last
    }
}

/// Listens on the first of the ports that nobody uses, without ports on any; `listen` listens on one, and 0 stands for any.
///
/// # Errors
/// `failed` makes one of what `listen` met; all ports are used.
#[cfg(feature = "net")]
pub(crate) fn listen_within<T>(
    ports: Option<Ports>,
    address: IpAddr,
    mut listen: impl FnMut(SocketAddr) -> io::Result<T>,
    failed: impl FnOnce(io::Error) -> LrtsError,
) -> Result<T, LrtsError> {
    let Some(ports) = ports else { return listen(SocketAddr::new(address, 0)).map_err(failed) };
    for port in ports {
        match listen(SocketAddr::new(address, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(LrtsError::Bootstrap(format!(
        "`+ports {ports}`: none of them is free on {address}; while a job starts, each of its nodes on a host takes one, and with verbs another one"
    )))
}

impl Listening {
    /// Looks for the interface that the user names, before anybody listens.
    ///
    /// # Errors
    /// This host has no such interface; its kernel does not say which it has.
    pub fn check(&self) -> Result<(), LrtsError> {
        self.address(false).map(drop)
    }

    /// The address on which a node listens; `None`: loopback suffices.
    ///
    /// # Errors
    /// This host has no such interface, or none that leads to the job's other hosts; its kernel does not say which it has.
    pub(super) fn address(&self, has_other_hosts: bool) -> Result<Option<IpAddr>, LrtsError> {
        let Self { interface, .. } = self;
        if interface.is_none() && !has_other_hosts {
            return Ok(None);
        }
        let own = address::own().map_err(|error| {
            LrtsError::Bootstrap(format!("this host's network interfaces cannot be told: {error}"))
        })?;
        let found = match interface {
            Some(interface) => on_interface(&own, interface),
            None => address::outward(&own, std::env::var("SSH_CONNECTION").ok().as_deref()).ok_or_else(|| {
                "the job has other hosts, but this host has no network interface that is up besides loopback"
                    .to_owned()
            }),
        };
        found.map(Some).map_err(LrtsError::Bootstrap)
    }
}

/// The address of this interface, an IPv4 one if there is any.
///
/// # Errors
/// What there is instead, in words.
fn on_interface(own: &[Own], interface: &Interface) -> Result<IpAddr, String> {
    let fits = |own: &&Own| match interface {
        Interface::Named(name) => own.interface == *name,
        Interface::Within(network) => network.contains(&own.address),
    };
    let fitting = || own.iter().filter(fits).map(|own| own.address);
    fitting().find(IpAddr::is_ipv4).or_else(|| fitting().next()).ok_or_else(|| {
        let what = match interface {
            Interface::Named(_) => "no interface of this name that is up and has an address",
            Interface::Within(_) => "no address in this network",
        };
        let all: Vec<String> =
            own.iter().map(|Own { interface, address, .. }| format!("{interface} ({address})")).collect();
        format!("`+interface {interface}`: this host has {what}; it has {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_names_or_networks() {
        let parsed = |text: &str| text.parse::<Interface>().map(|interface| interface.to_string());
        for (text, shown) in [("eth0", "eth0"), ("10.1.2.3/16", "10.1.2.3/16"), ("10.1.2.3", "10.1.2.3/32")] {
            assert_eq!(parsed(text).as_deref(), Ok(shown));
        }
        assert_eq!(parsed("10.1.0.0/33"), Err(ListeningError::Network("10.1.0.0/33".to_owned())));
        assert_eq!(parsed(""), Err(ListeningError::Nameless));
    }

    #[test]
    fn ports_are_a_range_in_order() {
        let parsed = |text: &str| text.parse::<Ports>().map(|ports| ports.into_iter().collect::<Vec<_>>());
        assert_eq!(parsed("5000-5002"), Ok(vec![5000, 5001, 5002]));
        assert_eq!(parsed("65535"), Ok(vec![65_535]));
        for text in ["", "0", "0-5", "7-6", "5-65536", "a-b", "5-", "-5", "1-2-3"] {
            assert_eq!(parsed(text), Err(ListeningError::Ports(text.to_owned())), "{text}");
        }
    }

    #[cfg(not(feature = "net"))]
    #[test]
    fn who_cannot_look_for_an_interface_says_what_would() {
        let listening = Listening { interface: "lo".parse().ok(), ports: None };
        let error = listening.address(false).unwrap_err().to_string();
        assert!(error.contains("`--features chare/net`"), "{error}");
        assert_eq!(Listening::default().address(false).expect("nobody asks"), None);
    }

    #[cfg(feature = "net")]
    #[test]
    fn loopback_is_an_interface_and_what_is_none_is_named_with_those_there_are() {
        let by = |text: &str| {
            let interface = Some(text.parse().expect("a name or a network"));
            let address = Listening { interface, ports: None }.address(false);
            address.map_err(|error| error.to_string())
        };
        let loopback = Ok(Some([127, 0, 0, 1].into()));
        assert_eq!(by("lo"), loopback);
        assert_eq!(by("127.0.0.0/8"), loopback);
        // Reserved for the future: no host has such an address.
        for text in ["no-such-interface", "240.0.0.0/8"] {
            let error = by(text).unwrap_err();
            assert!(
                error.contains(&format!("`+interface {text}`")) && error.contains("lo (127.0.0.1)"),
                "{error}"
            );
        }
        assert_eq!(Listening::default().address(false).expect("nobody asks"), None);
    }
}
