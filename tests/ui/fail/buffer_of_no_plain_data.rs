use chare::prelude::*;
use chare::RegisteredSource;

fn misuse() {
    let names = vec!["a".to_owned()];
    RegisteredSource::register(names);
    let references: Vec<&'static f64> = Vec::new();
    SendBuffer::from(references);
}

fn main() {
    let _ = misuse;
}
