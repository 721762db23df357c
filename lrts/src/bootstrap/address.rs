//! Addresses of this host, and the one by which other hosts reach it.

#[cfg(feature = "net")]
use nix::ifaddrs::getifaddrs;
#[cfg(feature = "net")]
use nix::net::if_::InterfaceFlags;
use std::io;
use std::net::IpAddr;

/// An address of a network interface that is up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Own {
    pub(super) interface: String,
    pub(super) address: IpAddr,
    pub(super) is_loopback: bool,
}

/// The addresses of this host, in the kernel's order. Link-local ones name no host to others.
///
/// # Errors
/// The kernel does not say.
#[cfg(feature = "net")]
pub(super) fn own() -> io::Result<Vec<Own>> {
    // Not `IFF_RUNNING`, which a queue of the kernel's sets later than the interface has its carrier, on a busy machine a second later.
    let up = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_LOWER_UP;
    let own = getifaddrs()?
        .filter(|interface| interface.flags.contains(up))
        .filter_map(|interface| {
            let address = interface.address?;
            let four = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
            let address =
                four.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))?;
            let is_loopback = interface.flags.contains(InterfaceFlags::IFF_LOOPBACK);
            Some(Own { interface: interface.interface_name, address, is_loopback })
        })
        .filter(|own| match own.address {
            IpAddr::V4(address) => !address.is_link_local(),
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        });
    Ok(own.collect())
}

/// No address: nodes of other hosts are out of reach.
///
/// # Errors
/// Always.
#[cfg(not(feature = "net"))]
pub(super) fn own() -> io::Result<Vec<Own>> {
    Err(io::Error::other(
        "the program was built without the feature `net` of the crate `chare`; build it with `--features chare/net`",
    ))
}

/// The address among `own` by which other hosts reach this host when nobody says which: the one to which ssh came, as `SSH_CONNECTION`
/// tells, since users' names for the host lead there; else the first that is not loopback, an IPv4 one if there is any.
pub(super) fn outward(own: &[Own], ssh_connection: Option<&str>) -> Option<IpAddr> {
    let outside = || own.iter().filter(|own| !own.is_loopback).map(|own| own.address);
    // Client, its port, server, its port. A variable that travelled from another host names none of our addresses.
    let reached = ssh_connection.and_then(|text| text.split(' ').nth(2)?.parse().ok());
    let reached = reached.filter(|reached| outside().any(|address| address == *reached));
    reached.or_else(|| outside().find(IpAddr::is_ipv4)).or_else(|| outside().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_that_ssh_came_is_better_than_the_first_interface() {
        let of = |(interface, address): (&str, &str)| {
            let address: IpAddr = address.parse().expect("an address");
            Own { interface: interface.to_owned(), address, is_loopback: address.is_loopback() }
        };
        let own =
            [("lo", "127.0.0.1"), ("ib0", "fd00::7"), ("eth0", "10.0.0.7"), ("eth1", "10.1.0.7")].map(of);
        let found = |ssh: Option<&str>| outward(&own, ssh).map(|address| address.to_string());
        assert_eq!(found(None).as_deref(), Some("10.0.0.7"));
        assert_eq!(found(Some("10.1.0.1 4000 10.1.0.7 22")).as_deref(), Some("10.1.0.7"));
        for other in ["10.1.0.1 4000 10.1.0.8 22", "127.0.0.1 4000 127.0.0.1 22", "nonsense", ""] {
            assert_eq!(found(Some(other)).as_deref(), Some("10.0.0.7"), "{other}");
        }
        assert_eq!(outward(&own[..2], None).map(|address| address.to_string()).as_deref(), Some("fd00::7"));
        assert_eq!(outward(&own[..1], None), None);
    }
}
