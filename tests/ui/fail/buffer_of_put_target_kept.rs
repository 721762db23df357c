use chare::prelude::*;
use chare::RegisteredTarget;

fn misuse(target: RegisteredTarget<f64>) {
    let mut kept: &[f64] = &[];
    target.read(|elements| kept = elements);
    println!("{}", kept[0]);
}

fn main() {
    let _ = misuse;
}
