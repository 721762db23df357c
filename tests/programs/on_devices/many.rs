//! Calls of many: a buffer goes to all elements of an array, or to a section of them, several to a process; each checks what it has, and the
//! sender what it is told.

use crate::case::{Case, Parameter, Selection};
use crate::peer::{compare, device_landing, host_landing, on_device, read};
use chare::ArrayOptions;
use chare::prelude::*;
use chare::{DevicePosted, DeviceReceived, SendDeviceBuffer, SentDevice};
use serde::{Deserialize, Serialize};

/// A case, and to whom it goes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ToMany {
    case: Case,
    is_section: bool,
}

impl ToMany {
    pub(crate) fn all() -> Vec<Self> {
        let is_simple = |case: &Case| {
            let is_listed = |selection| selection == Selection::Listed;
            let lands_listed = match case.parameter {
                Parameter::DevicePosted(selection, _) | Parameter::Posted(selection) => is_listed(selection),
                _ => false,
            };
            !is_listed(case.selection) && !lands_listed && case.len != 1_500
        };
        let both = |case| [false, true].map(|is_section| Self { case, is_section });
        Case::all().filter(is_simple).flat_map(both).collect()
    }

    /// Sends it from a PE; says what went wrong.
    pub(crate) async fn check(self, members: MemberProxy, from: PeId) -> String {
        let (answer, done) = chare::future();
        SenderProxy::create_on(from).send(members, self, done);
        answer.await
    }
}

/// Two elements for each PE, and one more.
pub(crate) fn members() -> MemberProxy {
    MemberProxy::create(ArrayOptions::new(count()))
}

fn count() -> u64 {
    2 * u64::from(chare::pes()) + 1
}

/// Hears of so many members what was wrong with theirs.
struct Tally {
    missing: u64,
    wrong: String,
    done: Callback<String>,
}

#[chare]
impl Tally {
    #[entry]
    fn new(missing: u64, done: Callback<String>) -> Self {
        Self { missing, wrong: String::new(), done }
    }

    #[entry]
    fn hear(&mut self, wrong: String) {
        self.wrong += &wrong;
        self.missing -= 1;
        if self.missing == 0 {
            self.done.send(std::mem::take(&mut self.wrong));
        }
    }
}

struct Sender;

#[chare]
impl Sender {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn send(this: This<Self>, members: MemberProxy, what: ToMany, done: Callback<String>) {
        drop(this);
        let ToMany { case, is_section } = what;
        let (told, tell) = chare::future::<String>();
        let called = if is_section { count().div_ceil(2) } else { count() };
        let tally = TallyProxy::create(called, tell);
        let section = members.section((0..count()).step_by(2));
        macro_rules! send_to {
            ($to:expr, $argument:expr) => {
                match case.parameter {
                    Parameter::DeviceReceived => $to.take_on_device(case, $argument, tally),
                    Parameter::DevicePosted(..) => $to.land_on_device(case, $argument, tally),
                    Parameter::Received => $to.take(case, $argument, tally),
                    Parameter::View => $to.look(case, $argument, tally),
                    Parameter::Posted(_) => $to.land(case, $argument, tally),
                }
            };
        }
        macro_rules! send {
            ($argument:expr) => {
                match (case.selection.layout(case.len), is_section) {
                    (Some(layout), true) => send_to!(section, $argument.only(&layout)),
                    (Some(layout), false) => send_to!(members, $argument.only(&layout)),
                    (None, true) => send_to!(section, $argument),
                    (None, false) => send_to!(members, $argument),
                }
            };
        }
        let (elements, _) = case.source();
        let (mut wrong, transferred);
        if case.is_on_device {
            let (back, on_sent) = chare::future::<SentDevice<u32>>();
            send!(SendDeviceBuffer::from(on_device(&elements)).on_sent(on_sent));
            wrong = told.await;
            let sent = back.await;
            transferred = sent.transferred();
            match sent.into_buffer().try_into_mut() {
                Ok(buffer) => wrong += &compare("what was sent", &read(&buffer.freeze()).await, &elements),
                Err(_) => wrong += "somebody has the buffer still; ",
            }
        } else {
            let (back, on_sent) = chare::future::<Sent<u32>>();
            send!(SendBuffer::from(elements).on_sent(on_sent));
            wrong = told.await;
            transferred = back.await.transferred();
        }
        if transferred != case.taken() {
            wrong += &format!("{transferred} were sent instead of {}; ", case.taken());
        }
        section.dissolve();
        done.send(wrong);
    }
}

pub(crate) struct Member;

fn tell(tally: &TallyProxy, case: Case, have: &[u32]) {
    tally.hear(compare(&format!("what came to PE {}", chare::my_pe()), have, &case.expected()));
}

#[chare(array)]
impl Member {
    #[entry]
    pub(crate) fn new() -> Self {
        Self
    }

    #[entry]
    async fn take_on_device(
        this: This<Self>,
        case: Case,
        #[nocopy] face: DeviceReceived<u32>,
        tally: TallyProxy,
    ) {
        drop(this);
        let elements = read(&face).await;
        drop(face);
        tell(&tally, case, &elements);
    }

    #[entry]
    async fn land_on_device(
        this: This<Self>,
        case: Case,
        #[nocopy(post)] face: DevicePosted<u32>,
        tally: TallyProxy,
    ) {
        drop(this);
        tell(&tally, case, &read(&face.into_buffer().freeze()).await);
    }

    #[post(land_on_device)]
    fn post_land_on_device(&mut self, case: &Case, face: Post<u32>, _tally: &TallyProxy) {
        face.post_device(device_landing(*case)).expect("no longer than what is offered");
    }

    #[entry]
    fn take(&mut self, case: Case, #[nocopy] face: Received<u32>, tally: TallyProxy) {
        tell(&tally, case, &face);
    }

    #[entry]
    fn look(&mut self, case: Case, #[nocopy] face: ReceivedView<u32>, tally: TallyProxy) {
        tell(&tally, case, &face.to_vec());
    }

    #[entry]
    fn land(&mut self, case: Case, #[nocopy(post)] face: Posted<u32>, tally: TallyProxy) {
        tell(&tally, case, &face.into_vec());
    }

    #[post(land)]
    fn post_land(&mut self, case: &Case, face: Post<u32>, _tally: &TallyProxy) {
        face.post(host_landing(*case)).expect("no longer than what is offered");
    }
}
