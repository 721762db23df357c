//! Creation on demand: a call creates the element that it is for.

use crate::every_path::on_every_path;
use crate::{SHAPES, pes};
use chare::ArrayOptions;
use chare::prelude::*;

struct OnDemand {
    calls: u64,
}

#[chare(array)]
impl OnDemand {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry(create_here)]
    fn call_here(&mut self) {
        self.calls += 1;
    }

    #[entry(create_home)]
    fn call_home(&mut self) {
        self.calls += 1;
    }

    #[entry]
    fn report(&mut self, to: Callback<(u64, PeId)>) {
        to.send((self.calls, chare::my_pe()));
    }

    #[entry]
    fn total(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(sum(vec![1, self.calls]), done);
    }
}

struct Caller {
    array: OnDemandProxy,
}

#[chare(group)]
impl Caller {
    #[entry]
    fn new(array: OnDemandProxy) -> Self {
        Self { array }
    }

    #[entry]
    fn call_here(&mut self, index: u64) {
        self.array.at(index).call_here();
    }

    #[entry]
    fn call_home(&mut self, first: u64, end: u64) {
        (first..end).for_each(|index| self.array.at(index).call_home());
    }
}

#[test]
fn a_call_creates_the_element_that_it_needs_once() {
    on_every_path(&SHAPES, || async {
        let array = OnDemandProxy::create(ArrayOptions::listed([]));
        let callers = CallerProxy::create(array.clone());
        for pe in pes() {
            callers.on(pe).call_here(u64::from(pe.0));
        }
        chare::quiescence().await;
        for pe in pes() {
            let (report, to) = chare::future();
            array.at(u64::from(pe.0)).report(to);
            assert_eq!(report.await, (1, pe));
        }
        // All at once: one element each.
        callers.call_home(0, 50);
        callers.call_here(60);
        chare::quiescence().await;
        let (total, done) = chare::future();
        array.total(done);
        let pes = u64::from(chare::pes());
        assert_eq!(total.await, [51, pes + 51 * pes]);
    });
}

struct Named;

#[chare(array, index = String)]
impl Named {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_here)]
    fn call_here(&mut self, to: Callback<(String, PeId)>) {
        to.send((self.this_index(), chare::my_pe()));
    }

    #[entry(create_home)]
    fn call_home(&mut self, to: Callback<(String, PeId)>) {
        to.send((self.this_index(), chare::my_pe()));
    }
}

#[test]
fn an_index_of_any_length_is_created_on_demand() {
    on_every_path(&SHAPES, || async {
        let array = NamedProxy::create(ArrayOptions::listed([]));
        let name =
            |number: u32| format!("an index that is longer than what stands in a message, number {number}");
        for number in 0..20 {
            let ((here, to_here), (again, to_again)) = (chare::future(), chare::future());
            array.at(name(number)).call_here(to_here);
            array.at(name(number)).call_home(to_again);
            assert_eq!(here.await.0, name(number));
            assert_eq!(again.await.0, name(number));
            let (home, to_home) = chare::future();
            array.at(name(100 + number)).call_home(to_home);
            assert_eq!(home.await.0, name(100 + number));
            let (short, to_short) = chare::future();
            array.at(number.to_string()).call_here(to_short);
            assert_eq!(short.await, (number.to_string(), PeId(0)));
        }
    });
}

/// Ends when it is called, and is created by the next call.
struct Fleeting;

#[chare(array, index = String)]
impl Fleeting {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_here)]
    fn flit(&mut self, to: Callback<String>) {
        to.send(self.this_index());
        chare::destroy();
    }

    #[entry(create_home)]
    fn flit_home(&mut self, to: Callback<String>) {
        to.send(self.this_index());
        chare::destroy();
    }
}

#[test]
fn an_index_of_any_length_is_created_anew_by_a_call_that_its_element_did_not_live_to_see() {
    on_every_path(&SHAPES, || async {
        let array = FleetingProxy::create(ArrayOptions::listed([]));
        let name =
            "an index that is longer than what stands in a message, of one that is gone soon".to_owned();
        let mut flights = Vec::new();
        for _ in 0..10 {
            let [(here, to_here), (home, to_home)] = [chare::future(), chare::future()];
            array.at(name.clone()).flit(to_here);
            array.at(name.clone()).flit_home(to_home);
            flights.extend([here, home]);
        }
        for flight in flights {
            assert_eq!(flight.await, name);
        }
    });
}
