//! Rules for hooks: methods of a chare that migrates which no message calls, at most one for each moment.

use super::method::{check_qualifiers, conditions, returned};
use super::types;
use crate::ast::{Hook, Method, Moment, Role};
use crate::errors::{Errors, Misuse};
use syn::{FnArg, ReceiverKind, Signature, Type};

/// The hooks among these methods, as far as nothing is wrong with them.
pub(super) fn check_hooks(unmarked: &[&Method], migrates: bool, errors: &mut Errors) -> Vec<Hook> {
    let mut hooks: Vec<Hook> = Vec::new();
    let mut seen: Vec<Moment> = Vec::new();
    for method in unmarked {
        let Role::Hook { mark, moment } = &method.role else { continue };
        let (moment, attribute) = (*moment, moment.attribute());
        if !migrates {
            errors.report(mark, Misuse::HookWithoutMigrate { attribute });
        }
        if seen.contains(&moment) {
            errors.report(mark, Misuse::TwoHooks { attribute });
            continue;
        }
        seen.push(moment);
        let before = errors.count();
        let signature = &method.signature;
        check_qualifiers(signature, errors);
        if !has_form(moment, signature) {
            errors.report(&signature.ident, Misuse::HookForm { attribute, form: form(moment, signature) });
        }
        if errors.count() == before {
            let (method, conditions) = (signature.ident.clone(), conditions(&method.attributes));
            hooks.push(Hook { moment, method, conditions });
        }
    }
    hooks
}

/// The signature that a hook of this name has.
fn form(moment: Moment, signature: &Signature) -> String {
    let name = &signature.ident;
    match moment {
        Moment::AboutToMove => format!("fn {name}(&mut self)"),
        Moment::Moved => format!("fn {name}(&mut self, from: PeId)"),
        Moment::Load => format!("fn {name}(&self) -> f64"),
        Moment::Position => format!("fn {name}(&self) -> [f64; 3]"),
    }
}

fn has_form(moment: Moment, signature: &Signature) -> bool {
    let is_plain = signature.asyncness.is_none()
        && signature.generics.params.is_empty()
        && signature.generics.where_clause.is_none();
    let mut inputs = signature.inputs.iter();
    let (receiver, argument, surplus) = (inputs.next(), inputs.next(), inputs.next());
    let takes_self = match receiver {
        Some(FnArg::Receiver(receiver)) => match &receiver.kind {
            ReceiverKind::Reference(.., mutability) => {
                mutability.is_none() || matches!(moment, Moment::AboutToMove | Moment::Moved)
            }
            _ => false,
        },
        Some(FnArg::Typed(_)) | None => false,
    };
    let takes_rest = match (moment, argument) {
        (Moment::Moved, Some(FnArg::Typed(from))) => types::is_named(&from.ty, "PeId"),
        (Moment::Moved, _) => false,
        (_, argument) => argument.is_none(),
    };
    let returns = match (moment, returned(signature)) {
        (Moment::AboutToMove | Moment::Moved, result) => result.is_none(),
        (Moment::Load, Some(result)) => types::is_named(result, "f64"),
        (Moment::Position, Some(result)) => is_place(result),
        (Moment::Load | Moment::Position, None) => false,
    };
    is_plain && takes_self && takes_rest && surplus.is_none() && returns
}

/// Whether a type is `[f64; N]`. The compiler looks at an `N` that is no number.
fn is_place(ty: &Type) -> bool {
    let Type::Array(array) = types::ungrouped(ty) else { return false };
    let is_long = match &array.len {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(len), .. }) => {
            len.base10_parse::<usize>().is_ok_and(|len| (1..=3).contains(&len))
        }
        _ => true,
    };
    is_long && types::is_named(&array.elem, "f64")
}
