//! A run that is stepped forth and back.

use std::sync::{Mutex, TryLockError};

use legwork::study::session::{Halt, Stop, Value as Read};
use legwork::study::{Cancel, Error, Snapshot};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde_json::{Value, json};

use crate::convert::{input_text, text_of, texts_of, to_python};
use crate::errors::{RequestError, exception};
use crate::wait::wait_for;

/// Most steps that are done without a look at Ctrl-C.
const SHORT: u64 = 100;

/// A run with its past: it goes on and back exactly, is edited and forked.
///
/// One thread uses it at a time; another that tries meanwhile gets a `RuntimeError`.
#[pyclass(frozen, module = "legwork")]
pub(crate) struct Session {
    session: Mutex<legwork::study::Session>,
    cancel: Cancel,
    /// What a breakpoint that is a callable raised.
    raised: std::sync::Arc<Mutex<Option<PyErr>>>,
}

impl Session {
    pub(crate) fn of(mut session: legwork::study::Session) -> Self {
        let cancel = Cancel::default();
        session.cancel_by(cancel.clone());
        Self { session: Mutex::new(session), cancel, raised: Default::default() }
    }

    /// Does something with the session, without the interpreter.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut legwork::study::Session) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| self.locked(work))
    }

    /// The same, ended by Ctrl-C.
    fn long<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut legwork::study::Session) -> R + Send,
    ) -> PyResult<R> {
        self.cancel.reset();
        let done = wait_for(py, &self.cancel, |_| Ok(()), || self.locked(work));
        self.cancel.reset();
        done?
    }

    fn locked<R>(&self, work: impl FnOnce(&mut legwork::study::Session) -> R) -> PyResult<R> {
        match self.session.try_lock() {
            Ok(mut session) => Ok(work(&mut session)),
            Err(TryLockError::Poisoned(poisoned)) => Ok(work(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "the session is in use, by another thread or by a breakpoint",
            )),
        }
    }

    /// Where it stopped and why.
    fn stopped<'py>(
        &self,
        py: Python<'py>,
        stop: Result<Stop, Error>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let raised = self.raised.lock().map(|mut raised| raised.take()).unwrap_or_default();
        if let Some(error) = raised {
            return Err(error);
        }
        let stop = stop.map_err(|error| exception(&error))?;
        if let Halt::Fault { message } = &stop.halt
            && let Some(error) = crate::block::raised(message)
        {
            return Err(error);
        }
        to_python(py, &serde_json::to_value(stop).unwrap_or(Value::Null))
    }
}

#[pymethods]
impl Session {
    /// Simulated time [s].
    #[getter]
    fn t(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |session| session.time())
    }

    /// Whether the run has ended.
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |session| session.is_at_end())
    }

    /// The fault that the run stopped at, or `None`.
    #[getter]
    fn fault(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |session| session.fault().map(ToString::to_string))
    }

    /// Paths of signals and blocks.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |session| session.names().to_vec())
    }

    /// Everything about where it is.
    #[getter]
    fn place<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let place = self.with(py, |session| serde_json::to_value(session.place()))?;
        to_python(py, &place.unwrap_or(Value::Null))
    }

    /// Edits that have entered.
    #[getter]
    fn edits(&self, py: Python<'_>) -> PyResult<Vec<(u64, String, String)>> {
        self.with(py, |session| {
            let edits = session.edits().iter();
            edits.map(|edit| (edit.step, edit.path.clone(), edit.value.clone())).collect()
        })
    }

    /// Does `count` major steps, up to the next breakpoint.
    #[pyo3(signature = (count=1))]
    fn step<'py>(&self, py: Python<'py>, count: u64) -> PyResult<Bound<'py, PyAny>> {
        let stop = match count <= SHORT {
            true => self.with(py, |session| session.step(count))?,
            false => self.long(py, |session| session.step(count))?,
        };
        self.stopped(py, stop)
    }

    /// Does `count` pieces of a step: a block's outputs, guards, a block's update, integration.
    #[pyo3(signature = (count=1))]
    fn next<'py>(&self, py: Python<'py>, count: u64) -> PyResult<Bound<'py, PyAny>> {
        let stop = self.long(py, |session| session.next(count))?;
        self.stopped(py, stop)
    }

    /// Goes on to the first step at or after `t` [s], up to the next breakpoint.
    fn until<'py>(&self, py: Python<'py>, t: f64) -> PyResult<Bound<'py, PyAny>> {
        let stop = self.long(py, |session| session.until(t))?;
        self.stopped(py, stop)
    }

    /// Goes on to the next breakpoint or the end.
    fn proceed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stop = self.long(py, |session| session.proceed())?;
        self.stopped(py, stop)
    }

    /// Goes `count` steps back; what follows then repeats bit for bit.
    #[pyo3(signature = (count=1))]
    fn back<'py>(&self, py: Python<'py>, count: u64) -> PyResult<Bound<'py, PyAny>> {
        let stop = self.long(py, |session| session.back_steps(count))?;
        self.stopped(py, stop)
    }

    /// Goes to the first step at or after `t` [s], forth or back, whatever the breakpoints.
    fn go_to<'py>(&self, py: Python<'py>, t: f64) -> PyResult<Bound<'py, PyAny>> {
        let stop = self.long(py, |session| session.go_to(t))?;
        self.stopped(py, Ok(stop))
    }

    /// A signal or a part of one, with `unit` and `names`. Between two steps it is what the last
    /// step computed: its value at the time of that step.
    fn read<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let read = self.with(py, |session| (session.time(), session.read(path)))?;
        let (t, value) = (read.0, read.1.map_err(|error| exception(&error))?);
        signal(py, &value, t)
    }

    /// Changes a parameter before the next step.
    fn set<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = text_of(value)?;
        let note = self.with(py, |session| session.set(path, &value))?;
        let note = note.map_err(|error| exception(&error))?;
        to_python(py, &serde_json::to_value(note).unwrap_or(Value::Null))
    }

    /// Gives an input of the diagram another value before the next step.
    fn write<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let unit = self.with(py, |session| {
            let mut inputs = session.program().inputs.iter();
            inputs.find(|port| port.name == name).map(|port| port.signal.unit.clone())
        })?;
        let Some(unit) = unit else {
            return Err(RequestError::new_err(format!("the diagram has no input `{name}`")));
        };
        let value = input_text(value, unit.as_deref())?;
        let note = self.with(py, |session| session.input(name, &value))?;
        let note = note.map_err(|error| exception(&error))?;
        to_python(py, &serde_json::to_value(note).unwrap_or(Value::Null))
    }

    /// A second session from the present state, with changes: choices of variants and values of
    /// parameters by name.
    #[pyo3(signature = (changes=None))]
    fn fork(
        &self,
        py: Python<'_>,
        changes: Option<&Bound<'_, pyo3::types::PyDict>>,
    ) -> PyResult<Self> {
        let changes = texts_of(changes)?;
        let fork = self.with(py, |session| {
            let changes: Vec<(&str, &str)> =
                changes.iter().map(|(path, value)| (&**path, &**value)).collect();
            session.fork(&changes).map(|fork| fork.session)
        })?;
        fork.map(Self::of).map_err(|error| exception(&error))
    }

    /// Stops before a block, where a condition on signals comes true, where a signal touches a
    /// level (`"x.y touches 0"`), or where a callable of this session's values says so: it is
    /// given a dictionary of the signals that `signals` names, after the outputs of each step.
    /// The number of the breakpoint.
    #[pyo3(signature = (condition, signals=Vec::new()))]
    fn break_at(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyAny>,
        signals: Vec<String>,
    ) -> PyResult<usize> {
        if let Ok(text) = condition.cast::<PyString>() {
            let text = text.to_str()?.to_owned();
            let number = self.with(py, |session| session.break_at(&text))?;
            return number.map_err(|error| exception(&error));
        }
        let places = self.with(py, |session| {
            let places = signals.iter().map(|path| session.signal(path));
            places.collect::<Result<Vec<_>, _>>()
        })?;
        let places = places.map_err(|error| exception(&error))?;
        let callable = condition.clone().unbind();
        let text = condition.repr()?.to_str()?.to_owned();
        let raised = std::sync::Arc::clone(&self.raised);
        self.with(py, move |session| {
            session.break_when(&text, move |simulation| {
                Python::attach(|py| {
                    let values = pyo3::types::PyDict::new(py);
                    for (path, place) in signals.iter().zip(&places) {
                        let arena = simulation.arena();
                        let numbers: Vec<f64> = (place.slots.iter())
                            .flat_map(|slot| arena[slot.range()].iter().copied())
                            .collect();
                        let value = match numbers.as_slice() {
                            [one] => one.into_pyobject(py).map(Bound::into_any)?,
                            _ => PyArray1::from_vec(py, numbers).into_any(),
                        };
                        values.set_item(path, value)?;
                    }
                    callable.call1(py, (simulation.time(), values))?.bind(py).is_truthy()
                })
                .unwrap_or_else(|error: PyErr| {
                    // The run stops, and what goes on with it raises the exception.
                    if let Ok(mut raised) = raised.lock() {
                        raised.get_or_insert(error);
                    }
                    true
                })
            })
        })
    }

    /// The breakpoints as they were asked for.
    #[getter]
    fn breakpoints(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |session| session.breakpoints().map(str::to_owned).collect())
    }

    /// Removes breakpoint `number`, from 1; all without one.
    #[pyo3(signature = (number=None))]
    fn delete_breakpoint(&self, py: Python<'_>, number: Option<usize>) -> PyResult<()> {
        let done = self.with(py, |session| session.delete_breakpoint(number))?;
        done.map_err(|error| exception(&error))
    }

    /// A block with its inputs, outputs and state; `None` if there is none of this path.
    fn block<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let block = self.with(py, |session| json!(session.block(path)))?;
        to_python(py, &block)
    }

    /// The present state as bytes, which `Diagram.session(snapshot)` continues bit for bit.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let snapshot = self.with(py, |session| session.snapshot())?;
        let snapshot = snapshot.map_err(|error| exception(&error))?;
        Ok(PyBytes::new(py, snapshot.bytes()))
    }

    /// Goes on from a snapshot of the same program.
    fn restore(&self, py: Python<'_>, snapshot: Vec<u8>) -> PyResult<()> {
        let snapshot = Snapshot::new("snapshot", snapshot);
        let done = self.with(py, |session| session.restore(&snapshot))?;
        done.map_err(|error| exception(&error))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<legwork.Session at t = {} s>", self.t(py)?))
    }
}

/// A value with unit and names.
fn signal<'py>(py: Python<'py>, value: &Read, t: f64) -> PyResult<Bound<'py, PyAny>> {
    let numbers = PyArray1::from_vec(py, value.numbers());
    let numbers = match numbers.as_any().len()? {
        1 if !value.path.ends_with(']') || value.leaves.len() == 1 => {
            numbers.call_method1("reshape", (pyo3::types::PyTuple::empty(py),))?
        }
        _ => numbers.into_any(),
    };
    let kind = py.import("legwork._signal")?.getattr("Signal")?;
    kind.call1((numbers, t, value.unit.clone(), value.labels.clone(), value.path.clone()))
}
