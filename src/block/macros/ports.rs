//! `#[ports]`: the table, and what is made of it. One file: each kind of line is read and turned
//! into code side by side.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Error, Expr, FnArg, Ident, Lit, LitStr, Pat, Path, Result};
use syn::{Stmt, Token, Type, bracketed, parenthesized, parse_quote};

use crate::doc::document;

/// The whole table.
pub(crate) struct Table {
    arguments: Vec<FnArg>,
    lines: Vec<Line>,
}

enum Line {
    Port(Box<Port>),
    /// `feeds(a, b);`
    Feeds(Vec<Ident>),
    /// A shared computation, with the type of its value.
    Ask {
        handle: Ident,
        value: Box<Type>,
        request: Box<Expr>,
    },
    /// A constant of the plan, with its comment.
    Keep {
        doc: Vec<Attribute>,
        name: Ident,
        ty: Box<Type>,
        value: Box<Expr>,
    },
    /// A statement between ports.
    Code(Box<Stmt>),
}

pub(crate) struct Port {
    is_input: bool,
    pub(crate) handle: Ident,
    /// The name in diagrams, or what to loop over for the names of many.
    name: Name,
    is_optional: bool,
    pub(crate) signal: Expr,
    /// The type of the signal.
    kind: Type,
    /// `None` where the block fixes none.
    pub(crate) unit: Option<Expr>,
    pub(crate) doc: LitStr,
    when: Option<Expr>,
    pub(crate) frame: Option<Expr>,
    is_infinite: bool,
    /// Of an output: the input whose elements its own are called as, and which part of it.
    elements: Option<(Ident, String)>,
    /// What the documentation says in place of the code.
    said: Said,
}

enum Name {
    One(String),
    Many(Box<(Pat, Expr)>),
}

#[derive(Default)]
struct Said {
    shape: Option<String>,
    units: Option<String>,
    named: Option<String>,
    condition: Option<String>,
}

impl Parse for Table {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let arguments = parse_arguments(input)?;
        let mut lines = Vec::new();
        while !input.is_empty() {
            lines.push(input.parse()?);
        }
        elements_of_inputs(&lines)?;
        Ok(Self { arguments, lines })
    }
}

/// What the elements of outputs are called as is an input before them.
fn elements_of_inputs(lines: &[Line]) -> Result<()> {
    let mut inputs = Vec::new();
    for line in lines {
        let Line::Port(port) = line else { continue };
        if let Some((of, _)) = port.elements.as_ref().filter(|(of, _)| !inputs.contains(&of)) {
            return Err(Error::new(of.span(), format!("expected an input, found `{of}`")));
        }
        if port.is_input {
            inputs.push(&port.handle);
        }
    }
    Ok(())
}

/// `|n: &Dim, robot: &str|`, or nothing.
pub(crate) fn parse_arguments(input: ParseStream<'_>) -> Result<Vec<FnArg>> {
    let mut arguments = Vec::new();
    if input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        while !input.peek(Token![|]) {
            arguments.push(input.parse()?);
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
        }
        input.parse::<Token![|]>()?;
    }
    Ok(arguments)
}

impl Parse for Line {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![in]) {
            input.parse::<Token![in]>()?;
            return Ok(Self::Port(Box::new(Port::parse(input, true)?)));
        }
        let ahead = input.fork();
        let word = ahead.parse::<Ident>().map(|word| word.to_string()).unwrap_or_default();
        if word == "out" && ahead.peek(Ident) {
            input.parse::<Ident>()?;
            return Ok(Self::Port(Box::new(Port::parse(input, false)?)));
        }
        if word == "feeds" && ahead.peek(syn::token::Paren) {
            input.parse::<Ident>()?;
            let names;
            parenthesized!(names in input);
            let names = Punctuated::<Ident, Token![,]>::parse_terminated(&names)?;
            input.parse::<Token![;]>()?;
            return Ok(Self::Feeds(names.into_iter().collect()));
        }
        if word == "ask" && ahead.peek(Ident) {
            input.parse::<Ident>()?;
            let handle = input.parse()?;
            input.parse::<Token![:]>()?;
            let value = Box::new(input.parse()?);
            input.parse::<Token![=]>()?;
            let request = Box::new(input.parse()?);
            input.parse::<Token![;]>()?;
            return Ok(Self::Ask { handle, value, request });
        }
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        if ahead.parse::<Ident>().is_ok_and(|word| word == "keep") && ahead.peek(Ident) {
            let doc = input.call(Attribute::parse_outer)?;
            input.parse::<Ident>()?;
            let name = input.parse()?;
            input.parse::<Token![:]>()?;
            let ty = Box::new(input.parse()?);
            input.parse::<Token![=]>()?;
            let value = Box::new(input.parse()?);
            input.parse::<Token![;]>()?;
            return Ok(Self::Keep { doc, name, ty, value });
        }
        Ok(Self::Code(Box::new(input.parse()?)))
    }
}

impl Port {
    pub(crate) fn parse(input: ParseStream<'_>, is_input: bool) -> Result<Self> {
        let handle: Ident = input.parse()?;
        let mut name = Name::One(handle.to_string());
        if input.peek(syn::token::Paren) {
            let text;
            parenthesized!(text in input);
            name = Name::One(text.parse::<LitStr>()?.value());
        } else if input.peek(syn::token::Bracket) {
            let names;
            bracketed!(names in input);
            let mut pattern = parse_quote!(name);
            let ahead = names.fork();
            if Pat::parse_single(&ahead).is_ok() && ahead.peek(Token![in]) {
                pattern = Pat::parse_single(&names)?;
                names.parse::<Token![in]>()?;
            }
            name = Name::Many(Box::new((pattern, names.parse()?)));
        }
        let is_optional = input.peek(Token![?]);
        if is_optional {
            let mark = input.parse::<Token![?]>()?;
            if !is_input {
                return Err(Error::new(mark.span, "an output is never left out: use `when`"));
            }
        }
        input.parse::<Token![:]>()?;
        let signal: Expr = input.parse()?;
        input.parse::<Token![,]>()?;
        let unit = if input.peek(Token![_]) {
            input.parse::<Token![_]>()?;
            None
        } else {
            Some(input.parse()?)
        };
        input.parse::<Token![,]>()?;
        let (kind, signal) = kind_of(signal)?;
        let mut port = Self {
            is_input,
            handle,
            name,
            is_optional,
            signal,
            kind,
            unit,
            doc: input.parse()?,
            when: None,
            frame: None,
            is_infinite: false,
            elements: None,
            said: Said::default(),
        };
        while input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            port.option(input)?;
        }
        input.parse::<Token![;]>()?;
        Ok(port)
    }

    /// What may follow the meaning.
    fn option(&mut self, input: ParseStream<'_>) -> Result<()> {
        if input.peek(Token![if]) {
            input.parse::<Token![if]>()?;
            self.said.condition = Some(input.parse::<LitStr>()?.value());
            return Ok(());
        }
        let word: Ident = input.parse()?;
        let text = || -> Result<Option<String>> { Ok(Some(input.parse::<LitStr>()?.value())) };
        match word.to_string().as_str() {
            "when" => self.when = Some(input.parse()?),
            "frame" => self.frame = Some(input.parse()?),
            "infinite" if !self.is_input => self.is_infinite = true,
            "elements" if !self.is_input => {
                let (of, mut part) = (input.parse()?, String::new());
                if input.peek(Token![.]) {
                    input.parse::<Token![.]>()?;
                    part = input.parse::<Ident>()?.to_string();
                }
                self.elements = Some((of, part));
            }
            "shape" => self.said.shape = text()?,
            "units" => self.said.units = text()?,
            "named" => self.said.named = text()?,
            _ => {
                let message = "expected `when`, `frame`, `infinite` or `elements` (of an output), \
                               `shape`, `units`, `named` or `if`";
                return Err(Error::new(word.span(), message));
            }
        }
        Ok(())
    }
}

/// The type of a signal's expression, which its constructor or a cast names, and the expression.
fn kind_of(signal: Expr) -> Result<(Type, Expr)> {
    let function = match signal {
        Expr::Cast(cast) => return Ok((*cast.ty, *cast.expr)),
        Expr::Path(ref path) => Some(&path.path),
        Expr::Call(ref call) => match &*call.func {
            Expr::Path(path) => Some(&path.path),
            _ => None,
        },
        _ => None,
    };
    let kind = function.and_then(constructed);
    match kind {
        Some(kind) => Ok((parse_quote!(#kind), signal)),
        None => Err(Error::new_spanned(
            signal,
            "expected a constructor such as `Vector::of(&n)`; write `signal as Kind` otherwise",
        )),
    }
}

/// `Vector` of `Vector::of`.
fn constructed(path: &Path) -> Option<Path> {
    let is_type = |segment: &syn::PathSegment| {
        segment.ident.to_string().starts_with(|first: char| first.is_uppercase())
    };
    let mut path = path.clone();
    if !path.segments.last().is_some_and(is_type) {
        path.segments.pop();
        path.segments.pop_punct();
    }
    path.segments.last().is_some_and(is_type).then_some(path)
}

pub(crate) fn expand(table: &Table, mut item: DeriveInput) -> TokenStream {
    let ports: Vec<&Port> = table.lines.iter().filter_map(Line::port).collect();
    let rows: Vec<String> = ports.iter().map(|port| port.row(port.direction())).collect();
    document("| port | shape | unit | meaning |", &rows, &mut item);
    let (block, visibility) = (&item.ident, &item.vis);
    let handles = format_ident!("{block}Ports");
    let fields = table.lines.iter().filter_map(Line::field);
    let arguments = &table.arguments;
    let names = table.lines.iter().filter_map(Line::handle);
    let keeps = table.lines.iter().any(|line| matches!(line, Line::Keep { .. }));
    let doc = format!("Ports{} of a [`{block}`].", if keeps { " and constants" } else { "" });
    let is_copy = ports.iter().all(|port| matches!(port.name, Name::One(_)));
    let copy = is_copy.then(|| quote!(, Copy));
    let derive = (!keeps).then(|| quote!(#[derive(Clone #copy)]));
    let statements: TokenStream = table.lines.iter().map(Line::statement).collect();
    let is_fallible = has_question_mark(statements.clone());
    let count = |is_input| ports.iter().filter(|port| port.is_one(is_input)).count();
    let (inputs, outputs) = (count(true), count(false));
    let (returned, made, planned) = match is_fallible {
        true => (
            quote!(::std::result::Result<#handles, ::legwork_block::Invalid>),
            quote!(::std::result::Result::Ok(#handles { #(#names),* })),
            quote!(self.declare(ports)),
        ),
        false => (
            quote!(#handles),
            quote!(#handles { #(#names),* }),
            quote!(::std::result::Result::Ok(self.declare(ports))),
        ),
    };
    // For `#[block]`, which does not see the table.
    let declared = arguments.is_empty().then(|| {
        quote! {
            #[doc(hidden)]
            #[allow(dead_code, reason = "a block may have a plan of its own")]
            fn declared(
                &self,
                ports: &mut ::legwork_block::Ports<'_>,
            ) -> ::std::result::Result<#handles, ::legwork_block::Invalid> {
                #planned
            }
        }
    });
    quote! {
        #item

        #[doc = #doc]
        #derive
        #[allow(unreachable_pub, reason = "as visible as the block, wherever its plan takes them")]
        #visibility struct #handles {
            #(#fields,)*
        }

        impl #block {
            /// Declares the ports.
            #[allow(clippy::too_many_arguments, reason = "one for each thing the table needs")]
            fn declare(
                &self,
                ports: &mut ::legwork_block::Ports<'_>,
                #(#arguments),*
            ) -> #returned {
                ports.reserve(#inputs, #outputs);
                #statements
                #made
            }

            #declared
        }
    }
}

/// Whether a statement may return early.
fn has_question_mark(code: TokenStream) -> bool {
    code.into_iter().any(|token| match token {
        TokenTree::Punct(mark) => mark.as_char() == '?',
        TokenTree::Group(group) => has_question_mark(group.stream()),
        _ => false,
    })
}

impl Line {
    fn port(&self) -> Option<&Port> {
        match self {
            Self::Port(port) => Some(port),
            _ => None,
        }
    }

    /// The name of its handle, if it has one.
    fn handle(&self) -> Option<&Ident> {
        match self {
            Self::Port(port) => Some(&port.handle),
            Self::Ask { handle: name, .. } | Self::Keep { name, .. } => Some(name),
            Self::Feeds(_) | Self::Code(_) => None,
        }
    }

    /// Its field in the struct of handles.
    fn field(&self) -> Option<TokenStream> {
        let handle = self.handle()?;
        Some(match self {
            Self::Port(port) => {
                let (doc, ty) = (&port.doc, port.handle_type());
                quote!(#[doc = #doc] pub #handle: #ty)
            }
            Self::Ask { value, .. } => {
                let ty = quote!(::legwork_block::Shared<#value>);
                quote!(#[doc = "A shared computation."] pub #handle: #ty)
            }
            Self::Keep { doc, ty, .. } => quote!(#(#doc)* #handle: #ty),
            Self::Feeds(_) | Self::Code(_) => return None,
        })
    }

    fn statement(&self) -> TokenStream {
        match self {
            Self::Ask { handle, request, .. } => quote!(let #handle = #request;),
            Self::Keep { name, ty, value, .. } => quote!(let #name: #ty = #value;),
            Self::Code(code) => quote!(#code),
            Self::Feeds(names) => quote! {
                let feeds = {
                    let mut feeds = ::std::vec::Vec::new();
                    #(::legwork_block::Feeding::push(&#names, &mut feeds);)*
                    feeds
                };
                ports.group(&feeds);
            },
            Self::Port(port) => port.statement(),
        }
    }
}

impl Port {
    fn handle_type(&self) -> TokenStream {
        let kind = &self.kind;
        let handle = match (self.is_input, self.is_optional) {
            (true, false) => quote!(::legwork_block::In<#kind>),
            (true, true) => quote!(::legwork_block::OptionalIn<#kind>),
            (false, _) => quote!(::legwork_block::Out<#kind>),
        };
        let handle = match self.name {
            Name::One(_) => handle,
            Name::Many(..) => quote!(::std::vec::Vec<#handle>),
        };
        match self.when {
            Some(_) => quote!(::std::option::Option<#handle>),
            None => handle,
        }
    }

    fn statement(&self) -> TokenStream {
        let (handle, signal, doc) = (&self.handle, &self.signal, &self.doc);
        let (declare, note) = match (self.is_input, self.is_optional) {
            (true, false) => (quote!(input), quote!(note_in)),
            (true, true) => (quote!(optional_input), quote!(note_optional)),
            (false, _) => (quote!(output), quote!(note_out)),
        };
        let unit = self.unit.iter().map(|unit| quote!(#unit));
        // What the documentation says of elements of several units holds for what is connected.
        let among = self.said.units.as_ref().filter(|units| units.contains(", "));
        let among = among.filter(|_| self.is_input).map(|units| quote!(.or_among(#units)));
        let among = among.into_iter();
        let frame = self.frame.iter();
        let infinite = self.is_infinite.then(|| quote!(.may_be_infinite())).into_iter();
        let elements = self.elements.iter().map(|(of, part)| quote!(.elements_of(&#of, #part)));
        let one = |name: TokenStream| {
            let (unit, frame, infinite) = (unit.clone(), frame.clone(), infinite.clone());
            let (elements, among) = (elements.clone(), among.clone());
            quote! {
                let signal = #signal;
                let port = ports.#declare(#name, &signal);
                ports.#note(port) #(.of_unit(#unit))* #(#among)* #(.frame(#frame))*
                    #(#infinite)* #(#elements)* .doc(#doc);
            }
        };
        let declared = match &self.name {
            Name::One(name) => {
                let one = one(quote!(#name));
                quote!({ #one port })
            }
            Name::Many(many) => {
                let (pattern, names) = &**many;
                let name = quote!(::std::convert::AsRef::<str>::as_ref(&name).to_owned());
                let one = one(name);
                quote! {{
                    let mut handles = ::std::vec::Vec::new();
                    for #pattern in #names {
                        #one
                        handles.push(port);
                    }
                    handles
                }}
            }
        };
        match &self.when {
            None => quote!(let #handle = #declared;),
            Some(condition) => quote! {
                let #handle = if #condition {
                    ::std::option::Option::Some(#declared)
                } else {
                    ::std::option::Option::None
                };
            },
        }
    }

    /// Whether it stands for one port that is always there, an input or an output.
    fn is_one(&self, is_input: bool) -> bool {
        self.is_input == is_input && self.when.is_none() && matches!(self.name, Name::One(_))
    }

    /// `in `, `out `.
    fn direction(&self) -> &'static str {
        if self.is_input { "in " } else { "out " }
    }

    /// Its name in diagrams.
    pub(crate) fn said_name(&self) -> String {
        match &self.name {
            Name::One(name) => name.clone(),
            Name::Many(..) => self.handle.to_string(),
        }
    }

    /// Its line in the documentation.
    pub(crate) fn row(&self, direction: &str) -> String {
        let name = match &self.said.named {
            Some(named) => named.clone(),
            None => format!("`{}`", self.said_name()),
        };
        let condition = match (&self.said.condition, &self.when) {
            (Some(said), _) => format!(", {said}"),
            (None, Some(condition)) => format!(", with `{}`", flag(condition)),
            (None, None) => String::new(),
        };
        let optional = if self.is_optional { ", optional" } else { "" };
        let shape = self.said.shape.clone().unwrap_or_else(|| self.shape());
        let unit = match (&self.said.units, &self.unit) {
            (Some(said), _) => said.clone(),
            (None, Some(Expr::Lit(literal))) => match &literal.lit {
                Lit::Str(unit) => plain_unit(&unit.value()),
                _ => String::new(),
            },
            (None, _) => String::new(),
        };
        // A bar in the meaning would end its cell.
        let doc = self.doc.value().replace('|', "\\|");
        format!(" | {direction}{name}{condition}{optional} | {shape} | {unit} | {doc} |")
    }

    /// The signal's type as text.
    pub(crate) fn kind_name(&self) -> String {
        let kind = self.kind.to_token_stream().to_string().replace(' ', "");
        kind.rsplit("::").next().unwrap_or_default().to_owned()
    }

    /// The shape of a signal, from the expression that makes it.
    fn shape(&self) -> String {
        let kind = self.kind_name();
        let arguments: Vec<String> = match &self.signal {
            Expr::Call(call) => call.args.iter().map(plain).collect(),
            _ => Vec::new(),
        };
        match (kind.as_str(), arguments.as_slice()) {
            ("Real", _) => String::new(),
            ("Int", _) => "whole number".to_owned(),
            ("Bool", _) => "truth value".to_owned(),
            ("Vector", [n]) => n.clone(),
            ("Matrix", [rows, columns]) => format!("{rows} × {columns}"),
            ("Rotation", _) => "3 × 3".to_owned(),
            ("Any", _) => "any".to_owned(),
            (bus, arguments) => {
                let name = bus.strip_suffix("Bus").unwrap_or(bus);
                let of_a_robot = arguments.iter().any(|argument| argument.contains("robot"));
                if of_a_robot { format!("{name}(robot)") } else { name.to_owned() }
            }
        }
    }
}

/// A dimension as a formula shows it: `3 n` of `3 * n.clone()`.
fn plain(argument: &Expr) -> String {
    let text = argument.to_token_stream().to_string();
    let text = text.replace(". clone ()", "").replace(".clone()", "").replace(['&', '*'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `electric` of `self.electric.is_some()`.
fn flag(condition: &Expr) -> String {
    let text = condition.to_token_stream().to_string().replace(' ', "");
    let text = text.strip_prefix("self.").unwrap_or(&text);
    text.strip_suffix(".is_some()").unwrap_or(text).to_owned()
}

/// `N m/s²` of `N*m/s^2`.
fn plain_unit(unit: &str) -> String {
    unit.replace('*', " ").replace("^2", "²").replace("^3", "³")
}
