//! Conditions of items: which `cfg` leave something to tests and models alone.

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

/// Whether a `cfg` keeps this out of the library: what is there for tests, or for models, which loom runs.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions
        .filter_map(|condition| condition.parse_args::<Meta>().ok())
        .any(|condition| is_false(&condition))
}

fn is_false(condition: &Meta) -> bool {
    match condition {
        Meta::Path(flag) => flag.is_ident("test") || flag.is_ident("loom"),
        Meta::NameValue(_) => false,
        Meta::List(list) => {
            let parts =
                list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
            match list.path.get_ident() {
                Some(name) if name == "all" => parts.iter().any(is_false),
                Some(name) if name == "any" => !parts.is_empty() && parts.iter().all(is_false),
                _ => false,
            }
        }
    }
}

/// The attributes of an item of any kind.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
