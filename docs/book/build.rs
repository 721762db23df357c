//! Puts the program of the chapter on the ping-pong together: its blocks of code, one after the other, each line under its number in
//! the chapter.

use std::path::PathBuf;
use std::{env, fs};

const CHAPTER: &str = "src/pingpong.md";

fn main() {
    println!("cargo::rerun-if-changed={CHAPTER}");
    let chapter = fs::read_to_string(CHAPTER).expect("the chapter is there");
    let mut program = String::new();
    let mut is_code = false;
    for line in chapter.lines() {
        match line {
            "```rust" => is_code = true,
            "```" => is_code = false,
            code if is_code => program.push_str(code),
            _ => {}
        }
        program.push('\n');
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo says where"));
    fs::write(directory.join("pingpong.rs"), program).expect("there is room for a file");
}
