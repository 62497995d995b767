//! Functions: other blocks that a block calls inside its own phase (semantics 6.2).
//!
//! The crate's documentation has the guide. [`body`] is a bound function after compilation,
//! [`running`] its instances and memory inside the caller's instance, [`all`] those of one caller.

mod all;
mod body;
mod running;

use std::marker::PhantomData;

use crate::block::{Inputs, Time};
use crate::declaration::{InputDeclaration, OutputDeclaration, PortText, PortUnit};
use crate::fault::Fault;
use crate::ports::{PortNote, Ports};
use crate::signal::{In, Signal};

pub(crate) use all::{bytes_of, functions_of, json_of, load_functions, restore_functions, saved};
pub use body::{FunctionBlock, FunctionBody, FunctionStep};
pub(crate) use running::{FunctionInstance, SavedFunction};

/// Handle of a function that a block needs; see [`Ports::function`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    index: u16,
}

/// Handle of an argument of a needed function: what the caller writes.
pub struct Argument<S> {
    function: u16,
    port: u16,
    signal: PhantomData<fn() -> S>,
}

/// Handle of a result of a needed function: what the caller reads.
pub struct ResultOf<S> {
    function: u16,
    port: u16,
    signal: PhantomData<fn() -> S>,
}

macro_rules! copy_handle {
    ($($handle:ident),*) => {$(
        impl<S> Clone for $handle<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S> Copy for $handle<S> {}
    )*};
}
copy_handle!(Argument, ResultOf);

/// A function that a block needs.
#[derive(Debug, Clone)]
pub struct FunctionDeclaration {
    /// Name in `needs:`.
    pub name: String,
    /// What the caller writes: outputs of the caller, seen from inside the function.
    pub arguments: Vec<OutputDeclaration>,
    /// What the caller reads: its inputs, seen from inside the function.
    pub results: Vec<InputDeclaration>,
    /// Whether it may be left unbound.
    pub optional: bool,
    /// What to bind in the place of a block that does not fit; empty if nothing is known.
    pub hint: String,
}

impl Ports<'_> {
    /// Declares that the block needs a function, which the diagram binds under this name in
    /// `needs:`. One declaration is one call site with a memory of its own.
    pub fn function(&mut self, name: &str) -> Function {
        self.declaration.functions.push(FunctionDeclaration {
            name: name.into(),
            arguments: Vec::new(),
            results: Vec::new(),
            optional: false,
            hint: String::new(),
        });
        Function { index: (self.declaration.functions.len() - 1) as u16 }
    }

    /// Declares a function that the block can do without: [`Functions::bound`] tells whether the
    /// diagram binds it. It is the last one that the block declares. A block that solves a problem
    /// has it for another solver than its own.
    pub fn optional_function(&mut self, name: &str) -> Function {
        let function = self.function(name);
        self.declaration.functions[function.index as usize].optional = true;
        function
    }

    /// Says what to bind, `take Qp or ConeProgram`, to who binds a block that has not the inputs
    /// and outputs which the function asks for.
    pub fn function_hint(&mut self, function: Function, hint: &str) {
        hint.clone_into(&mut self.declaration.functions[function.index as usize].hint);
    }

    /// Declares an argument of a needed function.
    pub fn argument<S: Signal>(
        &mut self,
        function: Function,
        name: impl Into<PortText>,
        signal: &S,
    ) -> Argument<S> {
        let arguments = &mut self.declaration.functions[function.index as usize].arguments;
        arguments.push(OutputDeclaration {
            name: name.into(),
            ty: signal.ty(),
            unit: PortUnit::Unspecified,
            frame: None,
            doc: PortText::default(),
            group: 0,
            may_be_infinite: false,
            is_smooth: false,
            checks_itself: false,
            elements: None,
            forwards: Vec::new(),
        });
        let port = (arguments.len() - 1) as u16;
        Argument { function: function.index, port, signal: PhantomData }
    }

    /// Declares a result of a needed function.
    pub fn result<S: Signal>(
        &mut self,
        function: Function,
        name: impl Into<PortText>,
        signal: &S,
    ) -> ResultOf<S> {
        let results = &mut self.declaration.functions[function.index as usize].results;
        results.push(InputDeclaration {
            name: name.into(),
            ty: signal.ty(),
            unit: PortUnit::Unspecified,
            frame: None,
            doc: PortText::default(),
            optional: false,
            argument_hint: PortText::default(),
        });
        let port = (results.len() - 1) as u16;
        ResultOf { function: function.index, port, signal: PhantomData }
    }

    /// Notes on an argument: unit, frame, description, whether it may be infinite.
    pub fn note_argument<S: Signal>(&mut self, argument: Argument<S>) -> PortNote<'_> {
        let function = &mut self.declaration.functions[argument.function as usize];
        PortNote::of_output(&mut function.arguments[argument.port as usize])
    }

    /// Notes on a result: unit, frame, description.
    pub fn note_result<S: Signal>(&mut self, result: ResultOf<S>) -> PortNote<'_> {
        let function = &mut self.declaration.functions[result.function as usize];
        PortNote::of_input(&mut function.results[result.port as usize])
    }
}

/// The functions that a block may call in one of its phases.
pub struct Functions<'a> {
    pub(crate) instances: &'a mut [FunctionInstance],
    pub(crate) time: Time,
}

impl Functions<'_> {
    /// An optional function, to call; none if the diagram does not bind it.
    #[inline]
    pub fn bound(&mut self, function: Function) -> Option<Call<'_>> {
        let instance = self.instances.get_mut(function.index as usize)?;
        Some(Call { instance, time: self.time })
    }

    /// A function, to call.
    #[inline]
    pub fn of(&mut self, function: Function) -> Call<'_> {
        Call { instance: &mut self.instances[function.index as usize], time: self.time }
    }
}

/// A function about to be called, any number of times.
///
/// An argument keeps its value from one call to the next, so that an iteration writes only what
/// changes; write all of them before the first call of a phase.
pub struct Call<'a> {
    instance: &'a mut FunctionInstance,
    time: Time,
}

impl Call<'_> {
    /// The numbers of an argument of one leaf, to write.
    #[inline]
    pub fn argument<S>(&mut self, argument: Argument<S>) -> &mut [f64] {
        let slot = self.instance.body.arguments().first(argument.port as usize);
        &mut self.instance.arena[slot.range()]
    }

    /// Leaf `leaf` of an argument, to write.
    #[inline]
    pub fn leaf<S>(&mut self, argument: Argument<S>, leaf: usize) -> &mut [f64] {
        let slot = self.instance.body.arguments().port(argument.port as usize)[leaf];
        &mut self.instance.arena[slot.range()]
    }

    /// Several leaves of an argument, to write at once.
    ///
    /// # Panics
    /// If a leaf is named twice.
    #[inline]
    #[expect(clippy::expect_used, reason = "a block's source names the leaves")]
    pub fn leaves<S, const N: usize>(
        &mut self,
        argument: Argument<S>,
        which: [usize; N],
    ) -> [&mut [f64]; N] {
        let slots = self.instance.body.arguments().port(argument.port as usize);
        let ranges = which.map(|leaf| slots[leaf].range());
        self.instance.arena.get_disjoint_mut(ranges).expect("every leaf is named once")
    }

    /// Writes an argument of one number.
    #[inline]
    pub fn set<S>(&mut self, argument: Argument<S>, value: f64) {
        self.argument(argument)[0] = value;
    }

    /// Passes an input of the block on, leaf by leaf.
    pub fn copy<S>(&mut self, argument: Argument<S>, inputs: &Inputs<'_>, input: In<S>) {
        let to = self.instance.body.arguments().port(argument.port as usize);
        let from = inputs.table.port(input.port as usize);
        for (to, from) in to.iter().zip(from) {
            self.instance.arena[to.range()].copy_from_slice(&inputs.arena[from.range()]);
        }
    }

    /// Runs the function on the present arguments.
    ///
    /// # Errors
    /// The fault of a block inside, with its path; a value that is not finite, on an argument or
    /// inside.
    pub fn run(&mut self) -> Result<Results<'_>, Box<Fault>> {
        self.instance.run(self.time)?;
        Ok(Results { instance: self.instance })
    }
}

/// The results of a call.
pub struct Results<'a> {
    instance: &'a FunctionInstance,
}

impl<'a> Results<'a> {
    /// The value of a result.
    #[inline]
    pub fn get<S: Signal>(&self, result: ResultOf<S>) -> S::Ref<'a> {
        S::read_port(&self.instance.arena, self.instance.body.results(), result.port as usize)
    }

    /// Leaf `leaf` of a result.
    #[inline]
    pub fn leaf<S>(&self, result: ResultOf<S>, leaf: usize) -> &'a [f64] {
        let slot = self.instance.body.results().port(result.port as usize)[leaf];
        &self.instance.arena[slot.range()]
    }

    /// How many leaves a result has.
    pub fn leaf_count<S>(&self, result: ResultOf<S>) -> usize {
        self.instance.body.results().port(result.port as usize).len()
    }
}
