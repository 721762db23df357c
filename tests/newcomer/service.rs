//! The service, asked by several clients at once while one of its chares panics, and stopped in every way that a user, a launcher or a batch
//! system has.

use chare_tests::{Program, Running};
use rustix::process::{Signal, kill_process};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// A request to the service, over a connection of its own.
fn ask(address: &str, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("it replies in text");
    let (head, body) = reply.split_once("\r\n\r\n").expect("head and body");
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (code, body.trim_end().to_owned())
}

fn start(arguments: &str) -> (Running, String) {
    let mut command = Command::new(Program::example("service").path());
    let service = Running::start(command.args(arguments.split_whitespace()));
    let address =
        service.wait_for("an address", |line| line.strip_prefix("listening on http://").map(str::to_owned));
    (service, address)
}

/// A way to stop the service.
#[derive(Clone, Copy, Debug)]
enum Stop {
    ByHttp,
    /// To the process that was started.
    Signal(Signal),
    /// To each process of the job, as batch systems do.
    ToEach(Signal),
    /// To the last process alone.
    ToLast(Signal),
}

impl Stop {
    fn by(self, service: &Running, address: &str) {
        let processes = || service.family().members().into_iter().filter(|pid| *pid != service.pid());
        let each = |signal| processes().for_each(|pid| kill_process(pid, signal).expect("it runs"));
        match self {
            Self::ByHttp => assert_eq!(ask(address, "POST", "/stop").0, 200),
            Self::Signal(signal) => service.signal(signal),
            Self::ToEach(signal) => each(signal),
            Self::ToLast(signal) => {
                let last = processes().max_by_key(|pid| pid.as_raw_nonzero()).expect("there are two");
                kill_process(last, signal).expect("it runs");
            }
        }
    }
}

const CLIENTS: u64 = 4;
const REQUESTS: u64 = 25;

#[test]
fn a_service_serves_while_a_chare_panics_and_stops_gracefully() {
    for (arguments, stop) in
        [("--room 2 +p 2", Stop::Signal(Signal::TERM)), ("--shelves 3 +n 2", Stop::Signal(Signal::INT))]
    {
        let (service, address) = start(arguments);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let address = address.clone();
                std::thread::spawn(move || {
                    for request in 0..REQUESTS {
                        let path = format!("/words/word{}", (client + request) % 7);
                        assert_eq!(ask(&address, "POST", &path).0, 200);
                        if request % 5 == 0 {
                            let (code, why) = ask(&address, "POST", "/stumble/word1");
                            assert_eq!(code, 500, "{why}");
                            assert!(
                                why.contains("Shelf::stumble") && why.contains("asked to stumble"),
                                "{why}"
                            );
                        }
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        let counts = (0..7).map(|word| ask(&address, "GET", &format!("/words/word{word}")).1);
        let counts = counts.map(|count| count.parse::<u64>().expect("a number"));
        assert_eq!(counts.sum::<u64>(), CLIENTS * REQUESTS, "{arguments}: no count is lost");
        let (code, metrics) = ask(&address, "GET", "/metrics");
        assert_eq!(code, 200);
        for line in [
            "service_requests_total{answer=\"ok\"} 107",
            "service_requests_total{answer=\"failed\"} 20",
            "service_words 7",
            "service_counted_total 100",
            "service_pes 2",
        ] {
            assert!(metrics.lines().any(|one| one == line), "{arguments}: {line}: {metrics}");
        }
        stop.by(&service, &address);
        let outcome = service.end();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.stdout.contains("stopped"), "{outcome:?}");
        assert_eq!(outcome.stderr.matches("asked to stumble").count(), 20, "{outcome:?}");
    }
}

/// A request under way when the service is asked to stop, by every way in which several processes are asked.
#[test]
fn a_service_of_two_processes_answers_what_it_began_and_stops() {
    for stop in [
        Stop::ByHttp,
        Stop::Signal(Signal::TERM),
        Stop::ToEach(Signal::INT),
        Stop::ToEach(Signal::TERM),
        Stop::ToLast(Signal::TERM),
    ] {
        let (service, address) = start("+n 2");
        let mut begun = TcpStream::connect(&address).expect("it listens");
        // The service has the first half of a request, so it waits for the second.
        write!(begun, "POST /words/late HTTP/1.1\r\nHost: {address}\r\n").unwrap();
        assert_eq!(ask(&address, "POST", "/words/early").0, 200, "{stop:?}");
        stop.by(&service, &address);
        write!(begun, "Connection: close\r\n\r\n").unwrap();
        let mut reply = String::new();
        begun.read_to_string(&mut reply).expect("it replies in text");
        assert!(reply.starts_with("HTTP/1.1 200"), "{stop:?}: {reply:?}");
        let outcome = service.end();
        assert_eq!(outcome.code, Some(0), "{stop:?}: {outcome:?}");
        assert!(outcome.stdout.contains("stopped") && outcome.stderr.is_empty(), "{stop:?}: {outcome:?}");
    }
}

#[test]
fn a_service_that_cannot_listen_says_so() {
    let outcome = Program::example("service").run("--listen 256.0.0.1:80 +n 2");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("service: "), "{outcome:?}");
}
