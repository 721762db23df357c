//! Virtual time of software devices: what their streams do takes the time that [`DeviceSpeeds`] say, and nothing happens but when whoever drives it
//! has it pass.
//!
//! 1. Work is ready a launch after it was given. It begins when its stream is past all before it and an engine of its kind is free; engines
//!    are taken in the order in which streams come for them.
//! 2. Memory changes at the end of work. So what is read is what was there when the last wait was over.
//! 3. Of what happens at one moment, what was planned first happens first: the same program, the same times, on every machine.
//! 4. A thread that waits for a stream has devices go on until that is past, spends the time, and calls nobody meanwhile if it can be helped.
//!    So what devices do may be ahead of what others know of the time: each stream and each engine has its own, and an event knows when it
//!    fired. Who only asks whether one has may be told so too early.
//! 5. Nothing of it is under a lock while memory is copied or somebody is called: a call may drop the last handle of a stream.

use crate::backend::Call;
use crate::memory::span::Span;
use crate::software::command::{Command, Work};
use crate::software::faults::Chances;
use crate::software::mapped::is_pinned;
use crate::software::shared::Shared;
use crate::software::signal::SoftwareSignal;
use crate::words::error::DeviceError;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Speeds of a software device in virtual time.
///
/// The default is a device of 2020 behind 16 lanes of PCI Express 4, in round figures of its data sheet: no measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceSpeeds {
    /// Bytes per second of a copy from the device to pinned memory, and of a kernel that writes there.
    pub outward: u64,
    /// Bytes per second of a copy from pinned memory to the device, and of a kernel that reads there.
    pub inward: u64,
    /// Bytes per second of a kernel that packs, unpacks or computes within the device, and of copies there.
    pub within: u64,
    /// Time between the order and the earliest begin of a kernel or a copy.
    pub launch: Duration,
    /// Time that each copy takes beside that of its bytes.
    pub copy: Duration,
    /// Time until the host hears that a stream is that far.
    pub callback: Duration,
    /// Copies that go on at a time in each of the two directions.
    pub copy_engines: NonZeroU32,
    /// Kernels that go on at a time.
    pub kernels: NonZeroU32,
    /// Whether a stream rests until the host has heard, as one does in which a driver calls a function of the host.
    pub calls_hold: bool,
}

impl Default for DeviceSpeeds {
    fn default() -> Self {
        Self {
            outward: 24_000_000_000,
            inward: 24_000_000_000,
            within: 600_000_000_000,
            launch: Duration::from_micros(5),
            copy: Duration::from_micros(1),
            callback: Duration::from_micros(10),
            copy_engines: NonZeroU32::MIN,
            kernels: NonZeroU32::new(8).expect("it is not 0"),
            calls_hold: false,
        }
    }
}

/// Engines of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Engine {
    Outward,
    Inward,
    Kernels,
}

impl DeviceSpeeds {
    fn engines(&self, engine: Engine) -> u32 {
        match engine {
            Engine::Outward | Engine::Inward => self.copy_engines.get(),
            Engine::Kernels => self.kernels.get(),
        }
    }

    /// What does a piece of work, and for how many nanoseconds.
    fn of(&self, work: &Work) -> (Engine, u64) {
        let copy = |from: &Span, to: &Span, bytes: u64| {
            let engine = match (is_pinned(from), is_pinned(to)) {
                (false, true) => Engine::Outward,
                (true, false) => Engine::Inward,
                _ => Engine::Kernels,
            };
            (engine, nanoseconds(self.copy) + self.time(from, to, bytes))
        };
        match work {
            Work::Copy(from, to) => copy(from, to, from.len()),
            Work::CopyRows(rows, from, to) => copy(from, to, rows.planes * rows.count * rows.bytes),
            Work::Steps(steps) => {
                let each = steps.iter().map(|(_, step)| self.time(&step.from, &step.to, step.plan.bytes()));
                (Engine::Kernels, each.sum())
            }
            Work::Zero(span) => (Engine::Kernels, self.time(span, span, span.len())),
            Work::Compute(_, sources, target) => {
                let read: u64 = sources.iter().map(Span::len).sum();
                (Engine::Kernels, at_rate(read + target.len(), self.within))
            }
        }
    }

    /// How long so many bytes take from memory to memory.
    fn time(&self, from: &Span, to: &Span, bytes: u64) -> u64 {
        let rate = match (is_pinned(from), is_pinned(to)) {
            (false, false) => self.within,
            (false, true) => self.outward,
            (true, false) => self.inward,
            (true, true) => self.inward.min(self.outward),
        };
        at_rate(bytes, rate)
    }
}

fn at_rate(bytes: u64, bytes_per_second: u64) -> u64 {
    let time = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second.max(1)));
    u64::try_from(time).unwrap_or(u64::MAX / 2)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}

/// The virtual time of some devices. Clones are the same time.
///
/// ```
/// use chare_device::{DeviceBufferMut, Priority, Software, DeviceSpeeds, VirtualTime};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let time = VirtualTime::new(DeviceSpeeds::default(), || 0, |_| ());
/// let device = Software::default().open_within(&time, 0, 0);
/// let stream = device.stream(Priority::Normal)?;
/// let mut field = DeviceBufferMut::<u8>::zeroed(&device, &stream, 24_000_000)?;
/// let mut landed = field.read(&stream)?;
/// assert_eq!(landed.elements()?, None);
/// let mut now = 0;
/// while let Some((moment, _)) = time.next() {
///     time.pass();
///     now = moment;
/// }
/// assert_eq!(landed.elements()?.map(<[u8]>::len), Some(24_000_000));
/// // A launch, zeros at 600 GB/s, and a copy of a millisecond.
/// assert_eq!(now, 5_000 + 40_000 + 1_000 + 1_000_000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct VirtualTime(Arc<Inner>);

struct Inner {
    /// What time it is where commands are given, in nanoseconds.
    now: Box<dyn Fn() -> u64 + Send + Sync>,
    /// Spends the time that a thread waits.
    spend: Box<dyn Fn(Duration) + Send + Sync>,
    speeds: DeviceSpeeds,
    state: Mutex<State>,
}

/// Whose a device is, and which of the host's.
type Owner = u64;
type Card = (u64, u32);

/// Where a device is in virtual time.
pub(super) struct InTime {
    time: VirtualTime,
    owner: Owner,
    card: Card,
}

/// A stream in virtual time.
pub(crate) struct VirtualStream {
    time: VirtualTime,
    id: u64,
}

#[derive(Default)]
struct State {
    /// What is to happen, by moment, and in the order in which it was planned.
    agenda: BTreeMap<(u64, u64), (Owner, Due)>,
    planned: u64,
    streams: BTreeMap<u64, StreamState>,
    made: u64,
    /// When each engine is free.
    engines: BTreeMap<(Card, Engine), Vec<u64>>,
    /// Streams that wait for events.
    waiting: Vec<u64>,
}

enum Due {
    /// The stream goes on.
    Turn(u64),
    /// The stream's work is over.
    Over(u64),
    /// Somebody is called, and the stream that rests until then goes on, if one does.
    Call(Call, Option<u64>),
}

struct StreamState {
    owner: Owner,
    card: Card,
    shared: Arc<Shared>,
    chances: Chances,
    /// What is to be done, each with the earliest moment.
    line: VecDeque<(u64, Command)>,
    /// What is done now.
    work: Option<Work>,
    /// When it was past what it is past.
    past_ns: u64,
    /// Whether nothing is planned for it: it has nothing to do.
    is_idle: bool,
    /// Whether nobody can give it commands any more.
    is_closed: bool,
}

impl VirtualTime {
    /// A time for devices of these speeds. `now` says, in nanoseconds, what time it is where a command is given; `spend` has that go on where a
    /// thread has waited for a stream.
    pub fn new(
        speeds: DeviceSpeeds,
        now: impl Fn() -> u64 + Send + Sync + 'static,
        spend: impl Fn(Duration) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner { now: Box::new(now), spend: Box::new(spend), speeds, state: Mutex::default() }))
    }

    /// When something happens next, in nanoseconds, and with whose device.
    pub fn next(&self) -> Option<(u64, u64)> {
        let state = self.0.state.lock();
        state.agenda.first_key_value().map(|((moment, _), (owner, _))| (*moment, *owner))
    }

    /// Lets the next thing happen.
    pub fn pass(&self) {
        let first = self.0.state.lock().agenda.first_key_value().map(|(at, _)| *at);
        first.into_iter().for_each(|first| self.pass_at(first));
    }

    /// Lets this happen, which is planned.
    fn pass_at(&self, at: (u64, u64)) {
        let mut passed = Vec::new();
        let (speeds, now) = (&self.0.speeds, at.0);
        let mut state = self.0.state.lock();
        let Some((_, due)) = state.agenda.remove(&at) else { return };
        match due {
            Due::Turn(stream) => state.go_on(stream, now, speeds, &mut passed),
            Due::Over(stream) => {
                let ends = state
                    .streams
                    .get_mut(&stream)
                    .and_then(|at| at.work.take().map(|work| (work, Arc::clone(&at.shared))));
                let (work, shared) = ends.expect("its end was planned when it began");
                drop(state);
                if shared.check().is_ok() {
                    work.carry_out(&shared);
                } else {
                    drop(work);
                }
                state = self.0.state.lock();
                state.go_on(stream, now, speeds, &mut passed);
            }
            Due::Call(call, rests) => {
                drop(state);
                call();
                state = self.0.state.lock();
                rests.into_iter().for_each(|stream| state.go_on(stream, now, speeds, &mut passed));
            }
        }
        while let Some(place) = state.waiting.iter().position(|stream| state.streams[stream].is_past_wait()) {
            let stream = state.waiting.remove(place);
            state.go_on(stream, now, speeds, &mut passed);
        }
        drop(state);
        // Memory may be the last that somebody holds.
        drop(passed);
    }
}

impl State {
    /// What happens next, but for calls, which come first only if nothing else is planned.
    fn next_but_calls(&self) -> Option<(u64, u64)> {
        let is_call = |due: &Due| matches!(due, Due::Call(..));
        let next = self.agenda.iter().find(|(_, (_, due))| !is_call(due));
        next.or_else(|| self.agenda.first_key_value()).map(|(at, _)| *at)
    }

    fn plan(&mut self, moment: u64, owner: Owner, due: Due) {
        self.agenda.insert((moment, self.planned), (owner, due));
        self.planned += 1;
    }

    /// Lets a stream do what it can do now; what it is past is kept in `passed`.
    fn go_on(&mut self, id: u64, now: u64, speeds: &DeviceSpeeds, passed: &mut Vec<Command>) {
        let mut planned = Vec::new();
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let owner = stream.owner;
        let now = stream.past_ns.max(now);
        while let Some((ready, command)) = stream.line.pop_front() {
            if ready > now {
                stream.line.push_front((ready, command));
                planned.push((ready, Due::Turn(id)));
                break;
            }
            if !matches!(command, Command::Wait(_)) {
                command.strike(&stream.shared, &mut stream.chances);
            }
            let is_lost = stream.shared.check().is_err();
            match command {
                Command::Call(call) => {
                    let rests = speeds.calls_hold.then_some(id);
                    planned.push((now + nanoseconds(speeds.callback), Due::Call(call, rests)));
                    if rests.is_some() {
                        break;
                    }
                }
                command if is_lost => passed.push(command),
                Command::Wait(signal) => match signal.fired_ns() {
                    None => {
                        stream.line.push_front((ready, Command::Wait(signal)));
                        self.waiting.push(id);
                        break;
                    }
                    Some(fired) if fired > now => {
                        stream.line.push_front((fired, Command::Wait(signal)));
                        planned.push((fired, Due::Turn(id)));
                        break;
                    }
                    Some(_) => passed.push(Command::Wait(signal)),
                },
                Command::Fire(signal) => signal.fire_at(now),
                Command::Work(work) => {
                    let (engine, time) = speeds.of(&work);
                    let engines = self.engines.entry((stream.card, engine));
                    let engines = engines.or_insert_with(|| vec![0; speeds.engines(engine) as usize]);
                    let free = engines.iter_mut().min().expect("there is at least one");
                    *free = now.max(*free) + time;
                    planned.push((*free, Due::Over(id)));
                    stream.work = Some(work);
                    break;
                }
                Command::Keep(span) => passed.push(Command::Keep(span)),
            }
        }
        stream.past_ns = now;
        let rests = matches!(planned.last(), Some((_, Due::Call(_, Some(_)))));
        stream.is_idle = stream.line.is_empty() && stream.work.is_none() && !rests;
        if stream.is_idle && stream.is_closed {
            self.streams.remove(&id);
        }
        planned.into_iter().for_each(|(moment, due)| self.plan(moment, owner, due));
    }
}

impl StreamState {
    /// Whether the event that it waits for has fired, or will not.
    fn is_past_wait(&self) -> bool {
        let event = self.line.front().is_none_or(|(_, command)| match command {
            Command::Wait(signal) => signal.has_fired(),
            _ => true,
        });
        event || self.shared.check().is_err()
    }
}

impl InTime {
    pub(super) fn new(time: &VirtualTime, owner: Owner, card: Card) -> Self {
        Self { time: time.clone(), owner, card }
    }

    /// A stream of the device that is here.
    pub(super) fn stream(&self, shared: &Arc<Shared>, chances: Chances) -> VirtualStream {
        let mut state = self.time.0.state.lock();
        let id = state.made;
        state.made += 1;
        let (shared, line, work) = (Arc::clone(shared), VecDeque::new(), None);
        let (owner, card, past_ns, is_idle, is_closed) = (self.owner, self.card, 0, true, false);
        let made = StreamState { owner, card, shared, chances, line, work, past_ns, is_idle, is_closed };
        state.streams.insert(id, made);
        VirtualStream { time: self.time.clone(), id }
    }
}

impl VirtualStream {
    /// Gives it a command.
    pub(super) fn give(&self, command: Command) {
        let Inner { now, speeds, state, .. } = &*self.time.0;
        let now = now();
        let mut state = state.lock();
        let stream = state.streams.get_mut(&self.id).expect("it is there as long as its handle");
        let launch = if matches!(command, Command::Work(_)) { speeds.launch } else { Duration::ZERO };
        let ready = stream.past_ns.max(now + nanoseconds(launch + stream.chances.delay()));
        stream.line.push_back((ready, command));
        let owner = stream.owner;
        if std::mem::take(&mut stream.is_idle) {
            state.plan(ready, owner, Due::Turn(self.id));
        }
    }

    /// Waits until all that it was given is done.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] if it waits for what nobody will do.
    pub(super) fn finish(&self, shared: &Arc<Shared>) -> Result<(), DeviceError> {
        let Inner { now, spend, state, .. } = &*self.time.0;
        let signal = Arc::new(SoftwareSignal::new(shared));
        self.give(Command::Fire(Arc::clone(&signal)));
        while !signal.has_fired() && shared.check().is_ok() {
            let next = state.lock().next_but_calls();
            let Some(next) = next else {
                let cause = "it waits for what no stream will do";
                return Err(DeviceError::refused(shared.info(), "waiting for a stream", cause));
            };
            self.time.pass_at(next);
        }
        let until = signal.fired_ns().unwrap_or_default();
        spend(Duration::from_nanos(until.saturating_sub(now())));
        Ok(())
    }
}

impl Drop for VirtualStream {
    /// What it was given is still done.
    fn drop(&mut self) {
        let mut state = self.time.0.state.lock();
        let Some(stream) = state.streams.get_mut(&self.id) else { return };
        stream.is_closed = true;
        if stream.is_idle {
            state.streams.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::exclusive::DeviceBufferMut;
    use crate::device::Device;
    use crate::software::Software;
    use crate::stream::Stream;
    use crate::words::info::Priority;

    /// A gigabyte per second each way, within the device at once, and nothing takes time beside.
    fn plain() -> DeviceSpeeds {
        let none = Duration::ZERO;
        DeviceSpeeds {
            outward: 1_000_000_000,
            inward: 1_000_000_000,
            within: u64::MAX,
            launch: none,
            copy: none,
            callback: none,
            ..DeviceSpeeds::default()
        }
    }

    fn opened(speeds: DeviceSpeeds) -> (VirtualTime, Device) {
        let time = VirtualTime::new(speeds, || 0, |_| ());
        let device = Software::default().open_within(&time, 3, 0);
        (time, device)
    }

    fn stream(device: &Device) -> Stream {
        device.stream(Priority::Normal).expect("a stream")
    }

    /// Lets all happen; the last moment.
    fn last(time: &VirtualTime) -> u64 {
        std::iter::from_fn(|| time.next().inspect(|_| time.pass()))
            .map(|(moment, _)| moment)
            .last()
            .unwrap_or(0)
    }

    #[test]
    fn copies_of_one_direction_take_turns_and_those_of_two_do_not() {
        let (time, device) = opened(plain());
        let [first, second] = [(); 2].map(|()| stream(&device));
        let buffer = || DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
        let read = |mut buffer: DeviceBufferMut<u8>, on| buffer.read(on).expect("it has room");
        let landed = [read(buffer(), &first), read(buffer(), &second)];
        assert_eq!((last(&time), landed.len()), (2_000, 2));

        let (time, device) = opened(plain());
        let [first, second] = [(); 2].map(|()| stream(&device));
        let mut written = DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
        written.write(&first, &[1; 1_000]).expect("it has room");
        let mut source = DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
        let mut landed = source.read(&second).expect("it has room");
        assert_eq!(last(&time), 1_000);
        assert!(landed.elements().expect("it is not lost").is_some());
    }

    #[test]
    fn who_waits_for_an_event_begins_when_it_fires() {
        let (time, device) = opened(plain());
        let [first, second] = [(); 2].map(|()| stream(&device));
        let mut buffer = DeviceBufferMut::<u8>::new(&device, 500).expect("it has room");
        buffer.write(&first, &[7; 500]).expect("it has room");
        let mut landed = buffer.read(&second).expect("it has room");
        assert_eq!(landed.elements().expect("it is not lost"), None);
        assert_eq!(last(&time), 1_000);
        assert_eq!(landed.elements().expect("it is not lost"), Some(&[7; 500][..]));
    }

    #[test]
    fn a_call_comes_late_and_holds_its_stream_where_calls_do() {
        let called_and_over = |calls_hold| {
            let (time, device) =
                opened(DeviceSpeeds { callback: Duration::from_nanos(300), calls_hold, ..plain() });
            let (on, called) = (stream(&device), Arc::new(Mutex::new(None)));
            let mut buffer = DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
            drop(buffer.read(&on).expect("it has room"));
            let told = Arc::clone(&called);
            on.call(move || *told.lock() = Some(0)).expect("it goes on");
            drop(buffer.read(&on).expect("it has room"));
            let mut over = 0;
            while let Some((moment, _)) = time.next() {
                time.pass();
                over = moment;
                called.lock().iter_mut().filter(|called| **called == 0).for_each(|called| *called = moment);
            }
            let called = called.lock().expect("it was called");
            (called, over)
        };
        assert_eq!(called_and_over(false), (1_300, 2_000));
        assert_eq!(called_and_over(true), (1_300, 2_300));
    }

    #[test]
    fn a_stream_that_was_dropped_does_what_it_was_given_and_is_forgotten() {
        let (time, device) = opened(plain());
        let on = stream(&device);
        let mut buffer = DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
        let landed = buffer.read(&on).expect("it has room");
        drop((on, buffer));
        assert_eq!((last(&time), time.next()), (1_000, None));
        drop(landed);
        assert!(time.0.state.lock().streams.is_empty());
    }

    #[test]
    fn a_lost_device_calls_all_and_lets_nobody_wait() {
        use crate::software::faults::Faults;
        let time = VirtualTime::new(plain(), || 0, |_| ());
        let faults = Faults { lose: NonZeroU32::new(1), ..Faults::default() };
        let device = Software { faults, ..Software::default() }.open_within(&time, 0, 0);
        let (on, called) = (stream(&device), Arc::new(Mutex::new(false)));
        let told = Arc::clone(&called);
        on.call(move || *told.lock() = true).expect("it is there yet");
        last(&time);
        assert!(*called.lock() && on.record().is_err());
    }

    #[test]
    fn who_waits_spends_the_time_and_calls_come_when_they_are_due() {
        let (spent, called) = (Arc::new(Mutex::new(Duration::ZERO)), Arc::new(Mutex::new(false)));
        let seen = Arc::clone(&spent);
        let time = VirtualTime::new(plain(), || 0, move |more| *seen.lock() += more);
        let device = Software::default().open_within(&time, 0, 0);
        let (on, other) = (stream(&device), stream(&device));
        let told = Arc::clone(&called);
        other.call(move || *told.lock() = true).expect("it is there");
        let mut buffer = DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
        buffer.write(&on, &[9; 1_000]).expect("it has room");
        assert_eq!(buffer.freeze().to_vec(&on), Ok(vec![9; 1_000]));
        assert_eq!((*spent.lock(), *called.lock()), (Duration::from_nanos(2_000), false));
        last(&time);
        assert!(*called.lock());
    }

    #[test]
    fn who_waits_delays_nobody_else() {
        let spent = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&spent);
        let time = VirtualTime::new(plain(), || 0, move |more| seen.lock().push(more.as_nanos()));
        for owner in 0..2 {
            let device = Software::default().open_within(&time, owner, owner);
            let mut buffer = DeviceBufferMut::<u8>::new(&device, 1_000).expect("it has room");
            let on = stream(&device);
            buffer.write(&on, &[9; 1_000]).expect("it has room");
            assert_eq!(buffer.freeze().to_vec(&on), Ok(vec![9; 1_000]));
        }
        assert_eq!(*spent.lock(), [2_000, 2_000], "each has a device of its own");
    }
}
