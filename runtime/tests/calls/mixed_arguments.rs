//! Short nocopy arguments, which travel with their messages, beside lent ones where there is little room, and in multicasts to sections: each
//! buffer comes back once, with its bytes, and nothing stands still.

use crate::every_path::on_every_path;
use chare::Job;
use chare::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Elements of arguments: the longest that travels with its message whoever takes it has 256.
const LENGTHS: [usize; 7] = [1, 200, 255, 256, 257, 300, 2_000];

/// More than a node may have under way to another one: 8 MiB are.
const CALLS: u32 = 20_000;

/// An argument that says which one it is.
fn numbered(number: u32) -> Vec<u32> {
    vec![number; LENGTHS[number as usize % LENGTHS.len()]]
}

#[track_caller]
fn check(number: u32, data: impl IntoIterator<Item = u32>) {
    let data: Vec<u32> = data.into_iter().collect();
    assert!(data == numbered(number), "argument {number}, which has {} elements", data.len());
}

/// How many times each buffer has come back.
#[derive(Clone, Default)]
struct Back(Rc<RefCell<Vec<u32>>>);

impl Back {
    /// Expects so many buffers; whoever sends one of them names the callback.
    fn expect(&self, count: u32) -> Callback<Sent<u32>> {
        *self.0.borrow_mut() = vec![0; count as usize];
        let back = self.clone();
        Callback::each(move |sent: Sent<u32>| {
            let number = sent[0];
            assert_eq!(sent.transferred(), numbered(number).len());
            let buffer = sent.into_buffer().try_into_mut().expect("nobody else holds it");
            check(number, buffer.iter().copied());
            back.0.borrow_mut()[number as usize] += 1;
        })
    }

    #[track_caller]
    fn check(&self) {
        let back = self.0.borrow();
        let others = back.iter().enumerate().filter(|(_, times)| **times != 1);
        let others: Vec<_> = others.take(5).collect();
        assert!(others.is_empty(), "of {} buffers these came back so often: {others:?}", back.len());
    }
}

/// Sends as it must, whoever takes it.
struct Basin {
    back: Back,
    taken: u64,
    kept: Option<ReceivedView<u32>>,
}

#[chare(group)]
impl Basin {
    #[entry]
    fn new() -> Self {
        Self { back: Back::default(), taken: 0, kept: None }
    }

    /// All from inside one entry: what comes for this chare waits meanwhile.
    #[entry]
    fn flood(&mut self, into: PeId) {
        let (into, back) = (self.this_collection().on(into), self.back.expect(CALLS));
        for number in 0..CALLS {
            let data = SendBuffer::from(numbered(number)).on_sent(back);
            match number % 3 {
                0 => into.take(number, data),
                1 => into.look(number, data),
                _ => into.land(number, data),
            }
        }
    }

    #[entry]
    fn take(&mut self, number: u32, #[nocopy] data: Received<u32>) {
        check(number, data.iter().copied());
        self.taken += 1;
    }

    /// Is owed until the next look.
    #[entry]
    fn look(&mut self, number: u32, #[nocopy] data: ReceivedView<u32>) {
        check(number, data.to_vec());
        self.kept = Some(data);
        self.taken += 1;
    }

    #[entry]
    fn land(&mut self, number: u32, #[nocopy(post)] data: Posted<u32>) {
        check(number, data.iter().copied());
        self.taken += 1;
    }

    #[post(land)]
    fn post_land(&mut self, _number: &u32, data: Post<u32>) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    fn let_go(&mut self) {
        self.kept = None;
    }

    #[entry]
    fn end(&mut self, done: Callback<u64>) {
        self.back.check();
        self.contribute(sum(self.taken), done);
    }
}

async fn circle_of_floods() {
    let basins = BasinProxy::create();
    let pes = chare::pes();
    (0..pes).for_each(|pe| basins.on(PeId(pe)).flood(PeId((pe + 1) % pes)));
    chare::quiescence().await;
    basins.let_go();
    chare::quiescence().await;
    let (taken, done) = chare::future();
    basins.end(done);
    assert_eq!(taken.await, u64::from(pes * CALLS));
}

#[test]
fn buffers_of_floods_come_back_once() {
    on_every_path(&[(2, 1)], circle_of_floods);
}

#[test]
fn buffers_come_back_once_where_mailboxes_take_few_messages() {
    for (nodes, pes) in [(1, 2), (2, 2)] {
        let code = Job::in_process(nodes, pes).mailbox(10).shuffled(1).run(circle_of_floods);
        assert_eq!(code.expect("the job runs"), 0);
    }
}

/// Multicasts under way at once.
const MULTICASTS: u32 = 70;

#[derive(Default)]
struct Cell {
    heard: u64,
    kept: Vec<ReceivedView<u32>>,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry]
    fn take(&mut self, number: u32, #[nocopy] data: Received<u32>) {
        check(number, data.iter().copied());
        self.heard += 1;
    }

    #[entry]
    fn look(&mut self, number: u32, #[nocopy] data: ReceivedView<u32>) {
        check(number, data.to_vec());
        // Of some members the views stay: the buffer comes back when the last goes.
        if chare::this_index::<u64>().is_multiple_of(2) {
            self.kept.push(data);
        }
        self.heard += 1;
    }

    #[entry]
    fn land(&mut self, number: u32, #[nocopy(post)] data: Posted<u32>) {
        check(number, data.iter().copied());
        self.heard += 1;
    }

    #[post(land)]
    fn post_land(&mut self, _number: &u32, data: Post<u32>) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    fn end(&mut self, done: Callback<u64>) {
        self.kept.clear();
        self.contribute(sum(self.heard), done);
    }
}

#[test]
fn buffers_of_multicasts_come_back_once() {
    on_every_path(&[(1, 2), (2, 1), (2, 2)], || async {
        let cells = CellProxy::create(8);
        let sections = [cells.section(0..8), cells.section([1, 2, 6])];
        let back = Back::default();
        let on_sent = back.expect(MULTICASTS);
        for number in 0..MULTICASTS {
            let section = &sections[number as usize % 2];
            let data = SendBuffer::from(numbered(number)).on_sent(on_sent);
            match number % 3 {
                0 => section.take(number, data),
                1 => section.look(number, data),
                _ => section.land(number, data),
            }
        }
        chare::quiescence().await;
        let (heard, done) = chare::future();
        cells.end(done);
        assert_eq!(heard.await, u64::from(MULTICASTS) / 2 * (8 + 3));
        chare::quiescence().await;
        back.check();
    });
}
