//! Output of nodes: gathered into whole lines on their host, written by a thread of its own where the user sits.
//!
//! 1. Lines of different nodes never mix. A line longer than [`LINE_BYTES_MAX`] travels in pieces, and a last line
//!    without an end gets one.
//! 2. A node that writes waits for credit (see `message`). The launcher never waits for a reader: the printing thread does.
//! 3. Descendants that have left a node's process group may keep its output open for as long as they like. Their output is forwarded as
//!    long as they print: after the node's end, an output that is silent for [`QUIET`] is over.

#![expect(clippy::disallowed_methods, reason = "prints beside the launcher, on a thread of the machine's")]

use super::message::{CREDIT_BYTES, FromAgent, Stream};
use chare_lrts::NodeId;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::mpsc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, oneshot, watch};

/// The longest line that is kept together.
const LINE_BYTES_MAX: usize = 64 << 10;

/// How long an output may be silent after its node's end.
const QUIET: Duration = Duration::from_secs(1);

/// Reads one output of a node to its end and sends whole lines on.
pub(super) async fn forward(
    mut output: impl AsyncRead + Unpin,
    (node, stream): (NodeId, Stream),
    mut ended: watch::Receiver<bool>,
    credit: Rc<Semaphore>,
    events: UnboundedSender<FromAgent>,
) {
    let mut text = Vec::new();
    loop {
        let read = tokio::select! {
            // An output that breaks is over: only its writer could be told, and the kernel tells it.
            read = output.read_buf(&mut text) => read.unwrap_or(0),
            () = quiet_after(&mut ended) => 0,
        };
        if read == 0 && !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let whole = match text.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => last + 1,
            None if text.len() >= LINE_BYTES_MAX => text.len(),
            None => 0,
        };
        let rest = text.split_off(whole);
        for bytes in std::mem::replace(&mut text, rest).chunks(CREDIT_BYTES / 4) {
            // At most a quarter of the credit, so the length fits the type. Closed: nobody waits for output any more.
            let Ok(lent) = credit.acquire_many(bytes.len() as u32).await else { return };
            lent.forget();
            if events.send(FromAgent::Output { node, stream, bytes: bytes.to_vec() }).is_err() {
                return;
            }
        }
        if read == 0 {
            return;
        }
    }
}

async fn quiet_after(ended: &mut watch::Receiver<bool>) {
    // An error means that the node's keeper is gone and will never report the end: the end is now.
    let _ = ended.wait_for(|ended| *ended).await;
    tokio::time::sleep(QUIET).await;
}

/// Something to print.
pub(super) enum Print {
    /// Output of a node of a host.
    Node { host: usize, node: NodeId, bytes: Vec<u8> },
    /// A line of the launcher's own.
    Own(String),
}

/// A thread that writes to one of the launcher's outputs.
pub(super) struct Printer {
    prints: mpsc::Sender<Print>,
    done: oneshot::Receiver<()>,
}

impl Printer {
    /// Starts the thread. It calls `taken` with a host and the number of the host's bytes that are off; it calls `broke`, once, when the
    /// output takes no more, and throws everything away from then on.
    pub(super) fn start(
        mut output: impl Write + Send + 'static,
        has_prefix: bool,
        taken: impl Fn(usize, usize) + Send + 'static,
        broke: impl FnOnce(io::Error) + Send + 'static,
    ) -> io::Result<Self> {
        let (prints, to_print) = mpsc::channel();
        let (finished, done) = oneshot::channel();
        std::thread::Builder::new().name("chare-print".into()).spawn(move || {
            let mut broke = Some(broke);
            for print in to_print {
                let text = match &print {
                    Print::Node { node, bytes, .. } if has_prefix => prefixed(*node, bytes),
                    Print::Node { bytes, .. } => bytes.clone(),
                    Print::Own(line) => format!("{line}\n").into_bytes(),
                };
                if broke.is_some()
                    && let Err(cause) = output.write_all(&text).and_then(|()| output.flush())
                    && let Some(broke) = broke.take()
                {
                    broke(cause);
                }
                if let Print::Node { host, bytes, .. } = print {
                    taken(host, bytes.len());
                }
            }
            // If sending fails, nobody waits any more.
            let _ = finished.send(());
        })?;
        Ok(Self { prints, done })
    }

    pub(super) fn print(&self, print: Print) {
        // The thread ends only after this sender.
        let _ = self.prints.send(print);
    }

    /// Waits until everything is printed, but no longer than `patience`.
    pub(super) async fn finish(self, patience: Option<Duration>) {
        drop(self.prints);
        match patience {
            Some(patience) => drop(tokio::time::timeout(patience, self.done).await),
            None => drop(self.done.await),
        }
    }
}

fn prefixed(node: NodeId, bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len() + 64);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        text.extend_from_slice(format!("[{}] ", node.0).as_bytes());
        text.extend_from_slice(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that arrive of `pieces`, each written after the one before was taken.
    fn lines_of(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (said, mut hears) = tokio::sync::mpsc::unbounded_channel();
            let (_ended, ends) = watch::channel(false);
            let (reader, mut writer) = tokio::io::duplex(1);
            let credit = Rc::new(Semaphore::new(CREDIT_BYTES));
            let forward = forward(reader, (NodeId(3), Stream::Output), ends, credit, said);
            let write = async {
                for piece in pieces {
                    tokio::io::AsyncWriteExt::write_all(&mut writer, piece).await.unwrap();
                }
                // Dropping one end of this pipe does not tell the other.
                tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
            };
            tokio::join!(forward, write);
            let mut lines = Vec::new();
            while let Some(FromAgent::Output { bytes, .. }) = hears.recv().await {
                lines.push(bytes);
            }
            lines
        })
    }

    #[test]
    fn lines_stay_whole_and_the_last_one_gets_its_end() {
        assert_eq!(lines_of(&[b"one\ntw", b"o\nthree"]), [&b"one\n"[..], b"two\n", b"three\n"]);
        assert!(lines_of(&[]).is_empty());
    }

    #[test]
    fn an_endless_line_travels_in_pieces() {
        let line = vec![b'x'; LINE_BYTES_MAX + 1];
        let lengths: Vec<usize> = lines_of(&[&line]).iter().map(Vec::len).collect();
        assert_eq!(lengths, [LINE_BYTES_MAX, 2]);
    }

    #[test]
    fn every_line_gets_the_prefix() {
        assert_eq!(prefixed(NodeId(3), b"a\n\nb"), b"[3] a\n[3] \n[3] b");
    }
}
