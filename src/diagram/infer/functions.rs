//! Functions while types are found: a frame for each, and what may not stand in one.
//!
//! The frame of a function is a pseudo-block in the caller's own variables. Its outputs are the
//! arguments, its inputs the results, so that inference needs no rule of its own for calls.

use legwork_block::{
    Block, Declaration, Diagnostic, Diagnostics, Feeds, FunctionDeclaration, Invalid, Outcome,
    OutputCx, Ports, RateRule, Sizes, erase,
};

use super::TypedBlock;
use crate::network::{NetworkBlock, frame_path};

/// What stands for the caller inside a function. It never runs.
struct FunctionFrame;

impl Block for FunctionFrame {
    const KIND: &'static str = "Function";
    type Plan = ();
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, _: &mut Ports<'_>) -> Result<(), Invalid> {
        Ok(())
    }

    fn state(&self, (): &(), _: &Sizes<'_>) {}

    fn scratch(&self, (): &(), _: &Sizes<'_>) {}

    fn output(&self, (): &(), _: &mut OutputCx<'_, Self>) -> Outcome {
        Ok(())
    }
}

/// The frames of the functions that are bound, in the variables of the diagram.
pub(super) fn frames(
    block: &NetworkBlock,
    declaration: &Declaration,
    var_base: u32,
) -> Vec<TypedBlock> {
    let frame = |function: &FunctionDeclaration| {
        let need = block.needs.iter().find(|need| need.name == function.name)?;
        let path = frame_path(&block.path, &function.name);
        let network = NetworkBlock {
            text: signature(function),
            block: erase(FunctionFrame),
            span: need.span,
            parameter_spans: Default::default(),
            every: None,
            inputs: need.results.clone(),
            needs: Vec::new(),
            owner: Some(path.clone()),
            hidden: true,
            gate: None,
            condition: None,
            path,
        };
        let declaration = Declaration {
            inputs: function.results.clone(),
            outputs: function.arguments.clone(),
            groups: vec![Feeds::Only(Vec::new())],
            ..Declaration::default()
        };
        let nothing = Ports::new(&NoWorld, &NoWorld, 0.0);
        let (_, planned) = erase(FunctionFrame).plan(nothing).ok()?;
        Some(TypedBlock {
            network,
            declaration,
            planned,
            asked: Vec::new(),
            gate: None,
            functions: Vec::new(),
            var_base,
            vars: Vec::new(),
        })
    };
    declaration.functions.iter().filter_map(frame).collect()
}

/// `fn(problem: ContactProblem) -> (f: Vector)`.
fn signature(function: &FunctionDeclaration) -> String {
    let list = |ports: Vec<String>| ports.join(", ");
    let port =
        |name: &str, ty: &legwork_block::Type| format!("{name}: {}", crate::unify::readable(ty));
    format!(
        "fn({}) -> ({})",
        list(function.arguments.iter().map(|a| port(&a.name, &a.ty)).collect()),
        list(function.results.iter().map(|r| port(&r.name, &r.ty)).collect())
    )
}

/// The call site, if the block itself is what a function is bound to.
pub(super) fn called(block: &NetworkBlock) -> Option<&str> {
    let site = block.owner.as_deref()?.strip_suffix("()")?;
    (site == block.path).then_some(site)
}

/// Reports functions that are not bound, and blocks of functions that ask for time of their own.
pub(super) fn check(
    block: &NetworkBlock,
    declaration: &Declaration,
    diagnostics: &mut Diagnostics,
) {
    for function in &declaration.functions {
        if block.needs.iter().any(|need| need.name == function.name) {
            continue;
        }
        let (path, name) = (&block.path, &function.name);
        let message = format!("{path}: the function `{name}` that it needs is not bound");
        diagnostics.push(
            Diagnostic::error("missing-function", block.span, message)
                .label(signature(function))
                .hint(format!("bind it in the block: needs: {{ \"{name}\": Use(\"…\") }}")),
        );
    }
    let Some(owner) = &block.owner else { return };
    let mut refuse = |span, what: &str| {
        let site = owner.strip_suffix("()").unwrap_or(owner);
        let message = format!("{} {what}, but `{site}` has no time of its own", block.path);
        diagnostics.push(
            Diagnostic::error("function-time", span, message)
                .label("a function runs when its caller calls it")
                .hint("connect it by wires instead, outside the function"),
        );
    };
    if declaration.continuous.is_some() {
        refuse(block.span, "has continuous state");
    }
    if declaration.guards.iter().any(|guard| guard.resets) {
        refuse(block.span, "has guards");
    }
    if block.condition.is_some() {
        refuse(block.span, "is a conditional part");
    }
    if declaration.solves.is_some() {
        refuse(block.span, "closes an algebraic loop");
    }
    if declaration.stops.is_some() {
        refuse(block.span, "ends the run");
    }
    if let Some(every) = block.every {
        refuse(every.span, "has a period");
    } else if declaration.rate == RateRule::Sampled {
        refuse(block.span, "has sampled state");
    }
}

/// Nothing to look at: a frame looks at nothing.
struct NoWorld;

impl legwork_block::Resources for NoWorld {
    fn resource(&self, _: &str) -> Option<&std::sync::Arc<dyn legwork_block::Resource>> {
        None
    }

    fn resource_names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl legwork_block::Files for NoWorld {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("no file {path}"))
    }
}
