//! Test node: a program that needs nothing above the bootstrap, for the launcher's tests. Its first argument is its role.

use chare::Config;
use chare::config::Parsed;
use chare::launch::run_here;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::launched::{Control, Launched};
use chare_lrts::bootstrap::single::Single;
use chare_lrts::{LrtsError, NodeId};
use std::io::Write;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let config = match Config::from_arguments(std::env::args_os().skip(1), std::env::vars_os()) {
        Ok(Parsed::Run(config)) => *config,
        Ok(Parsed::Help(table)) => {
            print!("{table}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let arguments: Vec<&str> = config.program_arguments.iter().map(String::as_str).collect();
    if arguments[0] == "absent" && is_first_to_create(arguments[1]) {
        sleep_forever();
    }
    match Launched::from_environment() {
        Ok(Some(launched)) => play(launched, &arguments),
        Ok(None) if config.nodes > 1 => {
            let program = std::env::current_exe().expect("this program has a path");
            run_here(&config, program, std::env::args_os().collect())
        }
        Ok(None) => {
            println!("alone, {} of {}", Single::new().node(), Single::new().nodes());
            ExitCode::SUCCESS
        }
        // The launcher has said why.
        Err(_) => ExitCode::FAILURE,
    }
}

fn play(mut launched: Launched, arguments: &[&str]) -> ExitCode {
    let node = launched.node();
    match arguments {
        ["gather"] => {
            for round in 0..3 {
                exchange(&mut launched, round).expect("all are here");
            }
            let neighbours = launched.take_neighbours().len();
            let (nodes, key) = (launched.nodes(), launched.key().0[0]);
            println!(
                "{node} of {nodes}, {neighbours} neighbours, key {key}, address {:?}",
                launched.host_address()
            );
            finish(&launched.into_control(), 0)
        }
        ["neighbours"] => talk_to_neighbours(launched),
        ["finish", codes @ ..] => {
            exchange(&mut launched, 0).expect("all are here");
            finish(&launched.into_control(), codes[node.index()].parse().expect("a code"))
        }
        ["desert", code] if node.0 == 1 => ExitCode::from(code.parse::<u8>().expect("a code")),
        ["fail"] if node.0 == 1 => {
            launched.into_control().report_failure("it cannot go on");
            ExitCode::from(9)
        }
        ["accuse"] if node.0 == 0 => {
            launched.into_control().report_lost(NodeId(1), "it says nothing");
            ExitCode::FAILURE
        }
        // Leaves the exchange and hears nothing any more.
        ["late"] | ["stubborn"] if node.0 == 1 => sleep_forever(),
        ["stubborn"] => {
            launched.into_control().report_failure("it had enough");
            ExitCode::FAILURE
        }
        ["exchange"] => {
            let broken = (0..).find_map(|round| exchange(&mut launched, round).err());
            // The runtime reports the same: hearsay about the node that made the exchange fail.
            launched.into_control().report_lost(NodeId(0), format!("{broken:?}"));
            ExitCode::FAILURE
        }
        ["lines", count] => print_lines(launched, count.parse().expect("a number")),
        ["inherit"] => inherit(&launched.into_control()),
        ["deaf"] => {
            rustix::stdio::dup2_stdout(std::fs::File::open("/dev/null").expect("it is there"))
                .expect("a duplicate");
            exchange(&mut launched, 0).expect("all are here");
            finish(&launched.into_control(), 0)
        }
        _ => wait_for_abort(launched),
    }
}

/// A round in which each node publishes its number and the round's.
fn exchange(launched: &mut Launched, round: u64) -> Result<(), LrtsError> {
    let value = |node: u32| format!("{node} in {round}").into_bytes();
    let values = launched.all_gather(value(launched.node().0))?;
    let expected: Vec<Vec<u8>> = (0..launched.nodes()).map(value).collect();
    assert_eq!(values, expected);
    Ok(())
}

fn finish(control: &Control, code: u8) -> ExitCode {
    control.finished(code);
    ExitCode::from(code)
}

/// Joins the start-up exchange, says so, and waits for the end of the job.
fn wait_for_abort(mut launched: Launched) -> ExitCode {
    let node = launched.node();
    if exchange(&mut launched, 0).is_err() {
        return ExitCode::FAILURE;
    }
    let control = launched.into_control();
    control.watch(|_| std::process::exit(1)).expect("a thread");
    println!("{node} waits as {}", std::process::id());
    sleep_forever()
}

/// Sends its number to every neighbour and expects theirs.
fn talk_to_neighbours(mut launched: Launched) -> ExitCode {
    let node = launched.node();
    let neighbours = launched.take_neighbours();
    for (_, socket) in &neighbours {
        rustix::net::send(socket, &node.0.to_le_bytes(), rustix::net::SendFlags::NOSIGNAL)
            .expect("a neighbour");
    }
    for (peer, socket) in &neighbours {
        let readable = rustix::event::PollFd::new(socket, rustix::event::PollFlags::IN);
        rustix::event::poll(&mut [readable], None).expect("a neighbour that writes");
        let mut number = [0; 4];
        rustix::net::recv(socket, &mut number, rustix::net::RecvFlags::empty()).expect("a number");
        assert_eq!(u32::from_le_bytes(number), peer.0);
    }
    exchange(&mut launched, 0).expect("all are here");
    println!("{node} heard {} neighbours", neighbours.len());
    finish(&launched.into_control(), 0)
}

/// Prints lines from two threads, in pieces, on both outputs.
fn print_lines(launched: Launched, count: usize) -> ExitCode {
    let node = launched.node().0;
    let print = |mut output: Box<dyn Write>| {
        for line in 0..count {
            // Two writes for a line: others' bytes could come in between.
            for piece in [format!("<{node} {line} "), format!("{}>\n", "x".repeat(line % 200))] {
                output.write_all(piece.as_bytes()).and_then(|()| output.flush()).expect("somebody reads");
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| print(Box::new(std::io::stdout())));
        scope.spawn(|| print(Box::new(std::io::stderr())));
    });
    finish(&launched.into_control(), 0)
}

/// Shows what a child of a node gets: the variable and the open descriptors.
fn inherit(control: &Control) -> ExitCode {
    let script = "echo launch=$CHARE_LAUNCH; ls -l /proc/self/fd | grep -c socket; true";
    let status = Command::new("sh").args(["-c", script]).status().expect("a shell");
    assert!(status.success());
    finish(control, 0)
}

/// Whether this is the first process that asks.
fn is_first_to_create(path: &str) -> bool {
    std::fs::OpenOptions::new().write(true).create_new(true).open(path).is_ok()
}

fn sleep_forever() -> ! {
    loop {
        std::thread::park();
    }
}
