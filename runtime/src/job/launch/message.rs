//! Messages between the launcher and the agent of a host, and their encoding for a remote shell's pipes.
//!
//! 1. An agent first sends `Ready`, then waits for `Start`, then starts its nodes. It ends after `Done`, which it sends when all nodes
//!    have ended and their output is on its way.
//! 2. Exactly one `Exited` comes for each node that `Start` names, after everything that the node itself sent.
//! 3. Output is sent against credit: at most [`CREDIT_BYTES`] of it are under way per host until `Taken` gives credit back, so that a
//!    reader who stops reading stops the nodes that write, and nothing else.
//! 4. Over pipes, each message is its length in four bytes (little endian) and its encoding; no message is longer than
//!    [`FRAME_BYTES_MAX`]. The launcher's own host needs no pipes: the same messages pass through a channel.

use super::exit::Exit;
use chare_lrts::NodeId;
use chare_lrts::bootstrap::control::FromNode;
use chare_lrts::codec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// The longest message in bytes: Linux lets no command line with its environment be longer than some 2 MiB.
pub(super) const FRAME_BYTES_MAX: usize = 4 << 20;

/// The most output of one host that waits for the terminal, in bytes.
pub(super) const CREDIT_BYTES: usize = 1 << 20;

/// The greeting of an agent: it says that this is an agent, and which messages its build understands.
pub(super) const GREETING: &str = concat!("chare agent ", env!("CARGO_PKG_VERSION"), " protocol 3");

/// A message from the launcher.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ToAgent {
    /// Start these nodes.
    Start(Start),
    /// Values of a round of the start-up exchange, for every node of the host.
    Gathered { round: u64, first: u32, values: Vec<Vec<u8>> },
    /// Pass a signal on.
    Signal(i32),
    /// So many bytes of output were printed.
    Taken { bytes: usize },
    /// End all nodes, with force where it must be.
    Abort { message: String },
}

/// A message from an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum FromAgent {
    /// The agent runs.
    Ready { greeting: String },
    /// A node process runs.
    Started { node: NodeId, pid: u32 },
    /// A node sent a message.
    Said { node: NodeId, message: FromNode },
    /// A node broke the rules of the protocol.
    Broke { node: NodeId, message: String },
    /// A node printed whole lines.
    Output { node: NodeId, stream: Stream, bytes: Vec<u8> },
    /// A node's process was stopped by this signal, or goes on.
    Stopped { node: NodeId, signal: Option<i32> },
    /// A node ended.
    Exited { node: NodeId, exit: Exit },
    /// All nodes have ended.
    Done,
}

/// The nodes that a host is to run, and their program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// The host's first node; the others follow it.
    pub(super) first: u32,
    /// The number of nodes that the host runs.
    pub(super) count: u32,
    /// The number of nodes that the job has.
    pub(super) nodes: u32,
    /// The job's secret.
    pub(super) key: [u8; 32],
    /// How long nodes may wait for each other at start-up, in milliseconds.
    pub(super) patience_ms: u64,
    /// The program to run.
    pub(super) program: Program,
}

/// The program of a node, in bytes: neither paths nor arguments need be text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Program {
    /// The file, looked up in `PATH` if it has no slash.
    pub(super) file: Vec<u8>,
    /// The name it is called by (`argv[0]`), then its arguments.
    pub(super) argv: Vec<Vec<u8>>,
    /// Variables to set beyond those that the agent has itself.
    pub(super) environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// The directory to run it in; `None`: the agent's.
    pub(super) directory: Option<Vec<u8>>,
    /// Whether node 0 inherits the agent's standard input.
    pub(super) inherits_input: bool,
}

/// One of a node's two outputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Stream {
    Output,
    Error,
}

/// Writes one message and flushes it.
pub(super) fn write_message<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    let mut frame = vec![0; 4];
    codec::encode_into(message, &mut frame).map_err(|cause| invalid(cause.to_string()))?;
    let encoded = frame.len() - 4;
    let length = u32::try_from(encoded).ok().filter(|length| *length as usize <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| invalid(format!("a message of {encoded} bytes is too long")))?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one message; `None` at the end of the stream.
pub(super) fn read_message<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read(&mut length[..1]) {
        Ok(0) => return Ok(None),
        Err(cause) if cause.kind() == io::ErrorKind::Interrupted => return read_message(from),
        Ok(_) => {}
        Err(cause) => return Err(cause),
    }
    from.read_exact(&mut length[1..])?;
    let announced = u32::from_le_bytes(length) as usize;
    if announced > FRAME_BYTES_MAX {
        return Err(invalid(format!("it begins with {:?}", String::from_utf8_lossy(&length))));
    }
    let mut frame = vec![0; announced];
    from.read_exact(&mut frame)?;
    codec::decode(&frame).map(Some).map_err(|cause| invalid(cause.to_string()))
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_pipe_and_its_end_is_no_message() {
        let said = FromAgent::Output { node: NodeId(2), stream: Stream::Error, bytes: vec![7; 40_000] };
        let mut pipe = Vec::new();
        write_message(&mut pipe, &said).unwrap();
        write_message(&mut pipe, &FromAgent::Done).unwrap();
        let mut pipe = pipe.as_slice();
        assert_eq!(read_message(&mut pipe).unwrap(), Some(said));
        assert_eq!(read_message(&mut pipe).unwrap(), Some(FromAgent::Done));
        assert_eq!(read_message::<FromAgent>(&mut pipe).unwrap(), None);
    }

    #[test]
    fn strangers_on_the_pipe_are_errors() {
        let strangers: [&[u8]; 5] = [
            b"Welcome to host b!\n",
            &[5, 0],
            &[2, 0, 0, 0, 1, 1],
            &[4, 0, 0, 0, 99, 0, 0, 0],
            &[5, 0, 0, 0, 6, 0, 0, 0, 9],
        ];
        for mut pipe in strangers {
            assert!(read_message::<FromAgent>(&mut pipe).is_err(), "{pipe:?}");
        }
    }
}
