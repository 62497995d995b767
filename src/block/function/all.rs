//! The functions of one caller together: made, saved, put back. It is the same for every kind of
//! block, and so compiled once.

use super::running::{FunctionInstance, SavedFunction};
use crate::fault::Fault;
use crate::instance::InstanceIo;

pub(crate) fn functions_of(io: &InstanceIo) -> Vec<FunctionInstance> {
    io.functions.iter().cloned().map(FunctionInstance::new).collect()
}

pub(crate) fn saved(functions: &[FunctionInstance]) -> Vec<SavedFunction> {
    functions.iter().map(FunctionInstance::save).collect()
}

pub(crate) fn restore_functions(functions: &mut [FunctionInstance], saved: &[SavedFunction]) {
    for (function, saved) in functions.iter_mut().zip(saved) {
        function.restore(saved);
    }
}

pub(crate) fn bytes_of(functions: &[FunctionInstance]) -> Result<Vec<Vec<u8>>, Box<Fault>> {
    functions.iter().map(FunctionInstance::save_bytes).collect()
}

pub(crate) fn load_functions(
    functions: &mut [FunctionInstance],
    saved: &[Vec<u8>],
) -> Result<(), Box<Fault>> {
    if functions.len() != saved.len() {
        let (expected, found) = (functions.len(), saved.len());
        return Err(Fault::new(format!("expected {expected} functions, found {found}")));
    }
    functions.iter_mut().zip(saved).try_for_each(|(function, bytes)| function.load_bytes(bytes))
}

pub(crate) fn json_of(
    state: serde_json::Result<serde_json::Value>,
    functions: &[FunctionInstance],
) -> Result<serde_json::Value, Box<Fault>> {
    let state =
        state.map_err(|error| Fault::new(format!("the state cannot be written: {error}")))?;
    if functions.is_empty() {
        return Ok(state);
    }
    let functions: Result<Vec<_>, _> = functions.iter().map(FunctionInstance::state_json).collect();
    Ok(serde_json::json!({ "state": state, "functions": functions? }))
}
