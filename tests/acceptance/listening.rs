//! Places where nodes listen: the interface and the ports that the user chose.

use crate::{probe, run};
use std::net::TcpListener;

#[test]
fn nodes_listen_where_they_are_told() {
    // Both of a pair agree on one end: the lower node listens.
    for options in ["+interface lo +ports 20000-29999", "+interface 127.0.0.1 +ports 20000-29999"] {
        let outcome = run(probe(&format!("lend +n 3 +lrts tcp {options}")));
        assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
    }
}

#[test]
fn a_range_of_ports_that_is_used_up_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let outcome = run(probe(&format!("lend +n 2 +lrts tcp +ports {port}")));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    let said = format!("`+ports {port}-{port}`: none of them is free on 127.0.0.1");
    assert!(outcome.complaint().contains(&said), "{outcome:?}");
}
