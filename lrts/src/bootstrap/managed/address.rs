//! Outward address: the one by which other hosts reach this host, when nobody says which.

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::net::IpAddr;

/// The first address of an interface that is up and is not loopback: an IPv4 one if there is any. Link-local addresses name no
/// host to others.
pub(super) fn outward() -> Option<IpAddr> {
    let up = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
    let addresses: Vec<IpAddr> = getifaddrs()
        .ok()?
        .filter(|interface| {
            interface.flags.contains(up) && !interface.flags.contains(InterfaceFlags::IFF_LOOPBACK)
        })
        .filter_map(|interface| interface.address)
        .filter_map(|address| {
            let four = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
            four.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
        })
        .filter(|address| match address {
            IpAddr::V4(address) => !address.is_link_local(),
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        })
        .collect();
    addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).copied()
}
