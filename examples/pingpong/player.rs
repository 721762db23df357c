//! Players: two chares, and the ways in which they send a buffer to each other.
//!
//! `prepare` gives both players their buffers for a round (`rally`); both know the other's put target when the barrier is over.
//!
//! The ways differ in what counts as received: a `#[nocopy]` argument may be the sender's own memory, read in place; a
//! posted one, a get and a put have landed in a buffer of the receiver.

use crate::pattern::Transfer;
use crate::rally::{Rally, both, conduct, nanoseconds};
use crate::round::{Mode, Outcome, Round, Way};
use chare::prelude::*;
use chare::{RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};

/// Under which a post and a buffer meet; both players may be on one PE, but never have a transfer under way at once.
const TAG: u64 = 200;

/// A player within a round.
struct Player {
    rally: Rally,
    /// Travels to and fro as an ordinary argument.
    argument: Option<BufferMut<u8>>,
    /// The buffer that is sent otherwise.
    source: Buffer<u8>,
    registered_source: Option<RegisteredSource<u8>>,
    /// The buffer in which a copy, a posted argument or a get lands; out while the runtime fills it.
    landing: Option<BufferMut<u8>>,
    /// The buffer in which a put lands.
    target: Option<RegisteredTarget<u8>>,
    others_target: Option<TargetHandle<u8>>,
}

#[chare(array)]
impl Player {
    #[entry]
    fn new() -> Self {
        Self {
            rally: Rally::new(chare::this_index()),
            argument: None,
            source: Vec::new().into(),
            registered_source: None,
            landing: None,
            target: None,
            others_target: None,
        }
    }

    /// Makes the buffers of a round; a broadcast. `ready` learns when both players can begin.
    #[entry]
    fn prepare(&mut self, round: Round, ready: Callback<()>) {
        // The buffers of the round before go first: the largest need not be there twice.
        (self.registered_source, self.landing, self.target) = (None, None, None);
        (self.argument, self.source) = (None, Vec::new().into());
        self.rally.prepare(round);
        match round.way {
            Way::Regular | Way::RegularCopy => self.argument = Some(Mode::Registered.buffer(round.size)),
            _ => self.renew_source(round.mode.buffer(round.size)),
        }
        match round.way {
            Way::Regular | Way::Entry => {}
            Way::Put => {
                let notice = self.this_chare().receive_put_callback();
                self.target = Some(RegisteredTarget::register(round.mode.buffer(round.size)).notify(notice));
            }
            _ => self.landing = Some(round.mode.buffer(round.size)),
        }
        self.other().meet(self.target.as_ref().map(RegisteredTarget::handle), ready);
    }

    /// The other player is prepared. May overtake this player's own `prepare`.
    #[entry]
    fn meet(&mut self, others_target: Option<TargetHandle<u8>>, ready: Callback<()>) {
        self.others_target = others_target;
        self.contribute(barrier(), ready);
    }

    /// Begins a prepared round; `done` receives what player 0 saw.
    #[entry]
    fn begin(&mut self, done: Callback<Outcome>) {
        self.rally.begin(done);
        self.play();
    }

    #[entry]
    fn receive_regular(&mut self, argument: BufferMut<u8>) {
        self.take(&argument);
        self.argument = Some(argument);
        self.go_on();
    }

    #[entry]
    fn receive_entry(&mut self, #[nocopy] data: Received<u8>) {
        self.take(&data);
        drop(data);
        self.go_on();
    }

    #[entry]
    fn receive_posted(&mut self, #[nocopy(post)] data: Posted<u8>) {
        self.rally.check(&data);
        self.landing = Some(data.into_buffer());
        self.go_on();
    }

    #[post(receive_posted)]
    fn post_landing(&mut self, data: Post<u8>) {
        let landing = self.landing.take().expect("one transfer at a time");
        if self.rally.round.way == Way::Matched {
            data.match_tag(TAG).expect("one transfer at a time");
            chare::post_buffer(TAG, landing).expect("both buffers have the round's size");
        } else {
            data.post(landing).expect("both buffers have the round's size");
        }
    }

    /// The other player offers its source.
    #[entry]
    fn fetch(&mut self, source: SourceHandle<u8>) {
        let landing = self.landing.take().expect("one transfer at a time");
        rget(&source, landing, self.this_chare().fetched_callback())
            .expect("both buffers have the round's size");
    }

    #[entry]
    fn fetched(&mut self, landing: BufferMut<u8>) {
        self.rally.check(&landing);
        self.landing = Some(landing);
        self.go_on();
    }

    /// The other player's put is in the target.
    #[entry]
    fn receive_put(&mut self, _bytes: u64) {
        let target = self.target.as_ref().expect("prepared with a target");
        target.read(|bytes| self.rally.check(bytes)).expect("no put is under way");
        self.go_on();
    }

    fn other(&self) -> PlayerElementProxy {
        self.this_collection().at(1 - self.this_index())
    }

    /// Copies what was received where the way says so, and checks it.
    fn take(&mut self, bytes: &[u8]) {
        if let Some(landing) = &mut self.landing {
            landing.copy_from_slice(bytes);
        }
        self.rally.check(self.landing.as_deref().unwrap_or(bytes));
    }

    fn go_on(&mut self) {
        if self.rally.receive() {
            self.play();
        }
    }

    fn play(&mut self) {
        let (transfer, round) = (self.rally.play(), self.rally.round);
        if round.verify {
            self.write_pattern(transfer);
        }
        if round.way == Way::GetRenewed && self.this_index() == 0 {
            self.renew_registration();
        }
        let other = self.other();
        match round.way {
            Way::Regular | Way::RegularCopy => {
                other.receive_regular(self.argument.take().expect("prepared with an argument"));
            }
            Way::Entry | Way::EntryCopy => other.receive_entry(self.send_buffer()),
            Way::Posted | Way::Matched => other.receive_posted(self.send_buffer()),
            Way::Get | Way::GetRenewed => {
                other.fetch(self.registered_source.as_ref().expect("prepared with a source").handle());
            }
            Way::Put => {
                let target = self.others_target.expect("prepared with the other's target");
                rput(self.source.clone(), &target, Callback::ignore())
                    .expect("both buffers have the round's size");
            }
        }
    }

    /// Writes this transfer's pattern into what is sent: in place where this player owns it, else into a new buffer, because the
    /// other player may still hold the last one.
    fn write_pattern(&mut self, transfer: Transfer) {
        let round = self.rally.round;
        match round.way {
            Way::Regular | Way::RegularCopy => {
                transfer.fill(self.argument.as_mut().expect("prepared with an argument"));
            }
            _ => {
                let mut source = round.mode.buffer(round.size);
                transfer.fill(&mut source);
                self.renew_source(source);
            }
        }
    }

    fn renew_source(&mut self, source: BufferMut<u8>) {
        self.source = source.freeze();
        self.registered_source = match (self.rally.round.way, self.rally.round.mode) {
            (Way::Get, Mode::Lazy) => Some(RegisteredSource::lazily(self.source.clone())),
            (Way::Get | Way::GetRenewed, _) => Some(RegisteredSource::register(self.source.clone())),
            _ => None,
        };
    }

    fn send_buffer(&self) -> SendBuffer<u8> {
        SendBuffer::from(self.source.clone()).registration(self.rally.round.mode.registration())
    }

    /// Ends the source's registration and registers it again, timed.
    fn renew_registration(&mut self) {
        let begun = chare::now();
        let source = self.registered_source.take().expect("prepared with a source").deregister();
        self.rally.outcome.deregister_ns.push(nanoseconds(begun));
        let begun = chare::now();
        self.registered_source = Some(RegisteredSource::register(source));
        self.rally.outcome.register_ns.push(nanoseconds(begun));
    }
}

/// Both players, from outside.
pub(crate) struct Players(PlayerProxy);

impl Players {
    /// Player 0 on PE 0, player 1 on `partner`.
    pub(crate) fn create(partner: PeId) -> Self {
        Self(PlayerProxy::create(both(partner)))
    }

    /// Plays a round from start to end.
    pub(crate) async fn play(&self, round: Round) -> Outcome {
        conduct(|ready| self.0.prepare(round, ready), |done| self.0.at(0).begin(done)).await
    }
}
