//! Player of schedules: lets operations and messages happen in the order of their moments.
//!
//! 1. At one moment things happen in the order in which they were first planned; what has to wait keeps its place in that order.
//! 2. A message is matched with the first receive of its source and tag that waits for it, or waits for one itself.
//! 3. A send of more than `S` bytes is over when its message is matched, and its host goes on no earlier than then.

use super::super::LogGops;
use super::{Kind, Schedule};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A network interface's two sides, by when they are free.
#[derive(Clone, Copy, Default)]
struct Interface {
    sends: u64,
    receives: u64,
}

/// A send that is on its way or has arrived, or a receive that waits.
#[derive(Clone, Copy)]
struct Waiting {
    host: Option<usize>,
    tag: Option<u32>,
    operation: usize,
}

#[derive(Clone, Default)]
struct Host {
    processors: Vec<u64>,
    interfaces: Vec<Interface>,
    /// Receives without a message, and messages without a receive.
    receives: Vec<Waiting>,
    messages: Vec<Waiting>,
    /// Operations that may begin.
    ready: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Operation { host: usize, operation: usize },
    Message { source: usize, operation: usize },
}

/// A schedule while it is played.
pub(super) struct Player {
    model: LogGops,
    /// The longest message that does not wait for its receiver.
    eager_bytes_max: usize,
    schedule: Schedule,
    hosts: Vec<Host>,
    agenda: BinaryHeap<Reverse<(u64, u64, Happens)>>,
    planned: u64,
    /// How often something happened or had to wait.
    pub(super) events: u64,
}

/// Plays a schedule; returns when the processor of each host was last in use.
pub(super) fn play(model: LogGops, eager_bytes_max: usize, schedule: Schedule) -> Vec<u64> {
    let mut player = Player::new(model, eager_bytes_max, schedule);
    while player.go_on() {}
    let is_left = |host: &Host| host.receives.len() + host.messages.len() > 0;
    assert!(!player.hosts.iter().any(is_left), "every message has a receive");
    player.times()
}

impl Player {
    pub(super) fn new(model: LogGops, eager_bytes_max: usize, schedule: Schedule) -> Self {
        let all = || schedule.0.iter().flatten();
        let processors = all().map(|operation| operation.processor).max().unwrap_or(0) + 1;
        let interfaces = all().map(|operation| operation.interface).max().unwrap_or(0) + 1;
        let host = Host {
            processors: vec![0; processors],
            interfaces: vec![Interface::default(); interfaces],
            ..Host::default()
        };
        let hosts = vec![host; schedule.0.len()];
        let (agenda, planned, events) = (BinaryHeap::new(), 0, 0);
        let mut player = Self { model, eager_bytes_max, schedule, hosts, agenda, planned, events };
        for host in 0..player.hosts.len() {
            let operations = player.schedule.0[host].iter().enumerate();
            player.hosts[host].ready =
                operations.filter(|(_, it)| it.missing == 0).map(|(number, _)| number).collect();
            player.plan_ready(host);
        }
        player
    }

    pub(super) fn times(&self) -> Vec<u64> {
        self.hosts.iter().map(|host| host.processors.iter().copied().max().unwrap_or(0)).collect()
    }

    /// Lets the next thing happen, or wait; returns whether there was any.
    pub(super) fn go_on(&mut self) -> bool {
        let Some(Reverse((now, order, happens))) = self.agenda.pop() else { return false };
        self.events += 1;
        let waits = match happens {
            Happens::Operation { host, operation } => self.begin(now, host, operation),
            Happens::Message { source, operation } => self.arrive(now, source, operation),
        };
        if let Err(until) = waits {
            self.agenda.push(Reverse((until, order, happens)));
        }
        true
    }

    fn begin(&mut self, now: u64, host: usize, number: usize) -> Result<(), u64> {
        let operation = &self.schedule.0[host][number];
        let (kind, at) = (operation.kind, &mut self.hosts[host]);
        let (processor, side) =
            (&mut at.processors[operation.processor], &mut at.interfaces[operation.interface].sends);
        let is_over = match kind {
            Kind::Compute { time_ns } => {
                if *processor > now {
                    return Err(*processor);
                }
                *processor = now + time_ns;
                true
            }
            Kind::Send { bytes, .. } => {
                if (*processor).max(*side) > now {
                    return Err((*processor).max(*side));
                }
                let kept = self.model.sending(bytes);
                *processor = now + kept.processor_ns;
                *side = now + kept.side_ns;
                self.plan(
                    now + self.model.first_byte_ns(),
                    Happens::Message { source: host, operation: number },
                );
                bytes <= self.eager_bytes_max
            }
            Kind::Receive { bytes, source, tag } => {
                let message = take_match(&mut at.messages, source, tag);
                match message {
                    Some(message) if bytes > self.eager_bytes_max => self.release(now, message),
                    Some(_) => {}
                    None => at.receives.push(Waiting { host: source, tag, operation: number }),
                }
                self.free(host, number, |operation| &mut operation.after_begin);
                if message.is_some() {
                    self.free(host, number, |operation| &mut operation.after_end);
                }
                self.plan_freed(host, message);
                return Ok(());
            }
        };
        self.free(host, number, |operation| &mut operation.after_begin);
        if is_over {
            self.free(host, number, |operation| &mut operation.after_end);
        }
        self.plan_ready(host);
        Ok(())
    }

    /// The first byte of a message is there.
    fn arrive(&mut self, now: u64, source: usize, number: usize) -> Result<(), u64> {
        let operation = &self.schedule.0[source][number];
        let Kind::Send { bytes, target, tag } = operation.kind else { unreachable!("what arrives was sent") };
        let at = &mut self.hosts[target];
        let (processor, side) =
            (&mut at.processors[operation.processor], &mut at.interfaces[operation.interface].receives);
        if (*processor).max(*side) > now {
            return Err((*processor).max(*side));
        }
        let kept = self.model.receiving(bytes);
        *processor = now + kept.processor_ns;
        *side = now + kept.side_ns;
        let message = Waiting { host: Some(source), tag: Some(tag), operation: number };
        let Some(receive) = take_match(&mut at.receives, Some(source), Some(tag)) else {
            at.messages.push(message);
            return Ok(());
        };
        let released = (bytes > self.eager_bytes_max).then_some(message);
        if let Some(message) = released {
            self.release(now, message);
        }
        self.free(target, receive.operation, |operation| &mut operation.after_end);
        self.plan_freed(target, released);
        Ok(())
    }

    /// Lets the sender of a long message go on: it is matched.
    fn release(&mut self, now: u64, message: Waiting) {
        let source = message.host.expect("a message has a source");
        let operation = &self.schedule.0[source][message.operation];
        let at = &mut self.hosts[source];
        let (processor, side) =
            (&mut at.processors[operation.processor], &mut at.interfaces[operation.interface].sends);
        *processor = (*processor).max(now);
        *side = (*side).max(now);
        self.free(source, message.operation, |operation| &mut operation.after_end);
    }

    /// Notes those that have waited for this operation and wait for nothing else.
    fn free(&mut self, host: usize, number: usize, list: fn(&mut super::Operation) -> &mut Vec<usize>) {
        let waiting = std::mem::take(list(&mut self.schedule.0[host][number]));
        for later in waiting {
            let operation = &mut self.schedule.0[host][later];
            operation.missing -= 1;
            if operation.missing == 0 {
                self.hosts[host].ready.push(later);
            }
        }
    }

    /// Plans what may begin at a host and at the sender of a message, in the order of hosts.
    fn plan_freed(&mut self, host: usize, message: Option<Waiting>) {
        let other = message.and_then(|message| message.host).unwrap_or(host);
        self.plan_ready(host.min(other));
        self.plan_ready(host.max(other));
    }

    fn plan_ready(&mut self, host: usize) {
        let mut ready = std::mem::take(&mut self.hosts[host].ready);
        ready.sort_by_key(|number| self.schedule.0[host][*number].kind.rank());
        for number in ready {
            let (operation, at) = (&self.schedule.0[host][number], &self.hosts[host]);
            let processor = at.processors[operation.processor];
            let moment = match operation.kind {
                Kind::Send { .. } => processor.max(at.interfaces[operation.interface].sends),
                Kind::Receive { .. } | Kind::Compute { .. } => processor,
            };
            self.plan(moment, Happens::Operation { host, operation: number });
        }
    }

    fn plan(&mut self, moment: u64, happens: Happens) {
        self.agenda.push(Reverse((moment, self.planned, happens)));
        self.planned += 1;
    }
}

/// Takes the first that is of this host and tag.
fn take_match(among: &mut Vec<Waiting>, host: Option<usize>, tag: Option<u32>) -> Option<Waiting> {
    fn fits<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
        one.is_none() || other.is_none() || one == other
    }
    let found = among.iter().position(|it| fits(it.host, host) && fits(it.tag, tag))?;
    Some(among.remove(found))
}
