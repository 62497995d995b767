//! Many copies of one diagram, stepped together on all cores.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use legwork::study::{Cancel, Error, Input, Model, Output};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::convert::text_of;
use crate::diagram::Diagram;
use crate::errors::{InputError, attach, exception, of_fault, unknown};
use crate::member::{Given, Member, SHORT};
use crate::wait::wait_for;

/// A signal of all copies: an array of NumPy, a row for each.
struct Column<H> {
    name: String,
    /// What finds it in a stepper; equal in all copies.
    handle: H,
    width: usize,
    array: Py<PyArray2<f64>>,
}

/// Copies of a diagram: outputs and signals are bit for bit those of runs of their own. What only
/// the log, checks or nobody reads is left out.
#[pyclass(module = "legwork")]
pub(crate) struct Batch {
    /// Under a lock that nobody waits for: who changes them has the batch for itself.
    members: Mutex<Vec<Member>>,
    n: usize,
    name: String,
    pool: ThreadPool,
    inputs: Vec<Column<Input>>,
    outputs: Vec<Column<Output>>,
    t: Py<PyArray1<f64>>,
    ended: Py<PyArray1<bool>>,
    faulted: Py<PyArray1<bool>>,
    holds_faults: bool,
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (diagram, n, *, signals=Vec::new(), threads=None, on_fault="raise"))]
    fn new(
        py: Python<'_>,
        diagram: PyRef<'_, Diagram>,
        n: usize,
        signals: Vec<String>,
        threads: Option<usize>,
        on_fault: &str,
    ) -> PyResult<Self> {
        let holds_faults = match on_fault {
            "raise" => false,
            "hold" => true,
            other => {
                return Err(PyValueError::new_err(format!(
                    "on_fault: expected \"raise\" or \"hold\", found {other:?}"
                )));
            }
        };
        if n == 0 {
            return Err(PyValueError::new_err("expected at least one copy"));
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .build()
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let model = diagram.model().clone();
        let program = model.program();
        let names: Vec<String> = program.outputs.iter().map(|port| port.name.clone()).collect();
        let made = py.detach(|| {
            let (first, handles) = Member::new(&model, &signals)?;
            let others = (1..n).map(|_| first.another()).collect::<Result<Vec<_>, _>>()?;
            let members: Vec<Member> = std::iter::once(first).chain(others).collect();
            Ok((members, handles))
        });
        let (members, handles) = made.map_err(|error: Error| exception(&error))?;
        let first = &members[0].stepper;
        let mut inputs = Vec::new();
        for port in program.inputs.iter().filter(|port| port.initial.is_some()) {
            let handle = first.input(&port.name).map_err(|error| exception(&error))?;
            let initial = port.initial.as_deref().unwrap_or_default();
            // What has no value is NaN until it is written.
            let row: Vec<f64> =
                initial.iter().map(|x| if port.given { *x } else { f64::NAN }).collect();
            let array = PyArray1::from_vec(py, row.repeat(n)).reshape([n, row.len()])?;
            let name = port.name.clone();
            inputs.push(Column { name, handle, width: row.len(), array: array.unbind() });
        }
        let mut outputs = Vec::new();
        for (name, &handle) in names.iter().chain(&signals).zip(&handles) {
            let slots = first.describe(handle).slots.iter();
            let width = slots.map(|slot| slot.len as usize).sum();
            let array = PyArray2::zeros(py, [n, width], false).unbind();
            outputs.push(Column { name: name.clone(), handle, width, array });
        }
        let mut batch = Self {
            members: Mutex::new(members),
            n,
            name: model.diagram().name().to_owned(),
            pool,
            inputs,
            outputs,
            t: PyArray1::zeros(py, [n], false).unbind(),
            ended: PyArray1::zeros(py, [n], false).unbind(),
            faulted: PyArray1::zeros(py, [n], false).unbind(),
            holds_faults,
        };
        batch.show(py)?;
        Ok(batch)
    }

    /// How many copies there are.
    fn __len__(&self) -> usize {
        self.n
    }

    /// Inputs by name: arrays of a row for each copy (of a number for inputs of one number), which
    /// the next step reads.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        views(py, &self.inputs)
    }

    /// Outputs and the signals that were asked for, by name: arrays of a row for each copy, which
    /// every step and reset writes.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        views(py, &self.outputs)
    }

    /// Simulated time of each copy [s].
    #[getter]
    fn t<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.t.bind(py).clone()
    }

    /// Whether each copy has ended: its stop time, or a block that stops it.
    #[getter]
    fn ended<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.ended.bind(py).clone()
    }

    /// Whether each copy stands at a fault until it is reset.
    #[getter]
    fn faulted<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.faulted.bind(py).clone()
    }

    /// The faults by copy.
    #[getter]
    fn faults(&self) -> BTreeMap<usize, String> {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let members = members.iter().enumerate();
        members.filter_map(|(i, member)| Some((i, member.fault.as_ref()?.to_string()))).collect()
    }

    /// Does `count` major steps of every copy that has not ended, or of those that `mask` marks,
    /// with the inputs as they are.
    #[pyo3(signature = (count=1, mask=None))]
    fn step(
        &mut self,
        py: Python<'_>,
        count: u64,
        mask: Option<PyReadonlyArray1<'_, bool>>,
    ) -> PyResult<()> {
        let mask = self.mask(mask)?;
        let is_meant = |i: usize| mask.as_ref().is_none_or(|mask| mask[i]);
        let columns: Vec<_> = self
            .inputs
            .iter()
            .map(|column| Ok((column.handle, column.array.bind(py).try_readonly()?, column)))
            .collect::<Result<_, numpy::BorrowError>>()?;
        let mut given = Vec::with_capacity(columns.len());
        for (handle, array, column) in &columns {
            let numbers = array.as_slice().map_err(|_| not_contiguous(&column.name))?;
            given.push(Given { handle: *handle, numbers, width: column.width, name: &column.name });
        }
        let (members, pool, given) = (members(&mut self.members), &self.pool, &given[..]);
        let cancel = Cancel::default();
        let mut work = || {
            pool.install(|| {
                let all = members.par_iter_mut().enumerate();
                all.filter(|(i, _)| is_meant(*i))
                    .for_each(|(i, member)| member.step(i, given, count, &cancel));
            });
        };
        if count <= SHORT {
            py.detach(work);
        } else {
            wait_for(py, &cancel, |_| Ok(()), &mut work)?;
        }
        drop(columns);
        self.show(py)?;
        self.raise(py)
    }

    /// Goes back to t = 0: the copies that `mask` marks, or all. Inputs of these have their
    /// defaults.
    #[pyo3(signature = (mask=None))]
    fn reset(&mut self, py: Python<'_>, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        let mask = self.mask(mask)?;
        let is_meant = |i: usize| mask.as_ref().is_none_or(|mask| mask[i]);
        let (members, pool) = (members(&mut self.members), &self.pool);
        let program = Arc::clone(members[0].model.program());
        py.detach(|| {
            pool.install(|| {
                let all = members.par_iter_mut().enumerate();
                all.filter(|(i, _)| is_meant(*i)).for_each(|(_, member)| member.reset());
            });
        });
        for column in &self.inputs {
            let port = program.inputs.iter().find(|port| port.name == column.name);
            let Some(initial) = port.and_then(|port| port.initial.as_ref()) else { continue };
            let is_given = port.is_some_and(|port| port.given);
            let mut array = column.array.bind(py).try_readwrite()?;
            let all = array.as_slice_mut().map_err(|_| not_contiguous(&column.name))?;
            let rows = all.chunks_exact_mut(column.width.max(1)).enumerate();
            for (_, row) in rows.filter(|(i, _)| is_meant(*i)) {
                for (x, initial) in row.iter_mut().zip(initial) {
                    *x = if is_given { *initial } else { f64::NAN };
                }
            }
        }
        self.show(py)?;
        self.raise(py)
    }

    /// Changes a parameter from here on, and for what follows a reset: of all copies, or to a list
    /// of values, one for each.
    fn set(&mut self, py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let n = self.n;
        let is_each = value.is_instance_of::<PyList>() || value.hasattr("tolist")?;
        let values: Vec<String> = if is_each {
            value.try_iter()?.map(|value| text_of(&value?)).collect::<PyResult<_>>()?
        } else {
            vec![text_of(value)?; n]
        };
        if values.len() != n {
            let found = values.len();
            let message = format!("expected a value for each of {n} copies, found {found}");
            return Err(PyValueError::new_err(message));
        }
        // One compilation for copies that are alike.
        let mut models: BTreeMap<(String, &str), Model> = BTreeMap::new();
        let mut chosen = Vec::with_capacity(n);
        let members = members(&mut self.members);
        for (member, value) in members.iter().zip(&values) {
            let key = (member.model.hash(), value.as_str());
            if !models.contains_key(&key) {
                let diagram = with_value(&member.model, path, value);
                let model = py.detach(|| diagram.compile().into_model());
                models.insert(key.clone(), model.map_err(|error| exception(&error))?);
            }
            chosen.push(models[&key].clone());
        }
        let pool = &self.pool;
        let done = py.detach(|| {
            pool.install(|| {
                let all = members.par_iter_mut().zip(chosen);
                let changed = all.map(|(member, model)| member.change_to(model));
                changed.collect::<Result<Vec<()>, Error>>()
            })
        });
        done.map_err(|error| exception(&error))?;
        self.show(py)
    }

    /// Changes a parameter of one copy, as [`Self::set`] does of all.
    fn set_of(
        &mut self,
        py: Python<'_>,
        copy: usize,
        path: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (n, value) = (self.n, text_of(value)?);
        let Some(member) = members(&mut self.members).get_mut(copy) else {
            return Err(PyValueError::new_err(format!("no copy {copy}; there are {n}")));
        };
        let diagram = with_value(&member.model, path, &value);
        let done = py.detach(|| member.change_to(diagram.compile().into_model()?));
        done.map_err(|error| exception(&error))?;
        self.show(py)
    }

    /// The present state of a copy as bytes, which `Diagram.session(snapshot)` continues.
    fn snapshot<'py>(&mut self, py: Python<'py>, copy: usize) -> PyResult<Bound<'py, PyBytes>> {
        let n = self.n;
        let Some(member) = members(&mut self.members).get_mut(copy) else {
            return Err(PyValueError::new_err(format!("no copy {copy}; there are {n}")));
        };
        let snapshot = member.stepper.snapshot().map_err(|error| exception(&error))?;
        Ok(PyBytes::new(py, snapshot.bytes()))
    }

    /// The output or signal `name` as an array.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.outputs.iter().find(|column| column.name == name) {
            Some(column) => view(py, column),
            None => {
                let known = self.outputs.iter().map(|column| column.name.as_str());
                Err(unknown("output", name, known))
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("<legwork.Batch of {} x {}>", self.n, self.name)
    }
}

impl Batch {
    /// A mask of the copies, as it is now: it may be `faulted` or `ended`, which are written.
    fn mask(&self, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<Option<Vec<bool>>> {
        let mask = mask.map(|mask| mask.as_array().to_vec());
        match mask.as_ref().map(Vec::len).filter(|found| *found != self.n) {
            None => Ok(mask),
            Some(found) => Err(PyValueError::new_err(format!(
                "expected a mask of {} copies, found one of {found}",
                self.n
            ))),
        }
    }

    /// Writes what the copies show into the arrays.
    fn show(&mut self, py: Python<'_>) -> PyResult<()> {
        let members = members(&mut self.members);
        for Column { name, handle, width, array } in &self.outputs {
            let mut array = array.bind(py).try_readwrite()?;
            let all = array.as_slice_mut().map_err(|_| not_contiguous(name))?;
            if *width == 0 {
                continue;
            }
            self.pool.install(|| {
                let rows = all.par_chunks_exact_mut(*width).zip(members.par_iter_mut());
                rows.with_min_len(64).for_each(|(row, member)| {
                    let (mut from, mut leaf) = (0, 0);
                    while from < row.len() {
                        let numbers = member.stepper.leaf(*handle, leaf);
                        row[from..from + numbers.len()].copy_from_slice(numbers);
                        from += numbers.len();
                        leaf += 1;
                    }
                });
            });
        }
        let mut t = self.t.bind(py).try_readwrite()?;
        let mut ended = self.ended.bind(py).try_readwrite()?;
        let mut faulted = self.faulted.bind(py).try_readwrite()?;
        let contiguous = |name: &'static str| move |_| not_contiguous(name);
        let t = t.as_slice_mut().map_err(contiguous("t"))?;
        let ended = ended.as_slice_mut().map_err(contiguous("ended"))?;
        let faulted = faulted.as_slice_mut().map_err(contiguous("faulted"))?;
        for (i, member) in members.iter().enumerate() {
            t[i] = member.stepper.time();
            ended[i] = member.stepper.is_at_end();
            faulted[i] = member.fault.is_some();
        }
        Ok(())
    }

    /// Raises the first fault, unless they are held. A copy without a value of an input has no
    /// fault to hold.
    fn raise(&mut self, py: Python<'_>) -> PyResult<()> {
        let is_input = |error: &Error| error.kind() == legwork::study::ErrorKind::Input;
        let lacks = |member: &Member| member.fault.as_ref().is_some_and(is_input);
        let mut lacking = members(&mut self.members).iter_mut().filter(|member| lacks(member));
        if let Some(first) = lacking.next() {
            let text = first.fault.take().map(|error| error.to_string()).unwrap_or_default();
            lacking.for_each(|member| member.fault = None);
            return Err(InputError::new_err(text));
        }
        if self.holds_faults {
            return Ok(());
        }
        let faults = self.faults();
        match faults.iter().next() {
            None => Ok(()),
            Some((copy, text)) => {
                let error = of_fault(py, &format!("copy {copy}: {text}"));
                Err(attach(py, error, "faults", faults.into_pyobject(py).map(Bound::into_any)))
            }
        }
    }
}

/// The copies, for who has the batch for itself.
fn members(locked: &mut Mutex<Vec<Member>>) -> &mut Vec<Member> {
    locked.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The diagram of a model with another value, instead of one that was set before.
fn with_value(model: &Model, path: &str, value: &str) -> legwork::study::Diagram {
    let diagram = model.diagram().clone();
    let mut options = diagram.options().clone();
    options.set.retain(|(other, _)| other != path);
    diagram.with_options(options).set(path, value)
}

fn not_contiguous(name: &str) -> PyErr {
    PyValueError::new_err(format!("`{name}` is no longer one piece of memory"))
}

/// The arrays by name.
fn views<'py, H>(py: Python<'py>, columns: &[Column<H>]) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for column in columns {
        all.set_item(&column.name, view(py, column)?)?;
    }
    Ok(all)
}

/// The array of a signal; that of one number has one axis.
fn view<'py, H>(py: Python<'py>, column: &Column<H>) -> PyResult<Bound<'py, PyAny>> {
    let array = column.array.bind(py);
    match column.width {
        1 => array.call_method1("reshape", (-1,)),
        _ => Ok(array.clone().into_any()),
    }
}
