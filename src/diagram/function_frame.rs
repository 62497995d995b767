//! The block that stands for the caller inside a function (semantics 6.2).
//!
//! It lies in the caller's own variables. Its outputs are the arguments, its inputs the results, so
//! that inference and ordering need no rule of their own for calls. It never runs.

use std::sync::Arc;

use legwork_block::{
    Block, Declaration, ErasedBlock, Feeds, Files, FunctionDeclaration, Invalid, Outcome, OutputCx,
    PlannedBlock, Ports, Resource, Resources, Sizes, Span, erase,
};
use smallvec::SmallVec;

use crate::ids::{BlockId, IdVec};
use crate::network::NetworkBlock;
use crate::unify::readable;

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

/// The frame, with the id `frame`, of the function `index` of `caller`, bound at `span`. Its plan,
/// which gives `None` if it fails, looks at nothing.
pub(crate) fn block(
    caller: &NetworkBlock,
    index: usize,
    frame: BlockId,
    span: Span,
) -> Option<NetworkBlock> {
    let function = &caller.declaration.functions[index];
    let (_, planned) = plan_alone(erase(FunctionFrame)).ok()?;
    Some(NetworkBlock {
        path: frame_path(&caller.path, &function.name),
        span,
        parameters: SmallVec::new(),
        text: signature(function),
        hidden: true,
        declaration: Declaration {
            inputs: function.results.clone(),
            outputs: function.arguments.clone(),
            groups: vec![Feeds::Only(Vec::new())],
            ..Declaration::default()
        },
        var_base: caller.var_base,
        planned,
        joins: false,
        every: None,
        inputs: vec![None; function.results.len()],
        asked: Vec::new(),
        functions: Vec::new(),
        owner: Some(frame),
        gate: None,
        condition: None,
        scope: caller.scope,
    })
}

/// Path of the frame of a function: `ctrl.solve()`. No block of the text can have it.
fn frame_path(caller: &str, function: &str) -> String {
    format!("{caller}.{function}()")
}

/// Path of the place where the function with the frame `frame` is called: `ctrl.solve`.
pub(crate) fn call_site(blocks: &IdVec<BlockId, NetworkBlock>, frame: BlockId) -> &str {
    let path = blocks[frame].path.as_str();
    path.strip_suffix("()").unwrap_or(path)
}

/// `fn(problem: ContactProblem) -> (f: Vector)`.
pub(crate) fn signature(function: &FunctionDeclaration) -> String {
    let port = |name: &str, ty| format!("{name}: {}", readable(ty));
    let arguments: Vec<String> = function.arguments.iter().map(|a| port(&a.name, &a.ty)).collect();
    let results: Vec<String> = function.results.iter().map(|r| port(&r.name, &r.ty)).collect();
    format!("fn({}) -> ({})", arguments.join(", "), results.join(", "))
}

/// Plans a block that the compiler makes, which looks at nothing.
///
/// # Errors
/// Whatever its `plan` found wrong.
pub(crate) fn plan_alone(
    block: Arc<dyn ErasedBlock>,
) -> Result<(Declaration, Arc<dyn PlannedBlock>), Invalid> {
    block.plan(Ports::new(&Nothing, &Nothing, 0.0))
}

/// No robots and no files.
struct Nothing;

impl Resources for Nothing {
    fn resource(&self, _: &str) -> Option<&Arc<dyn Resource>> {
        None
    }

    fn resource_names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Files for Nothing {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("no file {path}"))
    }
}
