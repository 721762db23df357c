//! Helper attributes of a block's methods, taken off and read.
//!
//! 1. A misuse of a helper attribute is reported and otherwise ignored: the method keeps the role that it asked for.
//! 2. The meaning of an attribute for its method is `check`'s question.

use crate::ast::{Aggregate, Demand, EntryOptions, Method, Moment, NocopyMark, Passing, ReferenceMark, Role};
use crate::errors::{Errors, Misuse};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, FnArg, Ident, ImplItem, Lit, Meta, Signature, Token, UnOp};

/// Takes the helper attributes off a method and its parameters.
pub(crate) fn read_helpers(method: &mut Method, errors: &mut Errors) {
    method.role = read_role(&mut method.attributes, errors);
    method.nocopy = read_nocopy(&mut method.signature, errors);
    method.references = read_references(&mut method.signature, errors);
}

/// Whether an attribute is the helper of this name.
fn is_helper(attribute: &Attribute, name: &str) -> bool {
    let mut segments = attribute.path().segments.iter().rev();
    segments.next().is_some_and(|last| last.ident == name)
        && segments.next().is_none_or(|module| module.ident == "chare")
}

/// Takes the helper attributes off a method.
fn read_role(attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Role {
    let mut role = None;
    attributes.retain(|attribute| {
        let read = if is_helper(attribute, "entry") {
            Some(Role::Entry {
                options: read_entry_options(attribute, errors),
                mark: attribute.to_token_stream(),
            })
        } else if is_helper(attribute, "post") {
            read_post(attribute, errors)
        } else if let Some(moment) = hook(attribute) {
            if !matches!(attribute.meta, Meta::Path(_)) {
                errors.report(attribute, Misuse::ValuedHook { attribute: moment.attribute() });
            }
            Some(Role::Hook { mark: attribute.clone(), moment })
        } else {
            return true;
        };
        if role.is_some() {
            errors.report(attribute, Misuse::TwoRoles);
        } else {
            role = Some(read.unwrap_or(Role::Helper));
        }
        false
    });
    role.unwrap_or(Role::Helper)
}

/// The moment of the hook that an attribute marks.
fn hook(attribute: &Attribute) -> Option<Moment> {
    Moment::ALL.into_iter().find(|moment| is_helper(attribute, moment.attribute()))
}

fn read_post(attribute: &Attribute, errors: &mut Errors) -> Option<Role> {
    match attribute.parse_args::<Ident>() {
        Ok(entry) => Some(Role::Post { entry }),
        Err(_) => {
            errors.report(attribute, Misuse::PostWithoutEntry);
            None
        }
    }
}

fn read_entry_options(attribute: &Attribute, errors: &mut Errors) -> EntryOptions {
    let mut options = EntryOptions::default();
    if matches!(attribute.meta, Meta::Path(_)) {
        return options;
    }
    let Ok(list) = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        let found = match &attribute.meta {
            Meta::List(list) => list.tokens.to_string(),
            other => other.to_token_stream().to_string(),
        };
        errors.report(attribute, Misuse::UnknownOption { found });
        return options;
    };
    for option in &list {
        let flags = [
            ("awaited", &mut options.awaited),
            ("expedited", &mut options.expedited),
            ("immediate", &mut options.immediate),
            ("inline", &mut options.inline),
            ("local", &mut options.local),
            ("when_idle", &mut options.when_idle),
        ];
        if let Some((name, flag)) = flags.into_iter().find(|(name, _)| option.path().is_ident(name)) {
            if *flag {
                errors.report(option, Misuse::DuplicateOption { option: name });
            }
            if !matches!(option, Meta::Path(_)) {
                errors.report(option, Misuse::ValuedOption { option: name });
            }
            *flag = true;
        } else if option.path().is_ident("priority") {
            if options.priority.is_some() {
                errors.report(option, Misuse::DuplicateOption { option: "priority" });
            }
            let priority = read_priority(option);
            if priority.is_none() {
                errors.report(option, Misuse::PriorityNotI32);
            }
            options.priority = Some(priority.unwrap_or_default());
        } else if option.path().is_ident("aggregate") {
            if options.aggregate.is_some() {
                errors.report(option, Misuse::DuplicateOption { option: "aggregate" });
            }
            options.aggregate = Some(read_aggregate(option, errors));
        } else if let Some(demand) = read_demand(option) {
            if options.demand.is_some() {
                errors.report(option, Misuse::TwoDemands);
            }
            options.demand = Some(demand);
        } else {
            errors.report(option, Misuse::UnknownOption { found: option.to_token_stream().to_string() });
        }
    }
    let lanes = [options.priority.is_some(), options.expedited, options.immediate, options.when_idle];
    if lanes.into_iter().filter(|asked| *asked).count() > 1 {
        errors.report(attribute, Misuse::TwoLanes);
    }
    if options.local && options != (EntryOptions { local: true, ..EntryOptions::default() }) {
        errors.report(attribute, Misuse::LocalOption);
    }
    options
}

fn read_demand(option: &Meta) -> Option<Demand> {
    let Meta::Path(path) = option else { return None };
    let demands = [("create_here", Demand::Here), ("create_home", Demand::Home)];
    demands.into_iter().find(|(name, _)| path.is_ident(name)).map(|(_, demand)| demand)
}

/// The options of `aggregate`.
fn read_aggregate(option: &Meta, errors: &mut Errors) -> Aggregate {
    let mut aggregate = Aggregate::default();
    let list = match option {
        Meta::Path(_) => return aggregate,
        Meta::List(list) => list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated),
        Meta::NameValue(_) => Ok(Punctuated::from_iter([option.clone()])),
    };
    let Ok(list) = list else {
        errors.report(option, Misuse::AggregateOption);
        return aggregate;
    };
    for setting in &list {
        let settings = [
            ("buffer_bytes", &mut aggregate.buffer_bytes, 1..=u32::MAX),
            ("dimensions", &mut aggregate.dimensions, 1..=3),
            ("flush_after_us", &mut aggregate.flush_after_us, 0..=u32::MAX),
        ];
        let found = settings.into_iter().find(|(name, ..)| setting.path().is_ident(name));
        let number = read_number(setting);
        match (found, number) {
            (Some((name, place, allowed)), Some(number)) if allowed.contains(&number) => {
                if place.replace(number).is_some() {
                    errors.report(setting, Misuse::DuplicateOption { option: name });
                }
            }
            _ => errors.report(setting, Misuse::AggregateOption),
        }
    }
    aggregate
}

fn read_number(option: &Meta) -> Option<u32> {
    let Meta::NameValue(option) = option else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Int(digits), .. }) = &option.value else { return None };
    if digits.suffix().is_empty() { digits.base10_parse().ok() } else { None }
}

fn read_priority(option: &Meta) -> Option<i32> {
    let Meta::NameValue(option) = option else { return None };
    let (sign, literal) = match &option.value {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => ("-", &*unary.expr),
        plain => ("", plain),
    };
    let Expr::Lit(ExprLit { lit: Lit::Int(digits), .. }) = literal else { return None };
    if !matches!(digits.suffix(), "" | "i32") {
        return None;
    }
    format!("{sign}{}", digits.base10_digits()).parse().ok()
}

/// Takes `#[nocopy]` off the parameters.
fn read_nocopy(signature: &mut Signature, errors: &mut Errors) -> Vec<NocopyMark> {
    let mut marks: Vec<NocopyMark> = Vec::new();
    for (position, parameter) in signature.inputs.iter_mut().enumerate() {
        let attributes = match parameter {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        attributes.retain(|attribute| {
            if !is_helper(attribute, "nocopy") {
                return true;
            }
            if marks.iter().any(|mark| mark.position == position) {
                errors.report(attribute, Misuse::DuplicateNocopy);
            } else {
                let passing = read_passing(attribute, errors);
                marks.push(NocopyMark { attribute: attribute.clone(), position, passing });
            }
            false
        });
    }
    marks
}

/// Takes `#[reference]` off the parameters.
fn read_references(signature: &mut Signature, errors: &mut Errors) -> Vec<ReferenceMark> {
    let mut marks = Vec::new();
    for (position, parameter) in signature.inputs.iter_mut().enumerate() {
        let FnArg::Typed(parameter) = parameter else { continue };
        parameter.attrs.retain(|attribute| {
            let is_mark = is_helper(attribute, "reference");
            if is_mark {
                if !matches!(attribute.meta, Meta::Path(_)) {
                    errors.report(attribute, Misuse::ValuedReference);
                }
                marks.push(ReferenceMark { attribute: attribute.clone(), position });
            }
            !is_mark
        });
    }
    marks
}

fn read_passing(attribute: &Attribute, errors: &mut Errors) -> Option<Passing> {
    if matches!(attribute.meta, Meta::Path(_)) {
        return Some(Passing::Received);
    }
    match attribute.parse_args::<Ident>() {
        Ok(how) if how == "post" => Some(Passing::Posted),
        _ => {
            errors.report(attribute, Misuse::UnknownNocopy);
            None
        }
    }
}

/// Takes helper attributes off an item that is no method.
pub(super) fn refuse_helpers(item: &mut ImplItem, errors: &mut Errors) {
    let attributes = match item {
        ImplItem::Const(item) => &mut item.attrs,
        ImplItem::Type(item) => &mut item.attrs,
        ImplItem::Macro(item) => &mut item.attrs,
        _ => return,
    };
    attributes.retain(|attribute| {
        let names = ["entry", "post"].into_iter().chain(Moment::ALL.map(Moment::attribute));
        let found = names.into_iter().find(|name| is_helper(attribute, name));
        if let Some(name) = found {
            errors.report(attribute, Misuse::NotOnAMethod { attribute: name });
        }
        found.is_none()
    });
}
