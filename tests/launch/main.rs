//! Launcher tests from outside: real processes, real signals, real ends. Every job has a watchdog, and nothing may be left.

mod endings;
mod harness;
mod output;
mod remote;
mod signals;
mod startup;
