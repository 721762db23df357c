//! Tests of generated code that no program outside can see.

use super::*;
use crate::check::check;
use crate::errors::Errors;
use crate::parse::parse;

/// The code generated for a block with these items, as [`compact`] text.
fn expansion(items: TokenStream) -> String {
    expansion_of(quote!(array), items)
}

fn expansion_of(options: TokenStream, items: TokenStream) -> String {
    let mut errors = Errors::default();
    let block = parse(options, quote!(impl Cell { #items }), &mut errors).unwrap();
    let chare = check(&block, &mut errors).unwrap();
    assert!(errors.messages().is_empty(), "{:?}", errors.messages());
    compact(&expand(&chare))
}

/// Tokens as text that does not depend on how they are laid out.
fn compact(tokens: &TokenStream) -> String {
    tokens.to_string().replace([' ', '\n'], "").replace(",)", ")").replace(",]", "]")
}

#[track_caller]
fn assert_contains(text: &str, part: TokenStream) {
    let part = compact(&part);
    assert!(text.contains(&part), "{part}\nis not in\n{text}");
}

#[test]
fn the_index_counts_the_conditional_entries_before() {
    let text = expansion(quote! {
        #[entry] fn new() -> Self { Self }
        #[entry] fn first(&mut self) {}
        #[entry] #[cfg(a)] fn second(&mut self) {}
        #[entry] fn third(&mut self) {}
    });
    assert_contains(
        &text,
        quote!(
            const INDEX: u16 = 0;
        ),
    );
    assert_contains(
        &text,
        quote!(
            const INDEX: u16 = 1;
        ),
    );
    assert_contains(
        &text,
        quote!(
            const INDEX: u16 = 1 + <[()]>::len(&[
                #[cfg(a)]
                (),
            ]) as u16;
        ),
    );
    assert_contains(
        &text,
        quote!(
            #[cfg(a)]
            ::chare::macro_support::EntryRegistration::of::<__entry_second>()
        ),
    );
}

#[test]
fn arguments_arrive_in_the_order_of_the_parameters() {
    let text = expansion(quote! {
        #[entry] fn new(seed: u64, name: String) -> Self { Self }
        #[entry] fn step(&mut self, #[nocopy] a: Received<u8>, b: u16, #[nocopy(post)] c: Posted<u32>, d: u64) {}
        #[post(step)] fn give(&mut self, b: &u16, c: Post<u32>, d: &u64) {}
        #[entry] async fn run(this: This<Self>, rounds: u32) {}
    });
    assert_contains(&text, quote!(Self::new(arguments.0, arguments.1)));
    assert_contains(
        &text,
        quote!(this.with(|chare| <Cell>::step(
            chare,
            nocopy.take::<Received<u8>>(),
            arguments.0,
            nocopy.take::<Posted<u32>>(),
            arguments.1
        ))),
    );
    assert_contains(
        &text,
        quote!(this.with(|chare| <Cell>::give(
            chare,
            &arguments.0,
            posts.take::<Posted<u32>>(),
            &arguments.1
        ))),
    );
    assert_contains(
        &text,
        quote!(::chare::macro_support::start::<Self::Chare>(<Cell>::run(this.keep(), arguments))),
    );
    assert!(text.contains(
        "[<Received<u8>as::chare::macro_support::NocopyParameter>::KIND,<Posted<u32>as::chare::macro_support::NocopyParameter>::KIND]"
    ));
}

#[test]
fn a_signature_names_types_and_marks() {
    let text = expansion(quote! {
        #[entry] fn new() -> Self { Self }
        #[entry] fn step(&mut self, a: u8, #[nocopy] b: Received<u8>, c: u16) {}
    });
    assert!(text.contains("SIGNATURE:&'staticstr=\"\""), "{text}");
    assert!(text.contains("SIGNATURE:&'staticstr=\"u8,#[nocopy]Received<u8>,u16\""), "{text}");
}

#[test]
fn options_are_written_only_where_they_are_given() {
    let text = expansion(quote! {
        #[entry] fn new() -> Self { Self }
        #[entry(expedited)] fn stop(&mut self) {}
        #[entry(priority = -5)] fn urgent(&mut self) {}
        #[entry] fn plain(&mut self) {}
    });
    assert_eq!(text.matches("LANE").count(), 1);
    assert_eq!(text.matches("PRIORITY").count(), 1);
    assert_contains(
        &text,
        quote!(
            const PRIORITY: i32 = -5i32;
        ),
    );
    assert_eq!(text.matches("NOCOPY").count(), 0);
}

#[test]
fn what_migrates_says_so_and_nothing_else_does() {
    let items = quote! {
        #[entry] fn new() -> Self { Self }
        #[entry(awaited)] fn ghost(step: u64, #[nocopy] row: Received<u8>);
        #[entry(awaited)] #[cfg(a)] fn go();
    };
    let text = expansion(items.clone());
    assert!(
        !text.contains("Migrates") && !text.contains("Travelling") && !text.contains("MOVEMENT"),
        "{text}"
    );
    let hooks = quote!(
        #[load]
        #[cfg(b)]
        fn work(&self) -> f64 {
            1.0
        }
    );
    let text = expansion_of(quote!(array, migrate), quote!(#items #hooks));
    assert_contains(
        &text,
        quote!(
            impl ::chare::Migrates for Cell {
                #[cfg(b)]
                const LOAD: ::core::option::Option<fn(&Self) -> f64> =
                    ::core::option::Option::Some(|chare| Self::work(chare));
                const OPERATIONS: &'static ::chare::macro_support::Movement =
                    &::chare::macro_support::Movement::of::<Cell>(::chare::macro_support::let_go);
            }
        ),
    );
    assert_contains(
        &text,
        quote!(true && ::chare::macro_support::NocopyParameter::can_be_written(&parameters.1)),
    );
    assert_contains(
        &text,
        quote!((
            ::chare::macro_support::read_value::<u64>(bytes)?,
            <Received<u8> as ::chare::macro_support::NocopyParameter>::read(bytes)?
        )),
    );
    assert_contains(
        &text,
        quote!(
            #[cfg(a)]
            if !self.go.can_be_written() {
                return false;
            }
        ),
    );
}
