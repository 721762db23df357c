//! The peer: perftest's own programs, a server and a client on two devices of this host.

use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of a client for each side; each tells one sample.
const RUNS: u32 = 4;

/// How long a server may take to listen, on an emulated processor.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, ended with its side.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Fails when it ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Tells the average time of one message, or of one read.
///
/// # Errors
/// A program is missing, fails, or prints what is not understood.
pub(crate) fn measure(what: &str, operations: u64, bytes: usize) -> io::Result<()> {
    let devices = std::env::var("CHARE_VERBS").unwrap_or_default();
    let devices: Vec<&str> = devices.split(',').filter(|name| !name.is_empty()).collect();
    let device = |node: usize| devices.get(node % devices.len().max(1)).copied();
    let program = if what == "message" { "ib_send_lat" } else { "ib_read_bw" };
    let command = |node: usize| {
        let mut command = Command::new(program);
        // The second entry of a soft-RoCE device's table is that of its IPv4 address.
        command.args(["-F", "-x", "1", "-s", &bytes.to_string(), "-n", &operations.to_string()]);
        command.args(device(node).map(|name| ["-d", name]).into_iter().flatten());
        if what != "message" {
            command.arg("--report_gbits");
        }
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    for _ in 0..RUNS {
        let _server = Server(command(0).stdout(Stdio::null()).spawn()?);
        let deadline = Instant::now() + PATIENCE;
        let said = loop {
            let done = command(1).arg("127.0.0.1").output()?;
            if done.status.success() {
                break String::from_utf8_lossy(&done.stdout).into_owned();
            }
            if Instant::now() > deadline {
                return Err(io::Error::other(format!("{program} does not reach its server")));
            }
        };
        let mut numbers = said.lines().filter_map(|line| {
            line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>()
        });
        let Some(row) = numbers.rfind(|row| row.len() >= 4 && row[0] == bytes as f64) else {
            return Err(io::Error::other(format!("{program} printed no row of figures")));
        };
        // `ib_send_lat` prints microseconds: least, most, typical, average. `ib_read_bw` Gbit/s: peak, average.
        let operation_ns = if what == "message" {
            row.get(5).map_or(f64::NAN, |us| us * 1e3)
        } else {
            bytes as f64 * 8.0 / row[3]
        };
        chare_benches::tell(operation_ns);
    }
    Ok(())
}
