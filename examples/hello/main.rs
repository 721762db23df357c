//! How does a program of chares look? Every PE greets, and the greetings are counted.
//! Run it with `cargo run --release --example hello -- +n 2 +p 3`: two processes with three PEs each.
use chare::prelude::*;

struct Greeter;

#[chare(group)]
impl Greeter {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn greet(&mut self, done: Callback<u32>) {
        println!("Hello from {} on {}", chare::my_pe(), chare::my_node());
        self.contribute(sum(1), done);
    }
}

fn main() -> std::process::ExitCode {
    chare::run(|arguments| async move {
        if !arguments.is_empty() {
            eprintln!("hello takes no arguments of its own; `+help` lists the options of every program");
            return chare::exit(2);
        }
        let (greetings, done) = chare::future();
        GreeterProxy::create().greet(done);
        let greetings = greetings.await;
        println!("{greetings} of {} PEs said hello", chare::pes());
        chare::exit(i32::from(greetings != chare::pes()));
    })
}
