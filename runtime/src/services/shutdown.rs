//! Requests for the end of a job: the first SIGINT or SIGTERM that any of its processes gets is told to all who wait for it.
//!
//! 1. Node 0 decides what becomes of a signal. The other processes of a job [hold](hold) the two signals before they meet node 0: the first
//!    one does nothing there but tell node 0, when that is met. A launcher or a batch system sends a signal to all.
//! 2. Node 0 hears the signals as soon as somebody in the job waits for a request ([`ask`]). Until then they do there what they would do
//!    without this file; one that came to another node alone ends the job if it would have ended node 0.
//! 3. The first signal is the request, which goes to all nodes once. What comes within [`TOGETHER`] belongs to it. A later one ends the
//!    process that gets it.
//! 4. What the program does about a signal stays: one that it ignores is not heard, and one that it handles as well ends nothing here.
//!    When the job is over in this process, the signals do again what they did before; after a request, [`TOGETHER`] later.

#![expect(
    clippy::disallowed_methods,
    reason = "signals of the process are awaited on a thread of the machine's"
)]

use crate::base::dispositions::{self, Disposition};
use crate::model::envelope::frame;
use crate::model::ids::{NodeId, ServiceId};
use crate::node::{Arrival, Delivery, Node, NodeService};
use crate::pe::Service;
use chare_lrts::clock;
use chare_lrts::codec;
use chare_lrts::events;
use parking_lot::Mutex;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::{emulate_default_handler, signal_name};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

const ID: ServiceId = ServiceId(13);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { state: || Box::new(Requests::default()), arrive, clear: |node| end(requests(node)) },
    ..Service::named(ID, "requests for the end of the job")
};

/// Node that decides.
const HUB: NodeId = NodeId(0);

/// The signals that ask for the end of a job.
const SIGNALS: [Signal; 2] = [Signal::INT, Signal::TERM];

/// Time within which signals are one request: a launcher passes a signal on to processes to which the batch system has sent it as well.
const TOGETHER: Duration = Duration::from_millis(500);

/// Messages between nodes.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Message {
    /// To node 0: somebody waits for a request.
    Ask,
    /// To node 0: a process got this signal.
    Signalled { signal: i32 },
    /// From node 0: the end was requested.
    Requested,
}

/// What a node knows of requests.
#[derive(Default)]
struct Requests {
    /// Whether there was one.
    came: watch::Sender<bool>,
    /// Whether somebody on this node waits for one, or on node 0: in the job. Set once, by any thread; nothing else is ordered by it.
    is_asked: AtomicBool,
    hearing: Mutex<Option<Hearing>>,
}

fn requests(node: &Node) -> &Requests {
    node.state(ID)
}

/// A process's attention to the signals; dropping it ends the thread that waits for them.
struct Hearing {
    handle: Handle,
    _claim: Claim,
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.handle.close();
    }
}

/// Signals of which the first does nothing any more in this process but wait for [`hear`].
pub(crate) struct Held {
    hearing: Hearing,
    audience: Arc<Mutex<Audience>>,
}

/// Who is told of the first signal.
enum Audience {
    /// Nobody yet; the signal that came.
    Nobody(Option<i32>),
    Node(Weak<Node>),
}

/// Nodes of this process that hear the signals, and the signals that would end it otherwise: set when the first of them began.
static HEARING: Mutex<(usize, Vec<i32>)> = Mutex::new((0, Vec::new()));

/// Whether no node of this process hears the signals. Written under the lock of [`HEARING`], read by the handler of a signal, whenever
/// that runs: a signal that comes in the same moment does either.
static IS_UNHEARD: AtomicBool = AtomicBool::new(true);

/// A node's part in [`HEARING`].
struct Claim;

impl Claim {
    fn begin() -> io::Result<Self> {
        let (nodes, ending) = &mut *HEARING.lock();
        for signal in SIGNALS.into_iter().filter(|signal| dispositions::of(*signal).is_none()) {
            // What a library installs stays installed, so that the signal would be lost when nobody hears it any more.
            register_conditional_default(signal.as_raw(), &IS_UNHEARD)?;
            ending.push(signal.as_raw());
        }
        *nodes += 1;
        IS_UNHEARD.store(false, Ordering::SeqCst);
        Ok(Self)
    }

    /// Whether the signal would end the process if nobody heard it.
    fn ends(signal: i32) -> bool {
        HEARING.lock().1.contains(&signal)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let (nodes, _) = &mut *HEARING.lock();
        *nodes -= 1;
        IS_UNHEARD.store(*nodes == 0, Ordering::SeqCst);
    }
}

/// Takes the signals from now on, unless the program ignores them: the first one waits for [`hear`], a later one ends the process, also one
/// that has not met the others yet.
///
/// # Errors
/// When the kernel grants no descriptor or no thread.
pub(crate) fn hold() -> io::Result<Held> {
    let is_heard = |signal: &Signal| dispositions::of(*signal) != Some(Disposition::Ignored);
    let heard: Vec<i32> = SIGNALS.into_iter().filter(is_heard).map(Signal::as_raw).collect();
    let claim = Claim::begin()?;
    let mut signals = Signals::new(heard)?;
    let hearing = Hearing { handle: signals.handle(), _claim: claim };
    let audience = Arc::new(Mutex::new(Audience::Nobody(None)));
    let told = Arc::clone(&audience);
    let listen = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            let now = clock::now();
            let since = now.duration_since(*first.get_or_insert(now));
            if since > TOGETHER && Claim::ends(signal) {
                // It does not return.
                let _ = emulate_default_handler(signal);
            }
            if since.is_zero() {
                let node = match &mut *told.lock() {
                    Audience::Nobody(came) => {
                        *came = Some(signal);
                        None
                    }
                    Audience::Node(node) => node.upgrade(),
                };
                node.inspect(|node| tell(node, signal));
            }
        }
    };
    // Without a thread the signals do what they did before.
    std::thread::Builder::new().name("requests".to_owned()).spawn(listen)?;
    Ok(Held { hearing, audience })
}

/// Begins to hear the signals on behalf of a node, also the one that came since they are held.
pub(crate) fn hear(node: &Arc<Node>, Held { hearing, audience }: Held) {
    *requests(node).hearing.lock() = Some(hearing);
    let told = std::mem::replace(&mut *audience.lock(), Audience::Node(Arc::downgrade(node)));
    if let Audience::Nobody(Some(signal)) = told {
        tell(node, signal);
    }
}

/// Ends the hearing of a node whose job is over. Where the end was requested the signals do nothing for a while: whoever asked sends one to
/// each process, and the job may be over before the last has it.
fn end(requests: &Requests) {
    let hearing = requests.hearing.lock().take();
    if *requests.came.borrow() {
        let linger = move || {
            std::thread::sleep(TOGETHER);
            drop(hearing);
        };
        // Without a thread it is dropped at once.
        let _ = std::thread::Builder::new().name("requests".to_owned()).spawn(linger);
    }
}

/// Sees to it that the job's processes hear the signals; returns where the node learns of a request. On any thread.
pub(crate) fn ask(node: &Arc<Node>) -> watch::Receiver<bool> {
    let requests = requests(node);
    let came = requests.came.subscribe();
    if requests.is_asked.swap(true, Ordering::Relaxed) {
        return came;
    }
    if node.id == HUB {
        let cannot =
            |cause: &io::Error| events::warn(format_args!("SIGINT and SIGTERM are not heard: {cause}"));
        let _ = hold().map(|held| hear(node, held)).inspect_err(cannot);
    } else {
        post(node, HUB, Message::Ask);
    }
    came
}

/// Tells node 0 of a signal that came here.
fn tell(node: &Arc<Node>, signal: i32) {
    if node.id == HUB {
        request(node);
    } else {
        post(node, HUB, Message::Signalled { signal });
    }
}

/// On node 0: tells all nodes of a request, once.
fn request(node: &Node) {
    if !requests(node).came.send_replace(true) {
        (1..node.topology.nodes()).for_each(|other| post(node, NodeId(other), Message::Requested));
    }
}

fn post(node: &Node, to: NodeId, message: Message) {
    let bytes = frame::encode_system(ID, &message).expect("a number encodes");
    node.post(&node.outside, to, bytes);
}

/// Takes a message from another node.
fn arrive(node: &Arc<Node>, arrival: Arrival<'_>) -> Result<Option<Delivery>, String> {
    let message: Message = codec::decode(arrival.said).map_err(|error| error.to_string())?;
    match message {
        Message::Ask if node.id == HUB => drop(ask(node)),
        Message::Signalled { signal } if node.id == HUB => {
            let known = SIGNALS.into_iter().find(|known| known.as_raw() == signal);
            let known = known.ok_or("a signal that asks for no end")?;
            if requests(node).is_asked.load(Ordering::Relaxed) {
                request(node);
            } else if Claim::ends(signal) || dispositions::of(known).is_none() {
                let (name, source) = (signal_name(signal).unwrap_or("a signal"), arrival.source);
                events::warn(format_args!(
                    "chare: {source} got {name}, for which the program does not wait: the job ends"
                ));
                // As shells tell an end by a signal.
                node.exit(128 + signal);
            }
        }
        Message::Requested if arrival.source == HUB => {
            requests(node).came.send_replace(true);
        }
        Message::Ask | Message::Signalled { .. } | Message::Requested => {
            return Err("a word about the job's end that is another node's".to_owned());
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, kill_process};
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    /// Makes a process of this test's file the one that waits.
    const WAITS: &str = "CHARE_TEST_WAITS_FOR_OTHERS";

    /// Nothing, but in the process that the test below starts.
    #[test]
    fn a_process_that_waits_for_others() {
        if std::env::var_os(WAITS).is_none() {
            return;
        }
        let _held = hold().expect("the kernel grants what it needs");
        println!("it holds");
        loop {
            std::thread::park();
        }
    }

    #[test]
    fn a_second_signal_ends_a_process_that_has_not_met_the_others() {
        let program = std::env::current_exe().expect("this test has a file");
        let mut command = Command::new(program);
        command
            .args(["--nocapture", "a_process_that_waits_for_others"])
            .env(WAITS, "")
            .stdout(Stdio::piped());
        let mut waits = command.spawn().expect("it starts");
        let lines = BufReader::new(waits.stdout.take().expect("it is piped")).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.ends_with("it holds")));
        let mut sent = 0;
        let end = loop {
            kill_process(Pid::from_child(&waits), Signal::TERM).expect("it is not waited for");
            sent += 1;
            std::thread::sleep(TOGETHER / 4);
            if let Some(end) = waits.try_wait().expect("it is a child") {
                break end;
            }
            assert!(sent < 100, "it outlives every signal");
        };
        assert!(sent > 1, "the first signal is held");
        assert_eq!(end.signal(), Some(Signal::TERM.as_raw()));
    }
}
