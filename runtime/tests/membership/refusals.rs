//! Refusals: impossible operations end the job with an error that names the element.

use crate::bound::ShadowProxy;
use crate::{AccountProxy, ClerkProxy};
use chare::prelude::*;
use chare::{ArrayOptions, Job};

/// The error of a job that ends because of `main`, in one process of two PEs and in two of one.
fn failures<Fut>(main: impl Fn() -> Fut + Send + Clone + 'static) -> Vec<String>
where
    Fut: Future<Output = ()> + 'static,
{
    let fail = |(nodes, pes)| {
        let main = main.clone();
        let result = Job::in_process(nodes, pes).run(move || async move {
            main().await;
            chare::future::<()>().0.await;
        });
        result.unwrap_err().to_string()
    };
    [(1, 2), (2, 1)].map(fail).into()
}

fn expect(failures: Vec<String>, parts: &[&str]) {
    for text in failures {
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} in: {text}");
    }
}

#[test]
fn what_cannot_be_names_the_element() {
    let twice = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 2)).insert(0);
        accounts.at((1, 2)).insert_on(PeId(1), 0);
    });
    expect(twice, &["member (1, 2) of", "Account", "already"]);
    let twice_elsewhere = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 2)).insert_on(PeId(0), 0);
        chare::quiescence().await;
        accounts.at((1, 2)).insert_on(PeId(1), 0);
    });
    expect(twice_elsewhere, &["member (1, 2) of", "already"]);
    let never = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 2)).add(5);
        accounts.at((1, 1)).insert(0);
        accounts.done_inserting();
    });
    expect(never, &["Account::add", "(1, 2)", "inserted"]);
    let late = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.done_inserting();
        accounts.at((1, 2)).insert(0);
    });
    expect(late, &["member (1, 2) of", "done_inserting"]);
    let fixed = failures(|| async { AccountProxy::create((2, 2), 0).at((2, 2)).insert(0) });
    expect(fixed, &["member (2, 2) of", "not dynamic"]);
    let destroyed = failures(|| async {
        let accounts = AccountProxy::create((2, 2), 0);
        accounts.at((1, 1)).destroy();
        chare::quiescence().await;
        accounts.at((1, 1)).add(1);
    });
    expect(destroyed, &["Account::add", "member (1, 1)", "destroyed"]);
    let ended = failures(|| async {
        let accounts = AccountProxy::create((2, 2), 0);
        accounts.destroy();
        chare::quiescence().await;
        accounts.at((1, 1)).add(1);
    });
    expect(ended, &["Account::add", "member (1, 1) of", "has ended", "destroyed before"]);
    let nobodys = failures(|| async {
        let accounts = AccountProxy::create((2, 0), 0);
        // What is bound to nobody is nobody's, too; others of the same PE come behind it.
        let shadows = ShadowProxy::create(ArrayOptions::new((2, 0)).bind_to(&accounts), accounts.clone());
        chare::quiescence().await;
        shadows.at((1, 1)).look(Callback::ignore());
    });
    expect(nobodys, &["Shadow::look", "member (1, 1) of", "has ended"]);
    let nobodys_awaited = failures(|| async {
        let (created, callback) = chare::future();
        let accounts = AccountProxy::create(ArrayOptions::new((2, 0)).created(callback), 0);
        created.await;
        chare::quiescence().await;
        ShadowProxy::create(ArrayOptions::new((2, 0)).bind_to(&accounts), accounts.clone());
        chare::quiescence().await;
        let (heard, count) = chare::future();
        accounts.with(chare::CallOptions::new().heard(count)).add(1);
        assert_eq!(heard.await, 0);
        accounts.at((1, 1)).add(1);
    });
    expect(nobodys_awaited, &["Account::add", "member (1, 1) of", "has ended"]);
    let inserted_late = failures(|| async {
        let accounts = AccountProxy::create((2, 2), 0);
        accounts.destroy();
        chare::quiescence().await;
        accounts.at((1, 1)).insert(0);
    });
    expect(inserted_late, &["inserting a member of", "Account", "has ended"]);
    let ended_dynamic = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 1)).insert_on(PeId(1), 0);
        accounts.done_inserting();
        accounts.at((1, 1)).destroy();
        chare::quiescence().await;
        accounts.at((1, 1)).add(1);
    });
    expect(ended_dynamic, &["Account::add", "member (1, 1) of", "has ended"]);
    let bound_late = failures(|| async {
        let accounts = AccountProxy::create((2, 2), 0);
        accounts.destroy();
        chare::quiescence().await;
        ShadowProxy::create(ArrayOptions::new((2, 2)).bind_to(&accounts), accounts.clone());
    });
    expect(bound_late, &["creating", "Shadow", "has ended"]);
    let group = failures(|| async {
        let clerks = ClerkProxy::create(AccountProxy::create((2, 2), 0));
        clerks.destroy();
        chare::quiescence().await;
        clerks.on(PeId(1)).insert((5, 5), 0);
    });
    expect(group, &["Clerk::insert", "member 1 of", "has ended"]);
    let apart = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let shadows = ShadowProxy::create_empty(ArrayOptions::empty().bind_to(&accounts));
        accounts.at((1, 1)).insert_on(PeId(0), 0);
        chare::quiescence().await;
        shadows.at((1, 1)).insert_on(PeId(1), accounts.clone());
    });
    expect(apart, &["member (1, 1) of", "bound", "PE 0"]);
}
