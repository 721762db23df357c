//! Balancers.

#![allow(unused)]

use chare::{Loads, Moves};

#[chare::balancer]
struct Spread;

#[chare::balancer(needs = positions, edges)]
async unsafe fn everything<T>(loads: &Loads) -> u32 {
    0
}

#[chare::balancer(needs = edges, needs = edges)]
fn twice(loads: &Loads, moves: &mut Moves) {}

#[chare::balancer(=)]
fn nothing(loads: &Loads, moves: &mut Moves) {}

#[chare::balancer]
fn exchanged(moves: &mut Moves, loads: &Loads) {}

fn main() {}
