use chare::prelude::*;

fn misuse(mut received: Received<f64>) {
    received[0] = 3.0;
}

fn main() {
    let _ = misuse;
}
