//! Troubles: what ends a job that has device buffers on their way.

use crate::peer::{PeerProxy, on_device};
use crate::stale;
use chare::SendDeviceBuffer;
use chare::prelude::*;
use clap::ValueEnum;

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Trouble {
    /// Many long buffers are on their way at the same time, which ends well
    Crowd,
    /// Buffers are sent on and on, until somebody kills a node, or a device is lost
    Endless,
    /// Buffers are sent to many on and on, until a device is lost
    Many,
    /// The program exits while buffers are on their way
    Exit,
    /// A view of a buffer is passed on to a third PE, which ends well
    Relay,
    /// A kernel panics whose buffer is sent
    Kernel,
    /// All nodes but the first view buffers of it, until somebody kills them
    View,
    /// Handles are stale when they are used, which ends well
    Stale,
    /// Registered memory is read on and on, until a device is lost, which ends well
    Tried,
}

impl Trouble {
    pub(crate) async fn run(self, peers: &PeerProxy) -> bool {
        let last = PeId(chare::pes() - 1);
        match self {
            Self::Crowd => {
                let (one, first) = chare::future::<String>();
                let (other, second) = chare::future::<String>();
                peers.on(PeId(0)).crowd(last, first);
                peers.on(last).crowd(PeId(0), second);
                let wrong = one.await + &other.await;
                println!("{wrong}");
                return wrong.is_empty();
            }
            Self::Endless => {
                peers.on(PeId(0)).send_on_and_on(last);
                peers.on(last).send_on_and_on(PeId(0));
                std::future::pending::<()>().await;
            }
            Self::Many => {
                peers.on(PeId(0)).send_to_many_on_and_on();
                std::future::pending::<()>().await;
            }
            Self::Relay => {
                let elements: Vec<u32> = (0..100_000).collect();
                let (answer, told) = chare::future::<Vec<u32>>();
                peers.on(PeId(1)).relay(last, SendDeviceBuffer::from(on_device(&elements)), told);
                return answer.await == elements;
            }
            Self::Kernel => {
                peers.on(last).send_spoilt(PeId(0));
                std::future::pending::<()>().await;
            }
            Self::View => {
                for pe in 1..chare::pes() {
                    peers.on(PeId(pe)).keep(SendDeviceBuffer::from(on_device(&vec![1; 1 << 20])));
                }
                std::future::pending::<()>().await;
            }
            Self::Stale => {
                let wrong = stale::check(last).await;
                println!("{wrong}");
                return wrong.is_empty();
            }
            Self::Tried => stale::read_until_lost(last).await,
            Self::Exit => {
                for _ in 0..20 {
                    peers.on(last).keep(SendDeviceBuffer::from(on_device(&vec![1; 1 << 20])));
                }
                chare::exit(0);
            }
        }
        true
    }
}
