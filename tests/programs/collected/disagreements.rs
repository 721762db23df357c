//! Mistakes of members of an exchange, which end the job.

use crate::mistakes::Mistake;
use chare::prelude::*;
use chare::{Exchange, Gathered, Partition};

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
