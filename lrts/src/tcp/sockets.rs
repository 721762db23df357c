//! Sockets of the mesh: how one listens, connects, and is set up for frames.

use crate::bootstrap::listening::{Ports, listen_within};
use crate::error::LrtsError;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketFlags, SocketType, sockopt};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

/// The backend's name.
pub(super) const BACKEND: &str = "tcp";

/// A connection that says nothing for so long is asked for a sign of life, which the other host's kernel gives.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(4);

/// Between such questions while none is answered.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// Connections that wait until they are taken. All nodes connect at once, and one that finds no place comes again after a second; the
/// kernel takes what it grants at most, by default this.
const BACKLOG: i32 = 4096;

pub(super) fn system(operation: &'static str, source: std::io::Error, hint: &'static str) -> LrtsError {
    LrtsError::System { operation, backend: BACKEND, source: Arc::new(source), hint }
}

/// Listens on an address, without one on loopback, on the first of the ports that nobody uses, without ports on any.
pub(super) fn listen(address: Option<IpAddr>, ports: Option<Ports>) -> Result<TcpListener, LrtsError> {
    let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let failed =
        |source| system("listening for peers", source, "; the host address must be one of this host's own");
    let listen = |at| {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        rustix::net::listen(&listener, BACKLOG)?;
        Ok(listener)
    };
    listen_within(ports, address, listen, failed)
}

/// A socket that is on its way to `address`.
pub(super) fn start_connecting(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno),
    }
}

/// The rule by which the kernel holds back what stays on the host: the simplest, which every user may have. One that paces what it sends by its
/// guess of a network's speed (BBR) guesses a tenth of memory's, for seconds.
const ON_HOST: &str = "reno";

/// Small frames leave at once; a host that vanishes while nothing is said is noticed.
pub(super) fn tune(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, KEEPALIVE_AFTER)?;
    sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL)?;
    if stays_on_host(socket)? {
        // It only costs time where the kernel has no such rule.
        let _ = sockopt::set_tcp_congestion(socket, ON_HOST);
    }
    Ok(())
}

/// Whether both ends have one address, so that what is said on it never leaves the host.
pub(super) fn stays_on_host(socket: &OwnedFd) -> Result<bool, Errno> {
    let (here, there) = (rustix::net::getsockname(socket)?, rustix::net::getpeername(socket)?);
    let address = |end: SocketAddrAny| SocketAddr::try_from(end).map(|end| end.ip());
    Ok(
        matches!((address(here), address(there.ok_or(Errno::NOTCONN)?)), (Ok(here), Ok(there)) if here == there),
    )
}

pub(super) fn is_ready(socket: &impl AsFd, flags: PollFlags) -> bool {
    let mut one = [PollFd::new(socket, flags)];
    rustix::event::poll(&mut one, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_ports_is_used_up_in_order_and_its_end_is_told() {
        // The one that the kernel chose is taken as long as this listener lives.
        let first = listen(None, None).expect("a free port");
        let taken = first.local_addr().expect("it is bound").port();
        let error = listen(None, Some(taken.to_string().parse().expect("a port"))).unwrap_err().to_string();
        assert!(
            error.contains(&format!("`+ports {taken}-{taken}`: none of them is free on 127.0.0.1")),
            "{error}"
        );
        let range: Ports = format!("{taken}-65535").parse().expect("a range");
        let next = listen(None, Some(range)).expect("one of many is free");
        assert!(next.local_addr().expect("it is bound").port() > taken);
    }
}
