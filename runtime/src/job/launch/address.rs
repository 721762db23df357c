//! Addresses of a job's hosts, by which the hosts reach each other.
//!
//! 1. A host's address is the first one that its name resolves to here and that is no loopback address, or else the first one at all.
//! 2. If all addresses are loopback addresses, all hosts are this machine, and no host needs an address.
//! 3. If only some are, those hosts are this machine among others. The others reach it by the address from which it sends packets to
//!    them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs, UdpSocket};
use thiserror::Error;

/// A host that cannot be found.
#[derive(Debug, Error)]
#[error("host `{host}` cannot be found: {cause}")]
pub struct AddressError {
    host: String,
    cause: std::io::Error,
}

/// The addresses of hosts by name (`user@` before a name is the remote shell's business); resolves each once.
pub(super) fn of_hosts(names: &[String]) -> Result<Vec<Option<IpAddr>>, AddressError> {
    let found: Vec<IpAddr> = names.iter().map(|name| resolve(name)).collect::<Result<_, _>>()?;
    let Some((&elsewhere, name)) = found.iter().zip(names).find(|(address, _)| !address.is_loopback()) else {
        return Ok(vec![None; names.len()]);
    };
    let ours = || source_towards(elsewhere).map_err(|cause| AddressError { host: name.clone(), cause });
    let address_of = |address: IpAddr| if address.is_loopback() { ours() } else { Ok(address) };
    found.into_iter().map(|address| address_of(address).map(Some)).collect()
}

fn resolve(name: &str) -> Result<IpAddr, AddressError> {
    let failed = |cause| AddressError { host: name.to_owned(), cause };
    let host = name.rsplit_once('@').map_or(name, |(_, host)| host);
    let found: Vec<IpAddr> =
        (host, 0).to_socket_addrs().map_err(failed)?.map(|address| address.ip()).collect();
    let outward = found.iter().find(|address| !address.is_loopback());
    outward.or(found.first()).copied().ok_or_else(|| failed(std::io::Error::other("the name has no address")))
}

/// The address that packets to `target` leave from; sends none.
fn source_towards(target: IpAddr) -> std::io::Result<IpAddr> {
    let any =
        if target.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
    let socket = UdpSocket::bind((any, 0))?;
    // Any port: the kernel only looks for a route.
    socket.connect((target, 9))?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Vec<Option<IpAddr>>, AddressError> {
        of_hosts(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn loopback_names_alone_are_one_machine() {
        assert_eq!(of(&["127.0.0.1", "somebody@127.0.0.2"]).unwrap(), [None, None]);
        assert!(of(&[]).unwrap().is_empty());
    }

    #[test]
    fn other_hosts_have_addresses() {
        // Reserved for documentation: never the address of a host.
        assert_eq!(
            of(&["192.0.2.7", "192.0.2.8"]).unwrap(),
            [Some([192, 0, 2, 7].into()), Some([192, 0, 2, 8].into())]
        );
    }

    #[test]
    fn a_host_that_is_not_there_is_named() {
        let error = of(&["no such host"]).unwrap_err().to_string();
        assert!(error.starts_with("host `no such host` cannot be found"), "{error}");
    }
}
