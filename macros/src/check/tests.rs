//! Tests of the checks: the chare that a block means; its errors come all at once and none twice.

use super::*;
use crate::ast::{Moment, Passing};
use crate::parse::parse;
use quote::{ToTokens, quote};

fn check_block(
    options: proc_macro2::TokenStream,
    items: proc_macro2::TokenStream,
) -> (Option<Chare>, Vec<String>) {
    let mut errors = Errors::default();
    let block = parse(options, quote!(impl Cell { #items }), &mut errors).expect("an impl block");
    let chare = check(&block, &mut errors);
    (chare, errors.messages())
}

/// A block with a sound constructor.
fn check_with_constructor(items: proc_macro2::TokenStream) -> (Chare, Vec<String>) {
    let (chare, messages) = check_block(
        quote!(array),
        quote! {
            #[entry] fn new() -> Self { Self }
            #items
        },
    );
    (chare.expect("a sound constructor"), messages)
}

#[test]
fn a_sound_block_means_a_chare() {
    let (chare, messages) = check_with_constructor(quote! {
        const WIDTH: usize = 3;
        #[entry(expedited)] pub fn step(&mut self, side: u8, #[nocopy(post)] row: Posted<f64>) {}
        #[post(step)] fn give(&mut self, side: &u8, row: Post<f64>) {}
        #[entry(priority = -2147483648)] async fn run(this: This<Self>) {}
        fn helper(&self) {}
    });
    assert!(messages.is_empty(), "{messages:?}");
    assert_eq!(chare.kind, Kind::Array);
    assert_eq!(chare.name, "Cell");
    let [step, run] = &*chare.entries else { panic!("{:?}", chare.entries) };
    assert!(step.options.expedited && !step.is_async);
    assert_eq!(step.post.as_ref().unwrap(), "give");
    let passings: Vec<Passing> = step.parameters.list.iter().map(|parameter| parameter.passing).collect();
    assert_eq!(passings, [Passing::Regular, Passing::Posted]);
    assert_eq!(run.options.priority, Some(i32::MIN));
    assert!(run.is_async && run.parameters.list.is_empty());
}

#[test]
fn every_kind_has_its_word_and_none_means_a_single_chare() {
    let constructor = quote!(
        #[entry]
        fn new() -> Cell {
            Cell
        }
    );
    for (options, kind) in [
        (quote!(), Kind::Singleton),
        (quote!(array), Kind::Array),
        (quote!(group), Kind::Group),
        (quote!(nodegroup), Kind::NodeGroup),
    ] {
        let (chare, messages) = check_block(options, constructor.clone());
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!(chare.unwrap().kind, kind);
    }
}

#[test]
fn a_policy_for_panics_is_one_of_three_words() {
    let constructor = quote!(
        #[entry]
        fn new() -> Cell {
            Cell
        }
    );
    for (options, policy) in [
        (quote!(), OnPanic::End),
        (quote!(on_panic = end), OnPanic::End),
        (quote!(array, on_panic = answer), OnPanic::Answer),
        (quote!(on_panic = renew, array, index = u32), OnPanic::Renew),
    ] {
        let (chare, messages) = check_block(options, constructor.clone());
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!(chare.unwrap().on_panic, policy);
    }
    for (options, message) in [
        (quote!(on_panic = ignore), "`ignore` is nothing that may follow"),
        (quote!(on_panic = "answer"), "`\"answer\"` is nothing that may follow"),
        (quote!(on_panic = answer, on_panic = renew), "`on_panic` is given twice"),
    ] {
        let (_, messages) = check_block(options, constructor.clone());
        assert!(messages.len() == 1 && messages[0].contains(message), "{messages:?}");
    }
}

/// What an array means that migrates, or does not, with these items.
fn check_moving(options: proc_macro2::TokenStream, items: proc_macro2::TokenStream) -> (Chare, Vec<String>) {
    let (chare, messages) = check_block(
        options,
        quote! {
            #[entry] fn new() -> Self { Self }
            #items
        },
    );
    (chare.expect("a sound constructor"), messages)
}

#[test]
fn a_chare_that_migrates_has_hooks() {
    let (chare, messages) = check_moving(
        quote!(array, migrate, on_panic = renew, index = (u32, u32)),
        quote! {
            #[about_to_move] fn pack(&mut self) {}
            #[chare::moved] fn unpack(&mut self, from: chare::PeId) {}
            #[load] fn work(&self) -> f64 { 1.0 }
            #[position] #[cfg(a)] fn place(&self) -> [f64; WIDTH] { [0.0; WIDTH] }
        },
    );
    assert!(messages.is_empty(), "{messages:?}");
    let hooks = chare.hooks.expect("it migrates");
    let named: Vec<String> = hooks.iter().map(|hook| hook.method.to_string()).collect();
    assert_eq!(named, ["pack", "unpack", "work", "place"]);
    assert!(hooks.iter().map(|hook| hook.moment).eq(Moment::ALL));
    assert_eq!(hooks[3].conditions.len(), 1);
    assert!(check_moving(quote!(array), quote!()).0.hooks.is_none());
}

#[test]
fn only_an_element_of_an_array_migrates() {
    for options in [quote!(migrate), quote!(group, migrate), quote!(migrate, nodegroup)] {
        let (_, messages) = check_moving(
            options,
            quote!(
                #[moved]
                fn unpack(&mut self, from: PeId) {}
            ),
        );
        assert!(messages.len() == 1 && messages[0].contains("array of one element"), "{messages:?}");
    }
    let (_, messages) = check_moving(quote!(array, migrate, migrate), quote!());
    assert!(messages.len() == 1 && messages[0].contains("`migrate` is given twice"), "{messages:?}");
    let (_, messages) = check_moving(quote!(array, migrate = yes), quote!());
    assert!(messages.len() == 1 && messages[0].contains("no kind of chare"), "{messages:?}");
}

#[test]
fn only_an_entry_of_a_chare_that_migrates_is_called_again() {
    let run = quote!(
        #[entry]
        async fn run(this: chare::Again<Self>, until: u32) -> u32 {
            until
        }
    );
    let (chare, messages) = check_moving(quote!(array, migrate), run.clone());
    assert!(messages.is_empty() && chare.entries[0].is_again, "{messages:?}");
    let (chare, messages) = check_moving(quote!(array), run);
    assert!(chare.entries.is_empty() && messages.len() == 1, "{messages:?}");
    assert!(messages[0].contains("write #[chare(array, migrate)]"), "{messages:?}");
}

#[test]
fn a_hook_has_one_form() {
    for (hook, wanted) in [
        (
            quote!(
                #[about_to_move]
                fn f(self) {}
            ),
            "`fn f(&mut self)`",
        ),
        (
            quote!(
                #[about_to_move]
                fn f(&mut self) -> u8 {
                    0
                }
            ),
            "`fn f(&mut self)`",
        ),
        (
            quote!(
                #[about_to_move]
                async fn f(&mut self) {}
            ),
            "`fn f(&mut self)`",
        ),
        (
            quote!(
                #[moved]
                fn f(&mut self) {}
            ),
            "`fn f(&mut self, from: PeId)`",
        ),
        (
            quote!(
                #[moved]
                fn f(from: PeId) {}
            ),
            "`fn f(&mut self, from: PeId)`",
        ),
        (
            quote!(
                #[moved]
                fn f(&mut self, from: u32) {}
            ),
            "`fn f(&mut self, from: PeId)`",
        ),
        (
            quote!(
                #[moved]
                fn f(&mut self, from: PeId, to: PeId) {}
            ),
            "`fn f(&mut self, from: PeId)`",
        ),
        (
            quote!(
                #[load]
                fn f(&mut self) -> f64 {
                    0.0
                }
            ),
            "`fn f(&self) -> f64`",
        ),
        (
            quote!(
                #[load]
                fn f(&self) {}
            ),
            "`fn f(&self) -> f64`",
        ),
        (
            quote!(
                #[load]
                fn f<T>(&self) -> f64 {
                    0.0
                }
            ),
            "`fn f(&self) -> f64`",
        ),
        (
            quote!(
                #[position]
                fn f(&self) -> [f64; 4] {
                    [0.0; 4]
                }
            ),
            "`fn f(&self) -> [f64; 3]`",
        ),
        (
            quote!(
                #[position]
                fn f(&self) -> [f64; 0] {
                    []
                }
            ),
            "`fn f(&self) -> [f64; 3]`",
        ),
        (
            quote!(
                #[position]
                fn f(&self) -> (f64, f64) {
                    (0.0, 0.0)
                }
            ),
            "`fn f(&self) -> [f64; 3]`",
        ),
        (
            quote!(
                #[load(now)]
                fn f(&self) -> f64 {
                    0.0
                }
            ),
            "write #[load] alone",
        ),
        (
            quote!(
                #[load]
                unsafe fn f(&self) -> f64 {
                    0.0
                }
            ),
            "remove `unsafe`",
        ),
        (
            quote!(
                #[load]
                #[entry]
                fn f(&self) -> f64 {
                    0.0
                }
            ),
            "one role",
        ),
        (
            quote!(
                #[load]
                fn f(&self) -> f64 {
                    0.0
                }
                #[load]
                fn g(&self) -> f64 {
                    0.0
                }
            ),
            "another method is marked #[load] already",
        ),
    ] {
        let (_, messages) = check_moving(quote!(array, migrate), hook.clone());
        assert!(messages.len() == 1 && messages[0].contains(wanted), "{hook}: {messages:?}");
    }
    let (_, messages) = check_moving(
        quote!(array),
        quote!(
            #[load]
            fn f(&self) -> f64 {
                0.0
            }
        ),
    );
    assert!(messages.len() == 1 && messages[0].contains("#[chare(array, migrate)]"), "{messages:?}");
}

#[test]
fn an_unsound_entry_is_left_out_and_the_others_stay() {
    let (chare, messages) = check_with_constructor(quote! {
        #[entry] fn borrows(&self) -> &u8 { &0 }
        #[entry] async fn holds(&mut self) {}
        #[entry] fn unknown(&mut self, #[nocopy(recv)] row: Received<f64>) {}
        #[entry] fn unposted(&mut self, #[nocopy(post)] row: Posted<f64>) {}
        #[entry] fn at(&mut self) {}
        #[entry] fn sound(&mut self) {}
    });
    assert_eq!(messages.len(), 5, "{messages:?}");
    let names: Vec<String> = chare.entries.iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(names, ["sound"]);
}

#[test]
fn what_follows_from_a_misuse_is_not_reported() {
    // The entry is unsound, so nothing is said about its post method; nor about a missing constructor.
    let (chare, messages) = check_block(
        quote!(),
        quote! {
            #[entry] async fn new() -> Self { Self }
            #[entry] fn step(self, #[nocopy(post)] row: Posted<f64>) {}
            #[post(step)] fn give(&mut self) {}
        },
    );
    assert!(chare.is_none());
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn twelve_arguments_pass_and_thirteen_do_not() {
    let arguments = |count: usize| {
        let names = (0..count).map(|index| quote::format_ident!("a{index}"));
        quote!(#[entry] fn step(&mut self, #(#names: u8,)* #[nocopy] row: Received<u8>) {})
    };
    assert!(check_with_constructor(arguments(12)).1.is_empty());
    let messages = check_with_constructor(arguments(13)).1;
    assert!(messages[0].contains("at most 12"), "{messages:?}");
}

#[test]
fn a_result_comes_back_through_a_twelfth_argument() {
    let asks = |count: usize| {
        let names = (0..count).map(|index| quote::format_ident!("a{index}"));
        check_with_constructor(quote!(#[entry] fn ask(&self, #(#names: u8),*) -> Vec<Self> { Vec::new() }))
    };
    let (chare, messages) = asks(11);
    assert!(messages.is_empty(), "{messages:?}");
    let ask = &chare.entries[0];
    assert_eq!(ask.result.to_token_stream().to_string(), "Vec < Cell >");
    assert_eq!(ask.parameters.in_message().count(), 12);
    assert_eq!(ask.parameters.list[11].passing, Passing::Reply);
    assert!(asks(12).1[0].contains("at most 11"));
}

#[test]
fn an_idle_entry_answers_to_the_runtime_alone() {
    let (chare, messages) = check_with_constructor(quote!(
        #[entry(when_idle)]
        fn rest(&mut self) -> bool {
            false
        }
    ));
    assert!(messages.is_empty(), "{messages:?}");
    assert!(chare.entries[0].result.is_none() && chare.entries[0].parameters.list.is_empty());
}

#[test]
fn priorities_reach_the_ends_of_i32_and_no_further() {
    let priority = |text: &str| {
        let number: proc_macro2::TokenStream = text.parse().unwrap();
        check_with_constructor(quote!(
            #[entry(priority = #number)]
            fn step(&mut self) {}
        ))
    };
    for (text, value) in [("2147483647", i32::MAX), ("-2147483648", i32::MIN), ("0x10_i32", 16), ("-0", 0)] {
        let (chare, messages) = priority(text);
        assert!(messages.is_empty(), "{text}: {messages:?}");
        assert_eq!(chare.entries[0].options.priority, Some(value));
    }
    for text in ["2147483648", "-2147483649", "1u8", "1.5", "\"1\"", "LOW", "--1"] {
        assert_eq!(priority(text).1.len(), 1, "{text}");
    }
}

#[test]
fn self_means_the_chare_in_a_proxy_too() {
    let (chare, messages) = check_with_constructor(quote! {
        #[entry] fn step(&mut self, a: Vec<Self>, b: [u8; Self::WIDTH], c: <Self as Row>::Item, d: Self::Item) {}
    });
    assert!(messages.is_empty(), "{messages:?}");
    let types: Vec<String> = chare.entries[0]
        .parameters
        .list
        .iter()
        .map(|parameter| parameter.ty.to_token_stream().to_string().replace(' ', ""))
        .collect();
    assert_eq!(types, ["Vec<Cell>", "[u8;<Cell>::WIDTH]", "<CellasRow>::Item", "<Cell>::Item"]);
}

#[test]
fn a_missing_post_method_is_spelled_out() {
    let (_, messages) = check_with_constructor(quote! {
        #[entry]
        fn halo(&mut self, side: Vec<u8>, #[nocopy] old: Received<u8>, #[nocopy(post)] row: Posted<f64>) {}
    });
    let expected = "`#[post(halo)] fn halo_post(&mut self, side: &Vec<u8>, row: Post<f64>)`";
    assert!(messages[0].contains(expected), "{messages:?}");
}

#[test]
fn helpers_are_known_by_their_path_and_taken_off() {
    let mut errors = Errors::default();
    // A body need not be sound: only the braces around it count.
    let item = quote! {
        impl Cell {
            #[chare::entry] fn new() -> Self { Self }
            #[chare::entry] #[inline] fn step(&mut self, #[chare::nocopy] row: Received<f64>) { let = ; }
        }
    };
    let block = parse(quote!(), item, &mut errors).unwrap();
    let chare = check(&block, &mut errors).unwrap();
    assert!(errors.messages().is_empty(), "{:?}", errors.messages());
    assert_eq!(chare.entries.len(), 1);
    let tokens = block.into_tokens().to_string();
    assert!(!tokens.contains("entry") && !tokens.contains("nocopy"), "{tokens}");
    assert!(tokens.contains("inline") && tokens.contains("let = ;"), "{tokens}");
}
