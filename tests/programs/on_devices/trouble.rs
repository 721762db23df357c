//! Troubles: what ends a job that has device buffers on their way.

use crate::peer::{PeerProxy, on_device};
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
    /// The program exits while buffers are on their way
    Exit,
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
