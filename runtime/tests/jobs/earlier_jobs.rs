//! Handles of another job of the same process, an earlier one or one beside: they reach nothing, and their use is refused in words.

use chare::prelude::*;
use chare::{CallOptions, Job, JobHandle};
use std::sync::{Arc, Mutex};

struct Clerk {
    notes: u64,
}

#[chare]
impl Clerk {
    #[entry]
    fn new() -> Self {
        Self { notes: 0 }
    }

    #[entry]
    fn note(&mut self) {
        self.notes += 1;
    }

    #[entry]
    fn notes(&self) -> u64 {
        self.notes
    }
}

struct Cell {
    notes: u64,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self { notes: 0 }
    }

    #[entry]
    fn note(&mut self) {
        self.notes += 1;
    }

    #[entry]
    fn notes(&mut self, total: Callback<u64>) {
        self.contribute(sum(self.notes), total);
    }

    #[entry]
    fn take(&mut self, #[nocopy] data: Received<u8>) {
        self.notes += data.len() as u64;
    }

    #[entry]
    fn note_for(&mut self, section: CellSectionProxy, total: Callback<u64>) {
        self.contribute_to(&section, sum(1u64), total);
    }
}

struct Desk;

#[chare(group)]
impl Desk {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn note(&mut self) {}

    /// Forms a section here.
    #[entry]
    fn form(&mut self, cells: CellProxy, section: Callback<CellSectionProxy>) {
        section.send(cells.section([0, 1]));
    }
}

/// Handles of everything that a job creates.
#[derive(Clone)]
struct Handles {
    clerk: ClerkProxy,
    cells: CellProxy,
    desks: DeskProxy,
    section: CellSectionProxy,
    future: Callback<u64>,
    each: Callback<u64>,
}

/// Creates one of each, in the same order in each job.
async fn create(heard: Arc<Mutex<Vec<u64>>>) -> Handles {
    let last = PeId(chare::pes() - 1);
    let (clerk, cells, desks) = (ClerkProxy::create_on(last), CellProxy::create(4), DeskProxy::create());
    let section = cells.section([0, 1]);
    let (answer, future) = chare::future();
    chare::wait_any(&mut chare::FutureSet::from_iter([answer, clerk.notes()])).await;
    let each = Callback::each(move |value| heard.lock().unwrap().push(value));
    chare::quiescence().await;
    Handles { clerk, cells, desks, section, future, each }
}

/// Uses handles of an earlier job in a later one; returns the later job's result, and what its closure heard.
fn use_later(
    (nodes, pes): (u32, u32),
    body: impl Fn(Handles, Handles) + Send + 'static,
) -> (Result<i32, String>, Vec<u64>) {
    let (kept, heard) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Vec::new())));
    let keep = Arc::clone(&kept);
    let first = Job::in_process(nodes, pes).run(|| async move {
        *keep.lock().unwrap() = Some(create(Arc::default()).await);
    });
    assert_eq!(first.unwrap(), 0);
    let (earlier, hear) = (kept.lock().unwrap().take().unwrap(), Arc::clone(&heard));
    let second = Job::in_process(nodes, pes).run(move || async move {
        let mine = create(hear).await;
        body(earlier, mine.clone());
        // What would wait for ever ends here; what was refused ends the job before.
        let notes = mine.clerk.notes().await;
        chare::quiescence().await;
        let (total, to) = chare::future();
        mine.cells.notes(to);
        assert_eq!((notes, total.await), (0, 0), "nothing of this job was reached");
    });
    let heard = heard.lock().unwrap().clone();
    (second.map_err(|error| error.to_string()), heard)
}

fn expect_refusal(use_it: impl Fn(Handles, Handles) + Send + Copy + 'static, part: &str) {
    for shape in [(1, 1), (1, 2), (2, 1)] {
        let (result, _) = use_later(shape, use_it);
        let text = result.expect_err(part);
        assert!(text.contains("of an earlier job") && text.contains(part), "{shape:?}: {text}");
    }
}

#[test]
fn a_proxy_of_an_earlier_job_is_refused() {
    expect_refusal(|earlier, _| earlier.clerk.note(), "Clerk::note");
    expect_refusal(|earlier, _| earlier.cells.at(1).note(), "Cell::note");
    expect_refusal(|earlier, _| earlier.cells.note(), "Cell::note");
    expect_refusal(|earlier, _| earlier.desks.note(), "Desk::note");
    expect_refusal(|earlier, _| earlier.desks.local().note(), "Desk::note");
    expect_refusal(|earlier, _| earlier.section.note(), "Cell::note");
    expect_refusal(|earlier, mine| mine.cells.note_for(earlier.section, Callback::ignore()), "section");
    expect_refusal(|earlier, _| earlier.section.dissolve(), "section");
    expect_refusal(|earlier, _| earlier.cells.at(9).insert(), "Cell");
    expect_refusal(|earlier, mine| mine.clerk.with(CallOptions::new().after(&earlier.desks)).note(), "Clerk");
}

#[test]
fn a_callback_of_an_earlier_job_is_refused() {
    expect_refusal(|earlier, _| earlier.clerk.note_callback().send(()), "Clerk::note");
    expect_refusal(|earlier, _| earlier.cells.note_callback().send(()), "Cell::note");
    expect_refusal(|earlier, _| earlier.section.note_callback().send(()), "Cell::note");
}

#[test]
fn a_future_of_an_earlier_job_has_nobody_who_waits() {
    for shape in [(1, 1), (1, 2), (2, 1)] {
        let (result, heard) = use_later(shape, |earlier, mine| {
            earlier.future.send(1);
            earlier.each.send(2);
            mine.each.send(3);
        });
        assert_eq!((result, heard), (Ok(0), vec![3]), "{shape:?}");
    }
}

#[test]
fn a_section_of_a_pe_that_only_the_earlier_job_had_is_refused() {
    for shape in [(1, 2), (2, 1)] {
        let (formed, keep) = (Arc::new(Mutex::new(None)), Arc::default());
        let kept = Arc::clone(&formed);
        let first = Job::in_process(shape.0, shape.1).run(move || async move {
            let Handles { cells, desks, .. } = create(keep).await;
            let (section, to) = chare::future();
            desks.on(PeId(1)).form(cells, to);
            *kept.lock().unwrap() = Some(section.await);
        });
        assert_eq!(first.unwrap(), 0);
        for len in [10, 1 << 20] {
            let section: CellSectionProxy = formed.lock().unwrap().clone().expect("it was formed");
            let second = Job::in_process(1, 1).run(move || async move { section.take(vec![1_u8; len]) });
            let refused = second.expect_err("there is no such PE").to_string();
            assert!(refused.contains("there is no PE 1") && refused.contains("Cell::take"), "{refused}");
        }
    }
}

/// Begins a job, and what it is to have.
fn begin((nodes, pes): (u32, u32)) -> (JobHandle, Handles) {
    let job = Job::in_process(nodes, pes).start().expect("the job starts");
    let handles = job.run(|| create(Arc::default())).wait().expect("the job goes on");
    (job, handles)
}

/// Uses handles of `others` in a job.
fn use_in(job: &JobHandle, others: Handles, use_it: impl FnOnce(Handles) + Send + 'static) -> String {
    // The job may be over before the answer.
    let _ = job.run(move || async move { use_it(others) }).wait();
    job.join().expect_err("what is another job's is refused").to_string()
}

#[test]
fn jobs_side_by_side_share_nothing() {
    for shape in [(1, 1), (1, 2), (2, 1)] {
        let ((one, ones), (two, twos)) = (begin(shape), begin(shape));
        let (third, thirds) = begin(shape);
        let refused = use_in(&one, twos.clone(), |others| others.clerk.note());
        assert!(
            refused.contains("of another job of this process") && refused.contains("Clerk::note"),
            "{refused}"
        );
        let refused = use_in(&third, ones.clone(), |others| others.cells.at(1).note());
        assert!(refused.contains("of an earlier job of this process"), "{refused}");
        drop(thirds);
        let notes = two
            .run(move || async move {
                ones.future.send(1);
                ones.each.send(1);
                let (total, to) = chare::future();
                twos.cells.notes(to);
                chare::quiescence().await;
                (twos.clerk.notes().await, total.await)
            })
            .wait();
        assert_eq!(notes, Ok((0, 0)), "{shape:?}: nothing of this job was reached");
        two.shut_down(0);
        assert_eq!(two.join().unwrap(), 0);
    }
}
