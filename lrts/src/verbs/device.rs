//! Device that carries the job: one of this host that has an IP address, by which the connection manager knows it.
//!
//! 1. Named devices are taken in turn by the nodes of a job, so that the nodes of one host share its devices.
//! 2. Without a name: the device of the host's own address, else the first.

use super::manager::Manager;
use super::options::BACKEND;
use crate::error::LrtsError;
use crate::ids::NodeId;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// A device and an address of its.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) address: IpAddr,
}

/// Opens the connection manager.
///
/// # Errors
/// [`LrtsError::NoProvider`], when the library or the kernel's part is not here.
pub(super) fn manager() -> Result<Manager, LrtsError> {
    Manager::open().map_err(|error| {
        let cause = match error.kind() {
            io::ErrorKind::Unsupported => {
                "librdmacm and libibverbs are not here; install them (Debian: librdmacm1, ibverbs-providers)"
                    .to_owned()
            }
            _ => format!(
                "the kernel has no RDMA connection manager ({error}); load it with `modprobe rdma_ucm`"
            ),
        };
        LrtsError::NoProvider { backend: BACKEND, cause }
    })
}

/// All devices with an address, each once, with IPv4 if it has that.
///
/// # Errors
/// When the addresses of this host cannot be listed.
pub(super) fn all(manager: &Manager) -> Result<Vec<Device>, LrtsError> {
    let interfaces = nix::ifaddrs::getifaddrs().map_err(|errno| LrtsError::System {
        operation: "listing the addresses of this host",
        backend: BACKEND,
        source: Arc::new(errno.into()),
        hint: "",
    })?;
    let mut addresses: Vec<IpAddr> = interfaces
        .filter_map(|interface| {
            let address = interface.address?;
            let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
        })
        .filter(|address| match address {
            IpAddr::V4(address) => !address.is_loopback(),
            IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
        })
        .collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    let mut devices: Vec<Device> = Vec::new();
    for address in addresses {
        // An address that belongs to no device binds to none.
        let bound = manager.identifier(None).and_then(|identifier| {
            identifier.bind(SocketAddr::new(address, 0))?;
            Ok(identifier)
        });
        let Some(name) = bound.ok().and_then(|identifier| identifier.device_name()) else { continue };
        if devices.iter().all(|device| device.name != name) {
            devices.push(Device { name, address });
        }
    }
    Ok(devices)
}

/// Chooses this node's device: one of `wanted`, names with commas between them.
///
/// # Errors
/// [`LrtsError::NoProvider`], with what there is.
pub(super) fn choose(
    manager: &Manager,
    wanted: Option<&str>,
    node: NodeId,
    host: Option<IpAddr>,
) -> Result<Device, LrtsError> {
    let devices = all(manager)?;
    let refuse = |cause| Err(LrtsError::NoProvider { backend: BACKEND, cause });
    if let Some(wanted) = wanted {
        let names: Vec<&str> = wanted.split(',').collect();
        let name = names[node.index() % names.len()];
        return match devices.iter().find(|device| device.name == name) {
            Some(device) => Ok(device.clone()),
            None => refuse(format!("there is no device `{name}` with an IP address; {}", list(&devices))),
        };
    }
    let of_host = devices.iter().find(|device| Some(device.address) == host);
    match of_host.or(devices.first()) {
        Some(device) => Ok(device.clone()),
        None => refuse(list(&devices)),
    }
}

fn list(devices: &[Device]) -> String {
    let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
    match names[..] {
        [] => "no RDMA device of this host has an IP address (`rdma link` lists devices)".to_owned(),
        _ => format!("here are: {}", names.join(", ")),
    }
}
