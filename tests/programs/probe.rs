//! The program that the acceptance tests run: small jobs whose behaviour shows from outside.
//!
//! | argument | what it does |
//! |---|---|
//! | `handover` | passes vectors and nocopy buffers between the PEs of one process |
//! | `lend` | passes shareable buffers from node 0 to node 1 |
//! | `select` | passes what a list of 5,000 places selects of a shareable buffer from node 0 to node 1, twenty times and once more |
//! | `proclaim KIND` | broadcasts ten buffers to all PEs: `shareable`, `plain`, `small`, or `posted` by each |
//! | `readonly KIND` | sets a large readonly value, `shareable` or `plain`, and reads it on all PEs |
//! | `idle` | does nothing, for ever |
//! | `strand` | destroys an element twice, calls one that nobody inserts and sends to buffers that nobody posts, so that quiescence never comes |
//! | `wait` | awaits a reduction to which one member does not contribute, beside a call that nobody makes and a buffer for which no call comes |
//! | `linger` | ends, with an entry that awaits a value which nobody sends |
//! | `spin` | like `idle`, but for the last PE, whose entry does not end |
//! | `heed HOW` | waits on its first and its last PE until somebody asks for the job's end, and then ends, or goes on for ever (`not`) |
//! | `employ` | starts a process on each node that sleeps, and waits for ever |
//! | `flood` | traffic of every kind between all nodes, until something ends it |
//! | `panic PE` | panics on that PE |
//! | `drop PE` | ends well, but for the drop of the member on that PE, which panics |
//! | `exit CODE` | exits with that code from the last PE |
//! | `spawn` | each node runs this program once more, as a job of its own |
//! | `seats` | tells on which processors each PE may run |
//! | `print LINES` | prints so many lines on every PE |

use chare::prelude::*;
use chare::{RegisteredSource, SourceHandle, rget};
use std::process::ExitCode;

/// Large enough to never travel with a message.
const BULK: usize = 100_000;

struct Member {
    is_fragile: bool,
}

impl Drop for Member {
    fn drop(&mut self) {
        assert!(!self.is_fragile, "as asked");
    }
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { is_fragile: false }
    }

    /// Panics when it is dropped.
    #[entry]
    fn become_fragile(&mut self) {
        self.is_fragile = true;
    }

    /// One line per node, from its first PE.
    #[entry]
    fn introduce(&mut self, done: Callback<()>) {
        if chare::my_pe().0.is_multiple_of(chare::pes() / chare::nodes()) {
            println!("{} has process {}", chare::my_node(), std::process::id());
        }
        self.contribute(barrier(), done);
    }

    #[entry]
    fn take(&mut self, values: Vec<u64>, done: Callback<usize>) {
        done.send(values.as_ptr() as usize);
    }

    #[entry]
    fn borrow(&mut self, #[nocopy] values: Received<u64>, done: Callback<usize>) {
        assert!(values.iter().all(|value| *value == 7));
        done.send(values.as_ptr() as usize);
    }

    #[entry]
    fn bounce(&mut self, round: u64, values: Vec<u64>, from: PeId) {
        self.this_collection().on(from).caught(round, values.len() as u64);
    }

    #[entry]
    fn caught(&mut self, _round: u64, count: u64) {
        assert!(count > 0);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<u64>) {
        assert!(values.iter().all(|value| *value == 7));
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<u64>) {
        let len = values.len();
        values.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    fn hear(&mut self, #[nocopy] values: Received<u64>, done: Callback<()>) {
        assert!(values.iter().all(|value| *value == 7));
        self.contribute(barrier(), done);
    }

    #[entry]
    fn look_up(&mut self, shareable: bool, done: Callback<()>) {
        if shareable {
            assert!(chare::readonly::<Buffer<u64>>().iter().all(|value| *value == 7));
        } else {
            assert!(chare::readonly::<Vec<u64>>().iter().all(|value| *value == 7));
        }
        self.contribute(barrier(), done);
    }

    #[entry]
    fn note(&mut self, #[nocopy(post)] values: Posted<u64>, done: Callback<()>) {
        assert!(values.iter().all(|value| *value == 7));
        self.contribute(barrier(), done);
    }

    #[post(note)]
    fn post_note(&mut self, values: Post<u64>, _done: &Callback<()>) {
        let len = values.len();
        values.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    async fn flood(this: This<Self>, others: Vec<SourceHandle<u64>>) {
        let (me, all) = (chare::my_pe(), this.this_collection());
        for round in 0.. {
            for pe in (0..chare::pes()).map(PeId).filter(|pe| *pe != me) {
                all.on(pe).bounce(round, vec![round; 200], me);
                all.on(pe).land(vec![7; BULK]);
                let (borrowed, done) = chare::future();
                all.on(pe).borrow(BufferMut::from_fn(BULK, |_| 7), done);
                let source = &others[pe.0 as usize];
                let (read, filled) = chare::future();
                rget(source, BufferMut::zeroed(source.len()), filled).expect("it is as long");
                assert!(read.await.iter().all(|value| *value == 7));
                let _: usize = borrowed.await;
            }
            let (heard, sent) = chare::future::<Sent<u64>>();
            let to_all = SendBuffer::from(BufferMut::from_fn(BULK, |_| 7)).on_sent(sent);
            all.hear(to_all, Callback::ignore());
            heard.await;
            if me == PeId(0) {
                println!("round {round}");
            }
        }
    }

    #[entry]
    fn register(&mut self, to: Callback<Vec<SourceHandle<u64>>>) {
        let source = RegisteredSource::register(vec![7u64; BULK]);
        self.contribute(set(source.handle()), to);
        // Registered for as long as the job lives.
        std::mem::forget(source);
    }

    #[entry]
    async fn heed(_this: This<Self>, done: Callback<()>) {
        chare::shutdown_requested().await;
        done.send(());
    }

    #[entry]
    #[expect(clippy::zombie_processes, reason = "whether somebody else ends it is the question")]
    fn employ(&mut self, done: Callback<()>) {
        let sleeper = std::process::Command::new("sleep").arg("1000").spawn().expect("it starts");
        println!("{} has employed {}", chare::my_node(), sleeper.id());
        self.contribute(barrier(), done);
    }

    #[entry]
    fn fail(&mut self) {
        panic!("as asked");
    }

    #[entry]
    fn leave(&mut self, code: i32) {
        chare::exit(code);
    }

    #[entry]
    fn spawn(&mut self, done: Callback<()>) {
        let program = std::env::current_exe().expect("it has a file");
        let status = std::process::Command::new(program).arg("handover").status().expect("it starts");
        assert!(status.success(), "the child of {} ended with {status}", chare::my_node());
        self.contribute(barrier(), done);
    }

    #[entry]
    fn tell_seat(&mut self, done: Callback<()>) {
        let set = rustix::thread::sched_getaffinity(None).expect("the kernel tells");
        let seats: Vec<usize> = (0..1024).filter(|processor| set.is_set(*processor)).collect();
        println!("{} of {} on {} may run on {seats:?}", chare::my_pe(), chare::pes(), chare::my_node());
        self.contribute(barrier(), done);
    }

    #[entry]
    fn print(&mut self, lines: u32, done: Callback<()>) {
        for line in 0..lines {
            println!("{} says line {line} of {lines}", chare::my_pe());
        }
        self.contribute(barrier(), done);
    }
}

async fn handover(members: MemberProxy) {
    let last = PeId(chare::pes() - 1);
    for to in [PeId(0), last] {
        let values = vec![1u64; BULK];
        let address = values.as_ptr() as usize;
        let (taken, done) = chare::future();
        members.on(to).take(values, done);
        assert_eq!(taken.await, address, "the vector itself arrives");
        let values = vec![7u64; BULK];
        let address = values.as_ptr() as usize;
        let (borrowed, done) = chare::future();
        members.on(to).borrow(values, done);
        assert_eq!(borrowed.await, address, "the sender's own memory is read");
    }
}

/// Registers memory until there is no more room.
fn fill_the_table() -> Vec<RegisteredSource<u64>> {
    let one: Buffer<u64> = vec![1].into();
    std::iter::from_fn(|| RegisteredSource::try_register(one.clone()).ok()).collect()
}

async fn lend(members: MemberProxy, is_full: bool) {
    let _registered = is_full.then(fill_the_table);
    let last = PeId(chare::pes() - 1);
    for _ in 0..10 {
        let (borrowed, done) = chare::future();
        members.on(last).borrow(BufferMut::from_fn(BULK, |_| 7), done);
        let _: usize = borrowed.await;
    }
}

/// The first one tells the layout; when all is quiet, its receiver has answered.
async fn select(members: MemberProxy) {
    let last = PeId(chare::pes() - 1);
    let places: Vec<i64> = (0..5000).map(|place| place * (place + 1) / 2 % BULK as i64).collect();
    let values = BufferMut::from_fn(BULK, |_| 7).freeze();
    for round in 0..21 {
        let layout = chare::Layout::indexed_block(1, &places).expect("it fits");
        let (borrowed, done) = chare::future();
        members.on(last).borrow(SendBuffer::from(values.clone()).only(&layout), done);
        let _: usize = borrowed.await;
        if round == 0 {
            chare::quiescence().await;
        }
    }
}

async fn proclaim(members: MemberProxy, kind: &str) {
    for _ in 0..10 {
        let ((heard, done), (back, sent)) = (chare::future(), chare::future::<Sent<u64>>());
        let buffer = match kind {
            "plain" => vec![7; BULK].into(),
            "small" => vec![7; 5].into(),
            _ => BufferMut::from_fn(BULK, |_| 7).freeze(),
        };
        let buffer = SendBuffer::from(buffer).on_sent(sent);
        if kind == "posted" {
            members.note(buffer, done);
        } else {
            members.hear(buffer, done);
        }
        heard.await;
        assert!(back.await.into_buffer().try_into_mut().is_ok(), "nobody reads it any more");
    }
}

fn set_readonly(shareable: bool) {
    if shareable {
        chare::set_readonly(BufferMut::<u64>::from_fn(4 * BULK, |_| 7).freeze());
    } else {
        chare::set_readonly(vec![7u64; 4 * BULK]);
    }
}

async fn look_up(members: MemberProxy, shareable: bool) {
    let (read, done) = chare::future();
    members.look_up(shareable, done);
    read.await;
}

async fn flood(members: MemberProxy) {
    let (sources, to_sources) = chare::future();
    members.register(to_sources);
    members.flood(sources.await);
    chare::future::<()>().0.await;
}

/// An element that comes and goes.
struct Guest;

#[chare(array)]
impl Guest {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn greet(&mut self) {}

    #[entry]
    fn keep(&mut self, #[nocopy(post)] _data: Posted<u8>) {}

    #[post(keep)]
    fn post_keep(&mut self, data: Post<u8>) {
        data.match_tag(self.this_index()).expect("no other element uses the tag");
    }
}

/// An element that waits.
struct Waiter;

#[chare(array)]
impl Waiter {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn word(#[reference] number: u32);

    #[entry]
    async fn listen(this: This<Self>) {
        let _: u32 = this.when(Self::word).reference(7).await;
    }

    #[entry]
    async fn lose(this: This<Self>) {
        this.with(|_| ());
        chare::future::<()>().0.await;
    }

    #[entry]
    fn count(&mut self, done: Callback<u64>) {
        if self.this_index() != 2 {
            self.contribute(sum(1u64), done);
        }
    }

    #[entry]
    fn spin(&mut self) {
        loop {
            std::hint::spin_loop();
        }
    }
}

async fn wait() {
    let waiters = WaiterProxy::create(4);
    waiters.at(1).listen();
    waiters.at(1).word(3);
    chare::post_buffer::<u8>(5, vec![0; 10]).expect("the tag is free");
    let (counted, done) = chare::future::<u64>();
    waiters.count(done);
    // All that can arrive has arrived.
    chare::quiescence().await;
    println!("waits");
    counted.await;
}

async fn linger() {
    WaiterProxy::create(4).at(3).lose();
}

async fn spin() {
    WaiterProxy::create(u64::from(chare::pes())).at(u64::from(chare::pes()) - 1).spin();
    idle().await;
}

async fn strand() {
    let guests = GuestProxy::create(chare::ArrayOptions::from(4).dynamic());
    chare::quiescence().await;
    guests.at(2).destroy();
    guests.at(2).destroy();
    (0..3).for_each(|_| guests.at(77).greet());
    (0..2).for_each(|index| guests.at(index).keep(vec![1; 100]));
    chare::quiescence().await;
}

async fn heed(members: MemberProxy, is_stubborn: bool) {
    let asked = chare::shutdown_requested();
    let (elsewhere, done) = chare::future::<()>();
    members.on(PeId(chare::pes() - 1)).heed(done);
    println!("heeds");
    asked.await;
    elsewhere.await;
    println!("asked");
    if is_stubborn {
        idle().await;
    }
}

async fn idle() {
    println!("idle");
    chare::future::<()>().0.await;
}

fn main() -> ExitCode {
    chare::run(|arguments| async move {
        let argument = |position: usize| arguments.get(position).map_or("", String::as_str);
        if argument(0) == "readonly" {
            set_readonly(argument(1) == "shareable");
        }
        let members = MemberProxy::create();
        let (introduced, done) = chare::future();
        members.introduce(done);
        introduced.await;
        let number = |position: usize| argument(position).parse().unwrap_or(0);
        match arguments.first().map(String::as_str) {
            Some("handover") => handover(members).await,
            Some("lend") => lend(members, argument(1) == "full").await,
            Some("select") => select(members).await,
            Some("proclaim") => proclaim(members, argument(1)).await,
            Some("readonly") => look_up(members, argument(1) == "shareable").await,
            Some("idle") => idle().await,
            Some("strand") => strand().await,
            Some("wait") => wait().await,
            Some("linger") => linger().await,
            Some("spin") => spin().await,
            Some("heed") => heed(members, argument(1) == "not").await,
            Some("employ") => {
                let (employed, done) = chare::future();
                members.employ(done);
                employed.await;
                idle().await;
            }
            Some("flood") => flood(members).await,
            Some("panic") => members.on(PeId(number(1))).fail(),
            Some("drop") => members.on(PeId(number(1))).become_fragile(),
            Some("exit") => {
                members.on(PeId(chare::pes() - 1)).leave(number(1) as i32);
                chare::future::<()>().0.await;
            }
            Some("spawn") => {
                let (spawned, done) = chare::future();
                members.spawn(done);
                spawned.await;
            }
            Some("seats") => {
                let (told, done) = chare::future();
                members.tell_seat(done);
                told.await;
            }
            Some("print") => {
                let (printed, done) = chare::future();
                members.print(number(1), done);
                printed.await;
            }
            other => {
                eprintln!("probe: unknown argument {other:?}");
                chare::exit(2);
            }
        }
    })
}
