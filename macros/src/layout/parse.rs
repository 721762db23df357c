//! Selections as `#[layout(..)]` names them, checked against the fields that the struct has.

use super::misuse::Misuse;
use crate::check::{plain_name, without_self};
use crate::errors::Errors;
use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Fields, FieldsNamed, Ident, Token, Type, Visibility, parenthesized};

/// A struct and what is selected of it.
pub(super) struct Struct {
    pub(super) name: Ident,
    pub(super) visibility: Visibility,
    pub(super) selections: Vec<Selection>,
}

/// Fields under a name.
pub(super) struct Selection {
    pub(super) name: Ident,
    pub(super) fields: Vec<Field>,
}

/// A field of the struct that a selection names.
pub(super) struct Field {
    /// As it was named in the selection.
    pub(super) name: Ident,
    pub(super) docs: Vec<Attribute>,
    pub(super) visibility: Visibility,
    /// Without `Self`, which is another type in the packed element.
    pub(super) ty: Type,
}

/// `name(field, ..)`
struct Named {
    name: Ident,
    fields: Punctuated<Ident, Token![,]>,
}

impl Parse for Named {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let list;
        parenthesized!(list in input);
        Ok(Self { name, fields: Punctuated::parse_terminated(&list)? })
    }
}

/// The struct, if it has named fields, and those of its selections that are sound.
pub(super) fn parse(item: TokenStream, errors: &mut Errors) -> Option<Struct> {
    let item: DeriveInput = syn::parse2(item).map_err(|error| errors.add(error)).ok()?;
    let Data::Struct(syn::DataStruct { fields: Fields::Named(declared), .. }) = &item.data else {
        errors.report(&item.ident, Misuse::NoNamedFields);
        return None;
    };
    if !item.generics.params.is_empty() {
        errors.report(&item.generics, Misuse::Generic);
        return None;
    }
    let marks = declared.named.iter().flat_map(|field| &field.attrs);
    for misplaced in marks.filter(|mark| mark.path().is_ident("layout")) {
        errors.report(misplaced, Misuse::OnAField);
    }
    let named = read(&item, declared, errors);
    let selections = check(&item.ident, &named, declared, errors);
    Some(Struct { name: item.ident, visibility: item.vis, selections })
}

fn read(item: &DeriveInput, declared: &FieldsNamed, errors: &mut Errors) -> Vec<Named> {
    let marks: Vec<&Attribute> = item.attrs.iter().filter(|mark| mark.path().is_ident("layout")).collect();
    if marks.is_empty() {
        let names = declared.named.iter().filter_map(|field| field.ident.as_ref()).map(Ident::to_string);
        let example = names.collect::<Vec<_>>().join(", ");
        errors.report(&item.ident, Misuse::NoSelection { example });
    }
    let mut named = Vec::new();
    for mark in marks {
        match mark.parse_args_with(Punctuated::<Named, Token![,]>::parse_terminated) {
            Ok(list) if !list.is_empty() => named.extend(list),
            _ => errors.report(mark, Misuse::Malformed),
        }
    }
    named
}

fn check(of: &Ident, named: &[Named], declared: &FieldsNamed, errors: &mut Errors) -> Vec<Selection> {
    let mut selections: Vec<Selection> = Vec::new();
    for Named { name, fields } in named {
        if selections.iter().any(|before| before.name == *name) {
            errors.report(name, Misuse::NameTwice { name: plain_name(name) });
            continue;
        }
        if fields.is_empty() {
            errors.report(name, Misuse::NoFields { name: plain_name(name) });
            continue;
        }
        let before = errors.count();
        let mut selected: Vec<Field> = Vec::new();
        for field in fields {
            if selected.iter().any(|before| before.name == *field) {
                errors.report(field, Misuse::FieldTwice { field: plain_name(field) });
            }
            match declared.named.iter().find(|known| known.ident.as_ref() == Some(field)) {
                Some(known) => selected.push(Field {
                    name: field.clone(),
                    docs: known.attrs.iter().filter(|mark| mark.path().is_ident("doc")).cloned().collect(),
                    visibility: known.vis.clone(),
                    ty: without_self(&known.ty, &of.clone().into()),
                }),
                None => {
                    let (field_name, of) = (plain_name(field), of.to_string());
                    errors.report(field, Misuse::UnknownField { field: field_name, of });
                }
            }
        }
        if errors.count() == before {
            selections.push(Selection { name: name.clone(), fields: selected });
        }
    }
    selections
}
