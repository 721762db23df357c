//! What is promised to users, seen from outside: real programs, real processes, bounded time.

mod idle;
mod kill;
mod misuse;
mod run;
mod stats;
