//! Blocks that are functions of Python.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use legwork_block::{
    Any, Block, Fault, In, Invalid, Out, Outcome, OutputCx, Ports, RateRule, Sizes, Type, UpdateCx,
    block, nearest, parameters,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Most exceptions that wait to be asked for.
const MOST_RAISED: usize = 64;

/// A function that is registered.
struct Callable {
    /// Called with the time, the state, and a list of inputs; gives lists of outputs and of the
    /// next state.
    call: Py<PyAny>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    state: Vec<f64>,
}

/// Name, rows and columns (0 rows: one number), whether it is a truth value, unit.
type Port = (String, (usize, usize), bool, Option<String>);

static FUNCTIONS: Mutex<BTreeMap<String, Arc<Callable>>> = Mutex::new(BTreeMap::new());
/// Exceptions by the texts of the faults that they became.
static RAISED: Mutex<Vec<(String, PyErr)>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a function under a name, instead of another of this name.
#[pyfunction]
#[pyo3(name = "_register_block")]
pub(crate) fn register_block(
    name: String,
    call: Py<PyAny>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    state: Vec<f64>,
) {
    let callable = Callable { call, inputs, outputs, state };
    let before = locked(&FUNCTIONS).insert(name, Arc::new(callable));
    // Its function may go with it, which must not happen under the lock.
    drop(before);
}

/// The exception that became a fault with this text.
pub(crate) fn raised(fault: &str) -> Option<PyErr> {
    let mut raised = locked(&RAISED);
    let at = raised.iter().position(|(text, _)| fault.contains(text.as_str()))?;
    Some(raised.remove(at).1)
}

/// A function of Python, registered by `@legwork.block`, for prototypes.
///
/// Its ports are those that the function declares. It is called once per evaluation, with the time
/// and its inputs; a function with state is called once per period, and gives its next state too.
/// Whether runs repeat is up to the function. An exception ends the run, and is raised by what ran
/// it.
#[parameters]
pub(crate) struct Python {
    /// The name under which the function is registered.
    pub function: String,
}

/// Ports of a [`Python`].
pub(crate) struct Plan {
    inputs: Vec<In<Any>>,
    outputs: Vec<Out<Any>>,
    callable: Arc<Callable>,
}

fn type_of((_, (rows, columns), is_bool, _): &Port) -> Type {
    match (rows, columns) {
        (0, _) if *is_bool => Type::Bool,
        (0, _) => Type::Real,
        (rows, 1) => Type::vector(*rows),
        (rows, columns) => Type::matrix(*rows, *columns),
    }
}

#[block]
impl Block for Python {
    const ACTS: bool = true;
    type Plan = Plan;
    type State = Vec<f64>;
    /// The next state.
    type Memo = Vec<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let functions = locked(&FUNCTIONS);
        let Some(callable) = functions.get(&self.function) else {
            let known = functions.keys().map(String::as_str);
            let hint = match nearest(&self.function, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`@legwork.block` registers one, in this process".to_owned(),
            };
            let message = format!("expected the name of a function, found `{}`", self.function);
            return Err(Invalid::parameter("function", message).hint(hint));
        };
        let callable = Arc::clone(callable);
        drop(functions);
        let mut plan = Plan { inputs: Vec::new(), outputs: Vec::new(), callable };
        for port in &plan.callable.inputs {
            let input = ports.input(port.0.clone(), &Any(type_of(port)));
            if let Some(unit) = &port.3 {
                ports.note_in(input).unit(unit.clone());
            }
            plan.inputs.push(input);
        }
        for port in &plan.callable.outputs {
            let output = ports.output(port.0.clone(), &Any(type_of(port)));
            if let Some(unit) = &port.3 {
                ports.note_out(output).unit(unit.clone());
            }
            plan.outputs.push(output);
        }
        if !plan.callable.state.is_empty() {
            ports.rate(RateRule::Sampled);
            ports.updates();
        }
        Ok(plan)
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.callable.state.clone()
    }

    fn memo(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        Vec::with_capacity(plan.callable.state.len())
    }

    fn clear_memo(&self, memo: &mut Vec<f64>) {
        memo.clear();
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let called = Python::call(plan, cx);
        called.map_err(|error| {
            let text = error.to_string();
            let mut raised = locked(&RAISED);
            if raised.len() == MOST_RAISED {
                raised.remove(0);
            }
            raised.push((text.clone(), error));
            Fault::new(text)
        })
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.clone_from(cx.memo);
        Ok(())
    }
}

impl Python {
    fn call(plan: &Plan, cx: &mut OutputCx<'_, Self>) -> PyResult<()> {
        pyo3::Python::attach(|py| {
            let inputs = PyList::empty(py);
            for input in &plan.inputs {
                inputs.append(PyArray1::from_slice(py, cx.inputs.get(*input).leaf(0)))?;
            }
            let state = PyArray1::from_slice(py, cx.state);
            let found = plan.callable.call.call1(py, (cx.time.t, state, inputs))?;
            let (outputs, next): (Vec<Vec<f64>>, Vec<f64>) = found.extract(py)?;
            for (output, numbers) in plan.outputs.iter().zip(&outputs) {
                // The function that was registered has checked its lengths.
                let to = cx.outputs.get(*output);
                to.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
            }
            if !cx.time.minor {
                cx.memo.clear();
                cx.memo.extend_from_slice(&next);
            }
            Ok(())
        })
    }
}
