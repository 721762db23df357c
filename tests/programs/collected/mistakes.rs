//! Mistakes that end the job, of those who gather or are dealt something, and of members of an exchange.

use chare::prelude::*;
use chare::{Exchange, Gather, Gathered, Layout, Partition};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Mistake {
    /// Two members put the same part
    Twice,
    /// The same of a part that members fill by themselves
    TwiceFilled,
    /// A part is too long
    TooLong,
    /// A part is put that is none
    Beyond,
    /// A part is put when the gather is over
    Late,
    /// The same of a part that members fill by themselves
    LateFilled,
    /// A member that was to put a part panics
    Lost,
    /// A member that was shown every second element panics while the others look
    Dies,
    /// A buffer is dealt out in fewer parts than there are members
    Few,
    /// A buffer is dealt out to one chare
    One,
    /// Somebody takes part in an exchange who is no member
    Stranger,
    /// A buffer is exchanged in fewer parts than there are members
    Uneven,
    /// A buffer is exchanged in longer parts than members give
    Longer,
    /// Two take part in an exchange as one member
    Same,
    /// A member begins a round of an exchange again, by a copy of its handle
    Copied,
    /// The same when the round is over
    CopiedLater,
    /// A member exchanges otherwise than the others
    Kinds,
    /// A member begins its rounds in another order
    Order,
    /// A buffer is dealt out to a section, in fewer parts than the highest of its members needs
    Section,
}

struct Culprit;

#[chare(group)]
impl Culprit {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn err(&mut self, mistake: Mistake, gather: Gather<u32>) {
        let me = self.this_index();
        match mistake {
            Mistake::Twice | Mistake::TwiceFilled => gather.put(0u64, vec![1; mistake.part_len()]),
            Mistake::TooLong => gather.put(me, vec![1; if me == 1 { 5 } else { 4 }]),
            Mistake::Beyond => gather.put(me + 1, vec![1; 4]),
            Mistake::Lost if me > 0 => panic!("lost"),
            Mistake::Late | Mistake::LateFilled | Mistake::Lost => {
                gather.put(me, vec![1; mistake.part_len()]);
            }
            _ => {}
        }
    }

    #[entry]
    fn look(&mut self, #[nocopy] elements: ReceivedView<u32>) {
        assert!(self.this_index() == 0 || elements.is_empty(), "dies");
    }

    #[entry]
    fn take(&mut self, #[nocopy] _part: Received<u32>) {}
}

impl Mistake {
    /// Elements of a member's part.
    fn part_len(self) -> usize {
        if matches!(self, Self::TwiceFilled | Self::LateFilled) { 1000 } else { 4 }
    }

    /// Makes it; this never returns.
    pub(crate) async fn make(self) {
        let culprits = CulpritProxy::create();
        let pes = chare::pes() as usize;
        let parts = |parts| Partition::rows([parts, self.part_len()], parts);
        let (filled, done) = chare::future::<BufferMut<u32>>();
        let whole = BufferMut::zeroed(self.part_len() * pes);
        let gather = Gather::into(whole, &parts(pes).expect("a partition"), done);
        let few = parts(pes - 1).expect("a partition");
        let dealt = SendBuffer::from(vec![0; few.elements()]).each(&few);
        match self {
            Self::Few => culprits.take(dealt),
            Self::Dies => {
                let every_second = Layout::vector(1 << 17, 1, 2).expect("a layout");
                culprits.look(SendBuffer::from(BufferMut::zeroed(1 << 18)).only(&every_second));
            }
            Self::One => culprits.on(PeId(0)).take(dealt),
            Self::Section => culprits.section([PeId(pes as u32 - 1)]).take(dealt),
            Self::Twice
            | Self::TwiceFilled
            | Self::TooLong
            | Self::Beyond
            | Self::Late
            | Self::LateFilled
            | Self::Lost => {
                culprits.err(self, gather.clone());
            }
            _ => {
                let members = MemberProxy::create(Exchange::create(pes as u64));
                if self == Self::CopiedLater { members.err_later() } else { members.err(self) }
            }
        }
        filled.await;
        gather.put(0u64, vec![1; self.part_len()]);
        chare::future::<()>().0.await;
    }
}

/// A member for each PE; it has one number for each.
pub(crate) struct Member {
    exchange: Exchange<u32>,
}

/// A number for each PE.
fn each() -> Partition<u32> {
    let pes = chare::pes() as usize;
    Partition::rows([pes, 1], pes).expect("a partition")
}

#[chare(group)]
impl Member {
    #[entry]
    pub(crate) fn new(exchange: Exchange<u32>) -> Self {
        Self { exchange }
    }

    #[entry]
    pub(crate) fn err(&mut self, mistake: Mistake) {
        let (me, pes) = (self.this_index(), chare::pes() as usize);
        let nothing: Callback<BufferMut<u32>> = Callback::ignore();
        match mistake {
            Mistake::Stranger => self.all_gather(me + 1),
            Mistake::Uneven => {
                let few = Partition::rows([pes - 1, 1], pes - 1).expect("a partition");
                self.exchange.all_gather(me, vec![0; 1], (vec![0; pes - 1], &few), nothing);
            }
            Mistake::Longer => {
                let long = Partition::rows([pes, 2], pes).expect("a partition");
                self.exchange.all_gather(me, vec![0; 1], (vec![0; 2 * pes], &long), nothing);
            }
            Mistake::Same => self.all_gather(me / 2),
            Mistake::Copied => {
                let before = self.exchange.clone();
                self.all_gather(me);
                self.exchange = before;
                self.all_gather(me);
            }
            Mistake::Kinds if me == 0 => self.all_gather(me),
            Mistake::Kinds => {
                let nothing: Callback<Gathered<u32>> = Callback::ignore();
                self.exchange.show_all(me, vec![0; 1], nothing);
            }
            Mistake::Order if me == 0 => {
                self.all_to_all(me);
                self.all_gather(me);
            }
            Mistake::Order => {
                self.all_gather(me);
                self.all_to_all(me);
            }
            _ => unreachable!("a mistake of another kind"),
        }
    }

    /// Uses the handle of a round that is over again.
    #[entry]
    pub(crate) async fn err_later(this: This<Self>) {
        let (me, before) = this.with(|member| (member.this_index(), member.exchange.clone()));
        let (filled, done) = chare::future::<BufferMut<u32>>();
        let all = vec![0; chare::pes() as usize];
        this.with(|member| member.exchange.all_gather(me, vec![0; 1], (all, &each()), done));
        filled.await;
        if me == 0 {
            this.with(|member| member.exchange = before);
        }
        this.with(|member| member.all_gather(me));
    }

    fn all_gather(&mut self, me: u64) {
        let all = vec![0; chare::pes() as usize];
        self.exchange.all_gather(me, vec![0; 1], (all, &each()), Callback::ignore());
    }

    fn all_to_all(&mut self, me: u64) {
        let all = || vec![0; chare::pes() as usize];
        self.exchange.all_to_all(me, (all(), &each()), (all(), &each()), Callback::ignore());
    }
}
