//! The program of the chapter on the ping-pong, `src/pingpong.md`.

include!(concat!(env!("OUT_DIR"), "/pingpong.rs"));
