//! Players with buffers on devices: two chares that send each other device buffers, received or posted.
//!
//! As `player`, in two ways. A player sends the buffer that came back from its last transfer; what it received it lets go before it plays
//! back.

use crate::rally::{Rally, both, conduct};
use crate::round::{Outcome, Round, Way};
use chare::devices::{self, Stream};
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DevicePosted, DeviceReceived, SendDeviceBuffer};
use chare_examples::devices::read;

/// A player within a round.
struct DevicePlayer {
    rally: Rally,
    source: Option<DeviceBuffer<u8>>,
    /// The buffer in which a posted argument lands; out while the runtime fills it.
    landing: Option<DeviceBufferMut<u8>>,
}

fn stream() -> Stream {
    devices::stream().expect("the first player has a device")
}

fn buffer(bytes: &[u8]) -> DeviceBufferMut<u8> {
    let device = devices::mine().expect("the first player has a device");
    let mut buffer = DeviceBufferMut::new(&device, bytes.len()).expect("the device has memory");
    buffer.write(&stream(), bytes).expect("there is room for staging");
    buffer
}

#[chare(array)]
impl DevicePlayer {
    #[entry]
    fn new() -> Self {
        Self { rally: Rally::new(chare::this_index()), source: None, landing: None }
    }

    /// Makes the buffers of a round; a broadcast.
    #[entry]
    fn prepare(&mut self, round: Round, ready: Callback<()>) {
        (self.source, self.landing) = (None, None);
        self.rally.prepare(round);
        self.source = Some(buffer(&vec![1; round.size]).freeze());
        if round.way == Way::Posted {
            self.landing = Some(buffer(&vec![0; round.size]));
        }
        self.contribute(barrier(), ready);
    }

    /// Begins a prepared round; `done` receives what player 0 saw.
    #[entry]
    fn begin(&mut self, done: Callback<Outcome>) {
        self.rally.begin(done);
        self.play();
    }

    #[entry]
    async fn receive(this: This<Self>, #[nocopy] data: DeviceReceived<u8>) {
        if this.with(|player| player.rally.round.verify) {
            let bytes = read(&data, &stream()).await;
            this.with(|player| player.rally.check(&bytes));
        }
        drop(data);
        this.with(Self::go_on);
    }

    #[entry]
    async fn receive_posted(this: This<Self>, #[nocopy(post)] data: DevicePosted<u8>) {
        let mut landing = data.into_buffer();
        if this.with(|player| player.rally.round.verify) {
            let shared = landing.freeze();
            let bytes = read(&shared, &stream()).await;
            this.with(|player| player.rally.check(&bytes));
            landing = shared.try_into_mut().expect("nobody else has it");
        }
        this.with(|player| {
            player.landing = Some(landing);
            player.go_on();
        });
    }

    #[post(receive_posted)]
    fn post_landing(&mut self, data: Post<u8>) {
        let landing = self.landing.take().expect("one transfer at a time");
        data.post_device(landing.into()).expect("both buffers have the round's size");
    }

    fn go_on(&mut self) {
        if self.rally.receive() {
            self.play();
        }
    }

    fn play(&mut self) {
        let (transfer, round) = (self.rally.play(), self.rally.round);
        if round.verify {
            let mut bytes = vec![0; round.size];
            transfer.fill(&mut bytes);
            self.source = Some(buffer(&bytes).freeze());
        }
        let other = self.this_collection().at(1 - self.this_index());
        let source = SendDeviceBuffer::from(self.source.clone().expect("prepared with a source"));
        match round.way {
            Way::Posted => other.receive_posted(source),
            _ => other.receive(source),
        }
    }
}

/// Both players, from outside.
pub(crate) struct DevicePlayers(DevicePlayerProxy);

impl DevicePlayers {
    /// Player 0 on PE 0, player 1 on `partner`.
    pub(crate) fn create(partner: PeId) -> Self {
        Self(DevicePlayerProxy::create(both(partner)))
    }

    /// Plays a round from start to end.
    pub(crate) async fn play(&self, round: Round) -> Outcome {
        conduct(|ready| self.0.prepare(round, ready), |done| self.0.at(0).begin(done)).await
    }
}
