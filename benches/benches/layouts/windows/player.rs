//! Players: two chares of which one, or each, sends windows of messages to the other, by layouts or packed by hand.

use crate::chain::{Clock, measure};
use crate::messages::rows::named;
use crate::subject::{Array, Subject, shareable};
use chare::prelude::*;
use chare::{Landing, Layout};
use chare_benches::Batches;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;

/// Messages of a window.
pub(super) const WINDOW: usize = 16;

/// Who sends.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Direction {
    /// The first process.
    One,
    /// Both at once.
    Both,
}

impl Direction {
    /// Whether one of the two processes sends.
    pub(super) fn sends(self, is_first: bool) -> bool {
        is_first || self == Self::Both
    }
}

/// How a message is sent.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Way {
    /// By layouts on both sides.
    Ours,
    /// Packed by hand, and unpacked by hand out of the argument.
    ByHand,
}

/// What is played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Play {
    pub(crate) subject: String,
    pub(crate) way: Way,
    pub(crate) direction: Direction,
}

struct Player {
    play: Play,
    subject: Box<dyn Subject>,
    array: Array,
    layouts: [Layout<u8>; 2],
    source: Buffer<u8>,
    /// One for each message of a window, in turn; out while the runtime fills them.
    targets: VecDeque<BufferMut<u8>>,
    /// Streams that came back, to pack into.
    streams: Vec<BufferMut<u8>>,
    /// Messages of this window that have landed.
    landed: usize,
    /// Whether the other player has all messages of this window.
    is_acknowledged: bool,
    /// Windows to go.
    left: u64,
    clock: Clock,
}

fn is_first() -> bool {
    chare::my_pe() == PeId(0)
}

#[chare(group)]
impl Player {
    #[entry]
    fn new(play: Play) -> Self {
        let subject = named(&play.subject).expect("the side's name was parsed before");
        let array = subject.arrays().expect("the side made them before").remove(0);
        let layout = |raw| Layout::from_raw(Arc::clone(raw)).expect("of bytes");
        let layouts = [layout(&array.from.layout), layout(&array.to.layout)];
        let source = shareable(&array.source()).freeze();
        let targets = (0..WINDOW).map(|_| shareable(&array.target())).collect();
        let (streams, clock) = (Vec::new(), Clock::default());
        let (landed, is_acknowledged, left) = (0, false, 0);
        Self { play, subject, array, layouts, source, targets, streams, landed, is_acknowledged, left, clock }
    }

    /// Plays so many windows; a broadcast. `done` gets the first player's nanoseconds.
    #[entry]
    fn start(&mut self, windows: u64, done: Callback<u64>) {
        self.left = windows;
        if is_first() {
            self.clock.start(done);
        }
        self.send();
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u8>) {
        self.targets.push_back(data.into_buffer());
        self.have_landed();
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u8>) {
        let target = self.targets.pop_front().expect("a window has no more messages");
        data.post(Landing::at(&self.layouts[1], target))
            .map_err(drop)
            .expect("it is as long as what is sent");
    }

    #[entry]
    fn unpack(&mut self, #[nocopy] stream: Received<u8>) {
        self.subject.unpack(&stream, &mut [&mut self.targets[self.landed][..]]);
        drop(stream);
        self.have_landed();
    }

    /// A stream may be written again.
    #[entry]
    fn came_back(&mut self, stream: Sent<u8>) {
        self.streams.push(stream.into_buffer().try_into_mut().expect("no other handle was kept"));
    }

    /// The other player has all messages of a window.
    #[entry]
    fn acknowledge(&mut self) {
        self.is_acknowledged = true;
        self.go_on();
    }

    /// Looks whether everything is where it belongs.
    #[entry]
    fn check(&mut self, done: Callback<()>) {
        if self.play.direction.sends(!is_first()) {
            let landed = self.array.landed();
            assert!(self.targets.iter().all(|target| target[..] == landed[..]), "{:?}", self.play);
        }
        self.contribute(barrier(), done);
    }

    fn other(&self) -> PlayerElementProxy {
        self.this_collection().on(PeId(u32::from(is_first())))
    }

    fn have_landed(&mut self) {
        self.landed += 1;
        if self.landed == WINDOW {
            self.other().acknowledge();
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        let direction = self.play.direction;
        let have_all_landed = self.landed == WINDOW || !direction.sends(!is_first());
        let is_acknowledged = self.is_acknowledged || !direction.sends(is_first());
        if !(have_all_landed && is_acknowledged) {
            return;
        }
        (self.landed, self.is_acknowledged) = (0, false);
        self.left -= 1;
        match self.left {
            0 if is_first() => self.clock.stop(),
            0 => {}
            _ => self.send(),
        }
    }

    fn send(&mut self) {
        if !self.play.direction.sends(is_first()) {
            return;
        }
        let other = self.other();
        for _ in 0..WINDOW {
            match self.play.way {
                Way::Ours => other.land(SendBuffer::from(self.source.clone()).only(&self.layouts[0])),
                Way::ByHand => {
                    let payload = self.array.payload();
                    let mut stream = self.streams.pop().unwrap_or_else(|| BufferMut::zeroed(payload));
                    self.subject.pack(&[&self.source[..]], &mut stream);
                    let back = self.this_chare().came_back_callback();
                    other.unpack(SendBuffer::from(stream).on_sent(back));
                }
            }
        }
    }
}

/// Measures one way.
pub(crate) fn play(play: Play, batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let players = PlayerProxy::create(play);
        let start = |messages: u64, done| players.start(messages / WINDOW as u64, done);
        measure(batches, start, |done| players.check(done)).await;
    })
}
