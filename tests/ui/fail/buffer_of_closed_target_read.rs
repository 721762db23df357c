use chare::prelude::*;
use chare::RegisteredTarget;

fn misuse(target: RegisteredTarget<f64>) {
    target.close(Callback::ignore());
    target.read(|elements| println!("{}", elements[0]));
}

fn main() {
    let _ = misuse;
}
