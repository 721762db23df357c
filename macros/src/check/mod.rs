//! Checks of a block: whether it means a chare, and which.
//!
//! 1. Every rule is checked, whatever was wrong before it: the user sees all misuses at once.
//! 2. A misuse is reported once, where it stands; its consequences are not reported again.
//! 3. An entry with a misuse is left out of the chare, so that the rest of the block still expands. Without a sound
//!    type and constructor there is no chare.
//!
//! Types are known by their last name only: a renamed `This` or `Received` is refused, never misread.

mod hints;
mod hooks;
mod local;
mod method;
mod names;
mod post;
mod types;

use crate::ast::{Block, Chare, ChareOption, Constructor, Entry, Item, Kind, Method, OnPanic, Role};
use crate::errors::{Errors, Misuse};
use local::check_local;
use method::{check_constructor, is_constructor};
pub(crate) use method::{check_entry, conditions, takes_again};
pub(crate) use names::check_trait_names;
use quote::ToTokens;
use syn::{Expr, ItemImpl, Meta, Path, PathSegment, Type};
pub(crate) use types::{names_self, plain_name, without_self};

/// The chare that the block means, if its type and constructor are sound.
pub(crate) fn check(block: &Block, errors: &mut Errors) -> Option<Chare> {
    let kind = check_kind(&block.options, errors);
    let on_panic = check_on_panic(&block.options, errors);
    let index = check_index(&block.options, kind, errors);
    let migrates = check_migrate(&block.options, kind, errors);
    let syncs = check_sync(&block.options, migrates, errors);
    let path = check_header(&block.header, errors)?;
    let generics = block.header.generics.clone();
    let name = path.segments.last()?.ident.clone();

    let methods = block.items.iter().filter_map(|item| match item {
        Item::Method(method) => Some(method),
        Item::Other(_) => None,
    });
    let (marked, unmarked): (Vec<&Method>, Vec<&Method>) =
        methods.partition(|method| matches!(method.role, Role::Entry { .. }));
    for mark in unmarked.iter().flat_map(|method| &method.nocopy) {
        errors.report(&mark.attribute, Misuse::NocopyOutsideEntry);
    }
    let plain = unmarked.iter().chain(marked.iter().filter(|method| !method.is_awaited()));
    for mark in plain.flat_map(|method| &method.references) {
        errors.report(&mark.attribute, Misuse::ReferenceOutsideAwaited);
    }
    let (constructors, candidates): (Vec<&Method>, Vec<&Method>) =
        marked.into_iter().partition(|method| is_constructor(method));

    for second in constructors.iter().skip(1) {
        errors.report(&second.signature.ident, Misuse::TwoConstructors);
    }
    let constructor = constructors.first().map(|method| check_constructor(method, &path, errors));
    if constructors.is_empty() && candidates.iter().all(|method| method::is_no_constructor(method)) {
        errors.report(&path, Misuse::NoConstructor { chare: name.to_string() });
    }
    let (local, candidates): (Vec<&Method>, Vec<&Method>) =
        candidates.into_iter().partition(|method| method.is_local());
    let (bodiless, candidates): (Vec<&Method>, Vec<&Method>) =
        candidates.into_iter().partition(|method| method.body.is_none() && !method.is_awaited());
    for entry in &bodiless {
        errors.report(&entry.signature.ident, Misuse::NoBody);
    }
    let mut locals: Vec<_> = local.iter().filter_map(|method| check_local(method, &path, errors)).collect();
    let mut entries: Vec<_> =
        candidates.iter().filter_map(|method| check_entry(method, &path, errors)).collect();
    post::check_posts(&unmarked, &candidates, &mut entries, errors);
    let hooks = hooks::check_hooks(&unmarked, migrates, errors);
    names::check_names(kind, &mut entries, &mut locals, errors);
    let constructor = constructor.flatten();
    check_demands(kind, constructor.as_ref(), &candidates, errors);
    check_aggregates(kind, &candidates, errors);
    if !migrates {
        refuse_again(&candidates, &mut entries, errors);
    }

    let declared: Vec<&Method> = candidates.into_iter().chain(bodiless).collect();
    let hints = hints::hints(kind, &path, (&unmarked, &declared), &entries);
    let conditions = method::conditions(&block.header.attrs);
    Some(Chare {
        name,
        kind,
        on_panic,
        hooks: migrates.then_some(hooks),
        syncs,
        index,
        conditions,
        constructor: constructor?,
        entries,
        locals,
        hints,
        path,
        generics,
    })
}

fn check_kind(options: &[ChareOption], errors: &mut Errors) -> Kind {
    let mut kind = None;
    for option in options {
        let ChareOption::Kind(option) = option else { continue };
        let found = match option {
            Meta::Path(path) if path.is_ident("array") => Kind::Array,
            Meta::Path(path) if path.is_ident("group") => Kind::Group,
            Meta::Path(path) if path.is_ident("nodegroup") => Kind::NodeGroup,
            other => {
                let found = types::plain_text(other);
                errors.report(other, Misuse::UnknownKind { found });
                continue;
            }
        };
        if kind.is_some() {
            errors.report(option, Misuse::TwoKinds);
        } else {
            kind = Some(found);
        }
    }
    kind.unwrap_or(Kind::Singleton)
}

/// What follows from a panic in an entry.
fn check_on_panic(options: &[ChareOption], errors: &mut Errors) -> OnPanic {
    let mut found = None;
    for option in options {
        let ChareOption::OnPanic { name, policy } = option else { continue };
        if found.is_some() {
            errors.report(name, Misuse::DuplicateOption { option: "on_panic" });
            continue;
        }
        let policies = [("end", OnPanic::End), ("answer", OnPanic::Answer), ("renew", OnPanic::Renew)];
        let named = |word: &str| matches!(policy, Expr::Path(path) if path.path.is_ident(word));
        let known = policies.into_iter().find(|(word, _)| named(word));
        if known.is_none() {
            errors.report(policy, Misuse::UnknownPolicy { found: types::plain_text(policy) });
        }
        found = Some(known.map_or(OnPanic::End, |(_, policy)| policy));
    }
    found.unwrap_or(OnPanic::End)
}

/// The type that names an element.
fn check_index(options: &[ChareOption], kind: Kind, errors: &mut Errors) -> Type {
    let mut indices = options.iter().filter_map(|option| match option {
        ChareOption::Index { name, ty } => Some((name, ty)),
        _ => None,
    });
    let index = indices.next();
    for (second, _) in indices {
        errors.report(second, Misuse::DuplicateOption { option: "index" });
    }
    if let Some((name, _)) = index.filter(|_| kind != Kind::Array) {
        errors.report(name, Misuse::IndexWithoutArray);
    }
    index.map_or_else(|| syn::parse_quote!(u64), |(_, ty)| ty.clone())
}

/// Whether the chares may move.
fn check_migrate(options: &[ChareOption], kind: Kind, errors: &mut Errors) -> bool {
    let mut marks = options.iter().filter_map(|option| match option {
        ChareOption::Migrate(mark) => Some(mark),
        _ => None,
    });
    let mark = marks.next();
    for second in marks {
        errors.report(second, Misuse::DuplicateOption { option: "migrate" });
    }
    if let Some(mark) = mark.filter(|_| kind != Kind::Array) {
        errors.report(mark, Misuse::MigrateWithoutArray);
    }
    mark.is_some()
}

/// Whether the chares take part in syncs.
fn check_sync(options: &[ChareOption], migrates: bool, errors: &mut Errors) -> bool {
    let mut marks = options.iter().filter_map(|option| match option {
        ChareOption::Sync(mark) => Some(mark),
        _ => None,
    });
    let mark = marks.next();
    for second in marks {
        errors.report(second, Misuse::DuplicateOption { option: "sync" });
    }
    if let Some(mark) = mark.filter(|_| !migrates) {
        errors.report(mark, Misuse::SyncWithoutMigrate);
    }
    mark.is_some()
}

/// Refuses elements that a message creates with a constructor that has arguments: nobody would give them.
fn check_demands(kind: Kind, constructor: Option<&Constructor>, entries: &[&Method], errors: &mut Errors) {
    for method in entries {
        let Role::Entry { mark, options } = &method.role else { continue };
        if options.demand.is_none() {
            continue;
        }
        if kind != Kind::Array {
            errors.report(mark, Misuse::DemandWithoutArray);
        } else if constructor.is_some_and(|constructor| !constructor.parameters.list.is_empty()) {
            errors.report(mark, Misuse::DemandWithArguments);
        }
    }
}

/// Refuses entries that may be called again, of chares that stay.
fn refuse_again(methods: &[&Method], entries: &mut Vec<Entry>, errors: &mut Errors) {
    entries.retain(|entry| !entry.is_again);
    for method in methods.iter().filter(|method| method::takes_again(method)) {
        errors.report(method.signature.inputs.first(), Misuse::AgainWithoutMigrate);
    }
}

/// Refuses aggregation outside collections: only calls of their members travel together.
fn check_aggregates(kind: Kind, entries: &[&Method], errors: &mut Errors) {
    for method in entries {
        if let Role::Entry { mark, options } = &method.role
            && options.aggregate.is_some()
            && kind == Kind::Singleton
        {
            errors.report(mark, Misuse::AggregateOfOne);
        }
    }
}

/// The chare's type, if the block is an inherent one of a named type with all its parameters.
fn check_header(header: &ItemImpl, errors: &mut Errors) -> Option<Path> {
    if let Some((name, _)) = &header.trait_ {
        errors.report(name, Misuse::TraitImpl);
        return None;
    }
    let Type::Path(ty) = types::ungrouped(&header.self_ty) else {
        errors.report(&header.self_ty, Misuse::NotANamedType);
        return None;
    };
    if ty.qself.is_some() {
        errors.report(ty, Misuse::NotANamedType);
        return None;
    }
    let (_, parameters, _) = header.generics.split_for_impl();
    let arguments = |segment: &PathSegment| segment.arguments.to_token_stream().to_string();
    let arguments: String = ty.path.segments.iter().map(arguments).collect();
    if header.generics.lifetimes().next().is_some() || arguments != parameters.to_token_stream().to_string() {
        errors.report(ty, Misuse::GenericBlock);
        return None;
    }
    Some(ty.path.clone())
}

#[cfg(test)]
mod tests;
