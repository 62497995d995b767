//! `#[bus]`: a bus from the table of its fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{DeriveInput, Expr, FnArg, Ident, Pat, Result, Stmt, Token, parenthesized};

use crate::doc::document;
use crate::ports::{Port, parse_arguments};

/// The whole table.
pub(crate) struct Table {
    arguments: Vec<FnArg>,
    /// Name of the struct that a reader sees.
    read_as: Option<Ident>,
    lines: Vec<Line>,
}

enum Line {
    Field(Box<Port>),
    /// `views(expression);`
    Views(Box<Expr>),
    /// A statement between fields.
    Code(Box<Stmt>),
}

impl Parse for Table {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let arguments = parse_arguments(input)?;
        let mut read_as = None;
        if input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            read_as = Some(input.parse()?);
            input.parse::<Token![;]>()?;
        }
        let mut lines = Vec::new();
        while !input.is_empty() {
            lines.push(input.parse()?);
        }
        Ok(Self { arguments, read_as, lines })
    }
}

impl Parse for Line {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        if let Ok(word) = ahead.parse::<Ident>() {
            if word == "views" && ahead.peek(syn::token::Paren) {
                input.parse::<Ident>()?;
                let views;
                parenthesized!(views in input);
                let line = Self::Views(Box::new(views.parse()?));
                input.parse::<Token![;]>()?;
                return Ok(line);
            }
            // `name:` or `name("M"):`
            let named = ahead.peek(syn::token::Paren) && ahead.peek2(Token![:]);
            if named || ahead.peek(Token![:]) && !ahead.peek(Token![::]) {
                return Ok(Self::Field(Box::new(Port::parse(input, false)?)));
            }
        }
        Ok(Self::Code(Box::new(input.parse()?)))
    }
}

pub(crate) fn expand(table: &Table, mut item: DeriveInput) -> TokenStream {
    let fields: Vec<&Port> = table.lines.iter().filter_map(Line::field).collect();
    document("| field | shape | unit | meaning |", &rows(&fields), &mut item);
    let (attributes, visibility, bus) = (&item.attrs, &item.vis, &item.ident);
    let text = bus.to_string();
    let name = text.strip_suffix("Bus").unwrap_or(&text);
    let read = table.read_as.clone().unwrap_or_else(|| format_ident!("{name}Ref"));
    let arguments = &table.arguments;
    let own_arguments = arguments.iter().filter_map(bus_argument);
    let statements = table.lines.iter().map(Line::statement);
    let constants = fields.iter().enumerate().map(|(leaf, field)| {
        let constant = format_ident!("{}", field.handle.to_string().to_uppercase());
        let doc = format!("Leaf of `{}`.", field.said_name());
        quote!(#[doc = #doc] pub const #constant: usize = #leaf;)
    });
    let members = fields.iter().map(|field| {
        let (doc, name, ty) = (field.doc.value(), &field.handle, value_type(field));
        quote!(#[doc = #doc] pub #name: #ty)
    });
    let reads = fields.iter().enumerate().map(|(leaf, field)| {
        let (name, value) = (&field.handle, value(field, leaf));
        quote!(#name: #value)
    });
    let count = fields.len();
    let new_doc = format!("The type `{name}` of these sizes and names.");
    let read_doc = format!("A value of the bus `{name}`; matrices column by column.");
    quote! {
        #(#attributes)*
        #[derive(Clone)]
        #visibility struct #bus {
            ty: ::legwork_block::Type,
        }

        impl #bus {
            #(#constants)*
            /// Number of leaves.
            pub const LEAVES: usize = #count;

            #[doc = #new_doc]
            pub fn new(#(#arguments),*) -> Self {
                let mut fields = ::std::vec::Vec::new();
                let mut views = ::std::vec::Vec::new();
                #(#statements)*
                let arguments = ::std::vec![#(#own_arguments),*];
                views.shrink_to_fit();
                Self { ty: ::legwork_block::bus(#name, arguments, fields, views) }
            }
        }

        #[doc = #read_doc]
        #[derive(Clone, Copy)]
        #visibility struct #read<'a> {
            #(#members,)*
        }

        impl ::legwork_block::Signal for #bus {
            type Ref<'a> = #read<'a>;

            fn ty(&self) -> ::legwork_block::Type {
                self.ty.clone()
            }

            #[inline]
            fn read(leaves: ::legwork_block::Leaves<'_>) -> #read<'_> {
                #read { #(#reads),* }
            }
        }

        impl ::legwork_block::Bus for #bus {
            const LEAVES: usize = #count;
        }
    }
}

impl Line {
    fn field(&self) -> Option<&Port> {
        match self {
            Self::Field(field) => Some(field),
            _ => None,
        }
    }

    fn statement(&self) -> TokenStream {
        match self {
            Self::Code(code) => quote!(#code),
            Self::Views(made) => quote!(views = #made;),
            Self::Field(field) => {
                let (signal, name, doc) = (&field.signal, field.said_name(), &field.doc);
                let (unit, frame) = (field.unit.iter(), field.frame.iter());
                quote! {
                    let ty = ::legwork_block::Signal::ty(&#signal);
                    fields.push(
                        ::legwork_block::BusField::new(#name, ty)
                            #(.unit(#unit))* #(.frame(#frame))* .doc(#doc),
                    );
                }
            }
        }
    }
}

fn rows(fields: &[&Port]) -> Vec<String> {
    fields.iter().map(|field| field.row("")).collect()
}

/// The name of an argument of type `Arg`, which is one of the bus.
fn bus_argument(argument: &FnArg) -> Option<TokenStream> {
    let FnArg::Typed(argument) = argument else { return None };
    let is_arg = argument.ty.to_token_stream().to_string() == "Arg";
    match &*argument.pat {
        Pat::Ident(name) if is_arg => Some(name.ident.to_token_stream()),
        _ => None,
    }
}

/// What a reader gets of a field.
fn value_type(field: &Port) -> TokenStream {
    match field.kind_name().as_str() {
        "Real" => quote!(f64),
        "Int" => quote!(i64),
        "Bool" => quote!(bool),
        _ => quote!(&'a [f64]),
    }
}

fn value(field: &Port, leaf: usize) -> TokenStream {
    let leaf = quote!(leaves.leaf(#leaf));
    match field.kind_name().as_str() {
        "Real" => quote!(#leaf[0]),
        "Int" => quote!(#leaf[0] as i64),
        "Bool" => quote!(#leaf[0] != 0.0),
        _ => leaf,
    }
}
