//! Players: two chares that send a subject to and fro, by layouts or as one piece of memory.

use super::rows::named;
use crate::chain::{Clock, measure};
use crate::subject::{Array, Part, Subject, UNTOUCHED, shareable};
use chare::prelude::*;
use chare::{Landing, Layout, Several, SeveralMut};
use chare_benches::Batches;
use chare_layout::Raw;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::sync::Arc;

/// How a subject is sent.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Way {
    /// By layouts on both sides, out of memory that both processes may map.
    Layout,
    /// The same out of memory of the process alone.
    Private,
    /// The same, to where it stands side by side.
    Gathered,
    /// Packed by hand, and unpacked by hand out of the argument, which lies where it was packed.
    ByHand,
    /// As many bytes side by side, from memory that both may map, into a buffer.
    Contiguous,
}

/// What is played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Play {
    pub(crate) subject: String,
    pub(crate) way: Way,
}

struct Player {
    partner: Option<PlayerElementProxy>,
    play: Play,
    subject: Box<dyn Subject>,
    arrays: Vec<Array>,
    /// Bytes of a message.
    payload: usize,
    from: Vec<Layout<u8>>,
    to: Vec<Layout<u8>>,
    sources: Vec<Buffer<u8>>,
    /// Where it lands; out while the runtime fills it.
    targets: Vec<BufferMut<u8>>,
    /// Streams that came back, to pack into.
    streams: Vec<BufferMut<u8>>,
    clock: Clock,
}

#[chare(group)]
impl Player {
    #[entry]
    fn new(play: Play) -> Self {
        let subject = named(&play.subject).expect("the side's name was parsed before");
        let mut arrays = subject.arrays().expect("the side made them before");
        let payload = arrays.iter().map(Array::payload).sum();
        if play.way == Way::Contiguous {
            let layout = Raw::bytes_of(payload as u64).expect("it is as long as a buffer");
            arrays = vec![Array::alike(Part { bytes: payload, layout: layout.into() })];
        }
        let layout = |part: &Part| Layout::from_raw(Arc::clone(&part.layout)).expect("of bytes");
        let from = arrays.iter().map(|array| layout(&array.from)).collect();
        let to = arrays.iter().map(|array| layout(&array.to)).collect();
        let alone = |bytes: Vec<u8>| BufferMut::from(bytes);
        let shared = |bytes: Vec<u8>| shareable(&bytes);
        let is_private = matches!(play.way, Way::Private | Way::Gathered);
        let placed = |bytes| if is_private { alone(bytes) } else { shared(bytes) };
        let sources = arrays.iter().map(|array| placed(array.source()).freeze()).collect();
        let targets = match play.way {
            Way::Gathered => vec![alone(vec![UNTOUCHED; payload])],
            _ => arrays.iter().map(|array| placed(array.target())).collect(),
        };
        Self {
            partner: None,
            play,
            subject,
            arrays,
            payload,
            from,
            to,
            sources,
            targets,
            streams: Vec::new(),
            clock: Clock::default(),
        }
    }

    #[entry]
    fn meet(&mut self, players: PlayerProxy) {
        self.partner = Some(players.on(PeId((chare::my_pe().0 + 1) % chare::pes())));
    }

    /// Starts a chain of `calls` that ends here; `done` gets its nanoseconds.
    #[entry]
    fn start(&mut self, calls: u64, done: Callback<u64>) {
        self.clock.start(done);
        self.send(calls);
    }

    #[entry]
    fn land(&mut self, left: u64, #[nocopy(post)] data: Posted<u8>) {
        match self.to.len() {
            1 => self.targets.push(data.into_buffer()),
            several => {
                let mut landed = data.into_several();
                self.targets.extend((0..several).map(|_| landed.next_buffer()));
            }
        }
        self.go_on(left);
    }

    #[post(land)]
    fn post_land(&mut self, _left: &u64, data: Post<u8>) {
        let mut targets = self.targets.drain(..);
        let first = targets.next().expect("one message at a time");
        let posted = match self.play.way {
            Way::Gathered | Way::Contiguous => data.post(first).map_err(drop),
            _ if self.to.len() == 1 => data.post(Landing::at(&self.to[0], first)).map_err(drop),
            _ => {
                let mut pieces = self.to.iter().zip(std::iter::once(first).chain(targets));
                let (layout, target) = pieces.next().expect("several have a first");
                let first = SeveralMut::of(Landing::at(layout, target));
                let all = pieces.fold(first, |all, (layout, target)| all.and(Landing::at(layout, target)));
                data.post_several(all).map_err(drop)
            }
        };
        posted.expect("it is as long as what is sent");
    }

    #[entry]
    fn unpack(&mut self, left: u64, #[nocopy] stream: Received<u8>) {
        let mut targets: Vec<&mut [u8]> = self.targets.iter_mut().map(|target| &mut target[..]).collect();
        self.subject.unpack(&stream, &mut targets);
        drop(stream);
        self.go_on(left);
    }

    /// A stream may be written again.
    #[entry]
    fn came_back(&mut self, stream: Sent<u8>) {
        self.streams.push(stream.into_buffer().try_into_mut().expect("no other handle was kept"));
    }

    /// Looks whether everything is where it belongs.
    #[entry]
    fn check(&mut self, done: Callback<()>) {
        let landed: Vec<Vec<u8>> = match self.play.way {
            Way::Gathered => {
                let sources: Vec<Vec<u8>> = self.arrays.iter().map(Array::source).collect();
                let sources: Vec<&[u8]> = sources.iter().map(Vec::as_slice).collect();
                let mut stream = vec![UNTOUCHED; self.targets[0].len()];
                self.subject.pack(&sources, &mut stream);
                vec![stream]
            }
            _ => self.arrays.iter().map(Array::landed).collect(),
        };
        for (target, landed) in self.targets.iter().zip(&landed) {
            assert!(target[..] == landed[..], "{:?}", self.play);
        }
        self.contribute(barrier(), done);
    }

    fn go_on(&mut self, left: u64) {
        match left {
            0 => self.clock.stop(),
            _ => self.send(left),
        }
    }

    fn send(&mut self, left: u64) {
        let partner = self.partner.as_ref().expect("they met before");
        let selected =
            |(source, layout): (&Buffer<u8>, &Layout<u8>)| SendBuffer::from(source.clone()).only(layout);
        let mut pieces = self.sources.iter().zip(&self.from);
        match self.play.way {
            Way::ByHand => {
                let mut stream = self.streams.pop().unwrap_or_else(|| BufferMut::zeroed(self.payload));
                let sources: Vec<&[u8]> = self.sources.iter().map(|source| &source[..]).collect();
                self.subject.pack(&sources, &mut stream);
                let back = self.this_chare().came_back_callback();
                partner.unpack(left - 1, SendBuffer::from(stream).on_sent(back));
            }
            Way::Contiguous => partner.land(left - 1, self.sources[0].clone()),
            Way::Layout | Way::Private | Way::Gathered => {
                let first = selected(pieces.next().expect("a subject has an array"));
                match self.from.len() {
                    1 => partner.land(left - 1, first),
                    _ => {
                        let all = pieces.fold(Several::of(first), |all, piece| all.and(selected(piece)));
                        partner.land(left - 1, all);
                    }
                }
            }
        }
    }
}

/// Measures one way.
pub(crate) fn play(play: Play, batches: Batches) -> ExitCode {
    chare::run(move |_| async move {
        let players = PlayerProxy::create(play);
        players.meet(players.clone());
        let first = players.on(PeId(0));
        measure(batches, |calls, done| first.start(calls, done), |done| players.check(done)).await;
    })
}
