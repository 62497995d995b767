//! `#[parameters]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Data, DeriveInput, Expr, ExprLit, Field, Fields, Ident, Lit, LitStr, Meta};
use syn::{Result, Token, Type, UnOp, parenthesized, parse_quote};

use crate::doc::documentation;

/// What stands in the parentheses of the attribute.
pub(crate) struct Arguments {
    aliases: Vec<LitStr>,
    /// Whether every field that is left out is that of the struct's `Default`.
    default: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Self { aliases: Vec::new(), default: false };
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            if name == "aliases" {
                let words;
                parenthesized!(words in input);
                let words = Punctuated::<LitStr, Token![,]>::parse_terminated(&words)?;
                arguments.aliases = words.into_iter().collect();
            } else if name == "default" {
                arguments.default = true;
            } else {
                return Err(syn::Error::new(name.span(), "expected `aliases(…)` or `default`"));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

pub(crate) fn expand(arguments: &Arguments, mut item: DeriveInput) -> Result<TokenStream> {
    let name = item.ident.clone();
    let mut defaults = Vec::new();
    // A choice without values of its own can be shown as a default.
    let is_choice = match &item.data {
        Data::Enum(data) => data.variants.iter().all(|variant| variant.fields.is_empty()),
        _ => false,
    };
    let serialize = is_choice.then(|| quote!(::legwork_block::serde::Serialize,)).into_iter();
    let has_fields = match &mut item.data {
        Data::Struct(data) => {
            for field in &mut data.fields {
                defaults.extend(take_default(field, &name, "")?);
            }
            matches!(data.fields, Fields::Named(_))
        }
        Data::Enum(data) => {
            for variant in &mut data.variants {
                let prefix = format!("{}_", variant.ident).to_lowercase();
                for field in &mut variant.fields {
                    defaults.extend(take_default(field, &name, &prefix)?);
                }
            }
            data.variants.iter().any(|variant| matches!(variant.fields, Fields::Named(_)))
        }
        Data::Union(_) => return Err(syn::Error::new(name.span(), "expected a struct or an enum")),
    };
    let aliases = &arguments.aliases;
    let aliases = (!aliases.is_empty())
        .then(|| quote!(#[schemars(extend("x-aliases" = [#(#aliases),*]))]))
        .into_iter();
    let deny = has_fields.then(|| quote!(#[serde(deny_unknown_fields)])).into_iter();
    let default = arguments.default.then(|| quote!(#[serde(default)])).into_iter();
    let functions = (!defaults.is_empty()).then(|| quote!(impl #name { #(#defaults)* }));
    Ok(quote! {
        #[derive(
            Debug,
            Clone,
            ::legwork_block::serde::Deserialize,
            #(#serialize)*
            ::legwork_block::schemars::JsonSchema,
        )]
        #[serde(crate = "::legwork_block::serde")]
        #[schemars(crate = "::legwork_block::schemars")]
        #(#deny)*
        #(#default)*
        #(#aliases)*
        #item
        #functions
    })
}

/// Takes `#[default]` off a field. For a value it also gives the function that makes it.
fn take_default(field: &mut Field, of: &Ident, prefix: &str) -> Result<Option<TokenStream>> {
    let Some(at) = field.attrs.iter().position(|attribute| attribute.path().is_ident("default"))
    else {
        if is_option(&field.ty) {
            field.attrs.push(parse_quote!(#[serde(default)]));
        }
        return Ok(None);
    };
    let value = match field.attrs.remove(at).meta {
        Meta::Path(_) => {
            field.attrs.push(parse_quote!(#[serde(default)]));
            return Ok(None);
        }
        Meta::NameValue(value) => value.value,
        Meta::List(list) => {
            return Err(syn::Error::new_spanned(list, "expected `#[default]` or `#[default = …]`"));
        }
    };
    let Some(name) = &field.ident else {
        return Err(syn::Error::new_spanned(field, "only a field with a name can have a default"));
    };
    let function = format_ident!("default_{prefix}{name}");
    let path = LitStr::new(&format!("{of}::{function}"), Span::call_site());
    // The manual has a column for defaults: only the documentation of the code needs the words.
    let doc = documentation(&field.attrs);
    let said = format!("\n\nDefault: {}.", shown(&value));
    field.attrs.push(parse_quote!(#[doc = #said]));
    field.attrs.push(parse_quote!(#[schemars(description = #doc)]));
    field.attrs.push(parse_quote!(#[serde(default = #path)]));
    let ty = &field.ty;
    let value = made(&value, ty);
    Ok(Some(quote! {
        #[doc(hidden)]
        fn #function() -> #ty {
            #value
        }
    }))
}

/// Whether a type is an `Option`, by its name.
fn is_option(ty: &Type) -> bool {
    let Type::Path(ty) = ty else { return false };
    ty.path.segments.last().is_some_and(|last| last.ident == "Option")
}

/// The value as the documentation shows it.
fn shown(value: &Expr) -> String {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value(),
        Expr::Array(list) => {
            let elements = list.elems.iter().map(|value| value.to_token_stream().to_string());
            format!("`[{}]`", elements.collect::<Vec<_>>().join(", ").replace("- ", "-"))
        }
        _ => format!("`{}`", value.to_token_stream()),
    }
}

/// Whether an expression is a number as a diagram writes it, such as `-9.81`.
fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => matches!(lit, Lit::Int(_) | Lit::Float(_)),
        Expr::Unary(negative) => matches!(negative.op, UnOp::Neg(_)) && is_number(&negative.expr),
        _ => false,
    }
}

/// The expression that makes a default of the type `ty`: numbers, lists of them and texts are those
/// of a diagram.
fn made(value: &Expr, ty: &Type) -> TokenStream {
    match value {
        value if is_number(value) => {
            quote!(<#ty as ::legwork_block::quantity::Preset>::number((#value) as f64))
        }
        Expr::Array(list) if list.elems.iter().all(is_number) => {
            let numbers = list.elems.iter();
            quote!(<#ty as ::legwork_block::quantity::Preset>::list(&[#((#numbers) as f64),*]))
        }
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote!(<#ty as ::legwork_block::quantity::Preset>::text(#text))
        }
        _ => quote!(#value),
    }
}
