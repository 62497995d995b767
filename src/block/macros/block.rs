//! `#[block]`: what an implementation of a block leaves out.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::{Error, Ident, ImplItem, ItemImpl, Result, Type, parse_quote};

pub(crate) fn expand(mut item: ItemImpl) -> Result<TokenStream> {
    let implemented = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
    let implemented = implemented.map(|last| last.ident.to_string()).unwrap_or_default();
    let has_state = match implemented.as_str() {
        "Block" => true,
        "Pure" => false,
        _ => {
            let message = "expected `impl Block for …` or `impl Pure for …`";
            return Err(Error::new(Span::call_site(), message));
        }
    };
    let name = name_of(&item.self_ty)?;
    let text = name.to_string();
    let handles = format_ident!("{name}Ports");

    // What there is in every block.
    let mut left_out = vec![
        ("KIND", parse_quote!(const KIND: &'static str = #text;)),
        ("Plan", parse_quote!(type Plan = #handles;)),
        (
            "plan",
            parse_quote! {
                fn plan(
                    &self,
                    ports: &mut ::legwork_block::Ports<'_>,
                ) -> ::std::result::Result<#handles, ::legwork_block::Invalid> {
                    self.declared(ports)
                }
            },
        ),
    ];
    // What a block with state has besides.
    if has_state {
        for memory in ["State", "Memo", "Scratch"] {
            let ty = format_ident!("{memory}");
            left_out.push((memory, parse_quote!(type #ty = ();)));
        }
        for (function, memory) in [("state", "State"), ("scratch", "Scratch")] {
            let (name, ty) = (format_ident!("{function}"), format_ident!("{memory}"));
            let made = parse_quote! {
                fn #name(&self, _: &Self::Plan, _: &::legwork_block::Sizes<'_>) -> Self::#ty {
                    ::std::default::Default::default()
                }
            };
            left_out.push((function, made));
        }
    }
    let given: Vec<String> = item.items.iter().filter_map(name_of_item).collect();
    let left_out = left_out.into_iter().filter(|(name, _)| !given.iter().any(|one| one == name));
    item.items.extend(left_out.map(|(_, made): (_, ImplItem)| made));
    item.items.iter_mut().for_each(inline);
    Ok(item.into_token_stream())
}

/// What runs in every step has one caller, which gathers its arguments: they need not meet in memory.
fn inline(item: &mut ImplItem) {
    let ImplItem::Fn(function) = item else { return };
    let runs = ["output", "update", "derivative", "guard"];
    let is_marked = function.attrs.iter().any(|attribute| attribute.path().is_ident("inline"));
    if !is_marked && runs.iter().any(|name| function.sig.ident == name) {
        function.attrs.push(parse_quote!(#[inline]));
    }
}

/// The name of the struct of parameters.
fn name_of(block: &Type) -> Result<Ident> {
    match block {
        Type::Path(path) if path.path.get_ident().is_some() => {
            Ok(path.path.require_ident()?.clone())
        }
        _ => Err(Error::new_spanned(block, "expected the name of a struct of this module")),
    }
}

fn name_of_item(item: &ImplItem) -> Option<String> {
    Some(match item {
        ImplItem::Const(item) => item.ident.to_string(),
        ImplItem::Type(item) => item.ident.to_string(),
        ImplItem::Fn(item) => item.sig.ident.to_string(),
        _ => return None,
    })
}
