//! Callbacks to every kind of target.

use chare::ArrayOptions;
use chare::prelude::*;
use rand::random_range;

const VALUE: u64 = 0x5eed;

/// Counts what it hears, and says when it has heard enough.
struct Ear {
    expected: u64,
    enough: Callback<()>,
}

#[chare]
impl Ear {
    #[entry]
    fn new(expected: u64, enough: Callback<()>) -> Self {
        Self { expected, enough }
    }

    #[entry]
    fn hear(&mut self, value: u64) {
        assert_eq!(value, VALUE);
        assert!(self.expected > 0, "too many heard it");
        self.expected -= 1;
        if self.expected == 0 {
            self.enough.send(());
        }
    }
}

struct Element {
    ear: EarProxy,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(ear: EarProxy) -> Self {
        Self { ear }
    }

    #[entry]
    fn hear(&mut self, value: u64) {
        self.ear.hear(value);
    }
}

/// One on each PE: hears, sends on what others want to be sent from there, and answers.
struct Member {
    ear: Option<EarProxy>,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new(ear: Option<EarProxy>) -> Self {
        Self { ear }
    }

    #[entry]
    fn hear(&mut self, value: u64) {
        self.ear.as_ref().expect("it was given one").hear(value);
    }

    #[entry]
    fn reflect(&mut self, callback: Callback<u64>, value: u64) {
        callback.send(value);
    }
}

/// Waits for an answer of every second PE.
struct Asker;

#[chare]
impl Asker {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn ask(_this: This<Self>, mirrors: MemberProxy, done: Callback<u64>) {
        let mut answers = 0;
        for pe in (0..chare::pes()).step_by(2).map(PeId) {
            let (answer, callback) = chare::future();
            mirrors.on(pe).reflect(callback, VALUE);
            assert_eq!(answer.await, VALUE);
            answers += 1;
        }
        done.send(answers);
    }
}

/// Sends `VALUE`, half of the time from another PE.
fn send(mirrors: &MemberProxy, callback: Callback<u64>) {
    if random_range(0..2) == 0 {
        callback.send(VALUE);
    } else {
        mirrors.on(PeId(random_range(0..chare::pes()))).reflect(callback, VALUE);
    }
}

pub(crate) async fn everywhere() {
    let mirrors = MemberProxy::create(None);
    let pes = u64::from(chare::pes());
    let elements = 2 * pes + 1;
    let listen = |expected| {
        let (heard, enough) = chare::future();
        (heard, EarProxy::create(expected, enough))
    };
    let (heard, ear) = listen(1);
    send(&mirrors, ear.hear_callback());
    heard.await;
    let (heard, ear) = listen(1);
    send(&mirrors, ElementProxy::create(ArrayOptions::new(elements), ear).at(elements - 1).hear_callback());
    heard.await;
    let (heard, ear) = listen(1);
    send(&mirrors, MemberProxy::create(Some(ear)).on(PeId(chare::pes() - 1)).hear_callback());
    heard.await;
    let (heard, enough) = chare::future();
    send(&mirrors, Callback::once(move |value| enough.send(value)));
    assert_eq!(heard.await, VALUE);
    let (heard, ear) = listen(elements);
    send(&mirrors, ElementProxy::create(ArrayOptions::new(elements), ear).hear_callback());
    heard.await;
    let (heard, ear) = listen(pes);
    send(&mirrors, MemberProxy::create(Some(ear)).hear_callback());
    heard.await;
    let (answers, done) = chare::future();
    AskerProxy::create().ask(mirrors, done);
    assert_eq!(answers.await, pes.div_ceil(2));
}
