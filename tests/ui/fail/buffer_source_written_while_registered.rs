use chare::prelude::*;
use chare::RegisteredSource;

fn misuse(mut source: RegisteredSource<f64>) {
    source[0] = 3.0;
}

fn main() {
    let _ = misuse;
}
