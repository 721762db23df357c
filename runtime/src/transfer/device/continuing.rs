//! Continuations: work that goes on when a stream is that far, such as the end of a loan, when no stream uses the buffer any more.

use crate::model::nocopy::Release;
use crate::node::Node;
use crate::transfer::take::gathering::Failure;
use chare_device::{Device, DeviceBuffer, DeviceError, Stream, Uses};
use std::sync::Arc;

/// Has a PE of this node go on when a stream has done all that it was given so far, or its device is lost: with what the device says. If it
/// does not take the order, the work goes on at once, with the error. Nobody waits; until then it counts as a message on its way.
pub(crate) fn continue_later(
    node: &Arc<Node>,
    stream: &Stream,
    work: impl FnOnce(&Arc<Node>, Result<(), DeviceError>) + Send + 'static,
) {
    node.outside.sent.add_shared(1);
    // The stream's thread must not ask the device; the event says later whether it was lost.
    let event = match stream.record() {
        Ok(event) => event,
        Err(cause) => {
            work(node, Err(cause));
            return node.outside.processed.add_shared(1);
        }
    };
    let go_on = move |node: &Arc<Node>, asked: Result<(), DeviceError>| {
        work(node, asked.and_then(|()| event.is_complete().map(drop)));
        node.outside.processed.add_shared(1);
    };
    let token = node.devices.awaited.give_out(Box::new(go_on));
    // A stream may outlive the job, and its thread must not be the one that drops the node's devices: it has a number.
    let reports = Arc::clone(&node.reports);
    if let Err(cause) = stream.call(move || reports.leave(token))
        && let Some(go_on) = node.devices.awaited.take_back(token)
    {
        go_on(node, Err(cause));
    }
}

/// The buffer as its receiver gets it: with a release, a loan whose end drops the release, when all streams are past what they were given
/// with it. Until then it counts as a message on its way.
pub(super) fn lend(
    node: &Arc<Node>,
    buffer: DeviceBuffer<u8>,
    release: Option<Arc<Release>>,
) -> DeviceBuffer<u8> {
    let Some(release) = release else { return buffer };
    let device = buffer.device().clone();
    buffer.lent(past_uses(node, device, release))
}

/// The end of a loan: drops the release when all streams are past the uses that are left.
pub(super) fn past_uses(
    node: &Arc<Node>,
    device: Device,
    release: Arc<Release>,
) -> impl FnOnce(Uses) + Send + Sync + 'static {
    let node = Arc::downgrade(node);
    move |uses: Uses| {
        let Some(node) = node.upgrade().filter(|node| !node.has_ended()) else { return };
        let held = node.devices.held(&device).expect("what is lent is of a device of the node");
        if let Err(cause) = uses.before(&held.streams.ends) {
            return not_past(&node, &release, cause);
        }
        continue_later(&node, &held.streams.ends, move |node, passed| {
            if let Err(cause) = passed {
                not_past(node, &release, cause);
            }
            // A stream that is asked whether it is past a use lets go of the memory: nobody else may ask.
            let _ = uses.are_over();
            drop((uses, release));
        });
    }
}

/// Ends the job, unless the transfer says itself that the device is lost, which uses no memory any more.
fn not_past(node: &Node, release: &Release, cause: DeviceError) {
    if release.whose().is_none() && cause.is_lost() {
        return;
    }
    let whose = release.whose().unwrap_or("whoever registered it");
    Failure::Device(cause).end(node, format!("handing a device buffer back to {whose}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::pe::Pe;
    use chare_device::{Priority, Software};
    use std::sync::mpsc::{Sender, channel};

    /// Says that it is dropped.
    struct Dropped(Sender<()>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    /// The job ends while a stream stands still: what waits for the stream, which holds on to the node, goes with the job.
    #[test]
    fn a_stream_that_goes_on_when_the_job_is_over_has_nothing_to_drop() {
        let stream = Software::default().open().stream(Priority::Normal).expect("it has streams");
        let ((open, opened), (drops, dropped), (past, passed)) = (channel::<()>(), channel(), channel());
        stream.call(move || opened.recv().expect("it is opened")).expect("it takes orders");
        let waiting = stream.clone();
        let code = Job::in_process(1, 1).run(move || {
            Pe::current(|pe| {
                let (held, dropped) = (Arc::clone(&pe.node), Dropped(drops));
                continue_later(&pe.node, &waiting, move |_, _| drop((held, dropped)));
            });
            // It would not end by itself before.
            async { crate::exit(0) }
        });
        assert_eq!(code.expect("the job runs"), 0);
        dropped.try_recv().expect("it has gone with the job");
        open.send(()).expect("the stream waits for it");
        stream.call(move || past.send(()).expect("somebody waits")).expect("it takes orders");
        passed.recv().expect("the number of what is gone harms nobody");
    }
}
