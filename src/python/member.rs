//! One of the copies that are stepped together.

use legwork::study::{Cancel, Error, Input, Model, Output, Stepper};

/// Most steps of a copy that are done without a look at Ctrl-C.
pub(crate) const SHORT: u64 = 100;

/// A copy of the diagram.
pub(crate) struct Member {
    pub(crate) stepper: Stepper,
    pub(crate) model: Model,
    /// Numbers of its inputs that were written last, one behind the other.
    written: Vec<f64>,
    pub(crate) fault: Option<Error>,
}

/// An input of all copies as it is given.
pub(crate) struct Given<'a> {
    pub(crate) handle: Input,
    pub(crate) numbers: &'a [f64],
    pub(crate) width: usize,
    pub(crate) name: &'a str,
}

impl Member {
    /// A copy, and what finds the outputs of the diagram and then these signals.
    pub(crate) fn new(model: &Model, signals: &[String]) -> Result<(Self, Vec<Output>), Error> {
        let (stepper, handles) = model.lean_stepper(signals)?;
        let mut member = Self { stepper, model: model.clone(), written: Vec::new(), fault: None };
        member.forget_inputs();
        Ok((member, handles))
    }

    /// Another copy.
    pub(crate) fn another(&self) -> Result<Self, Error> {
        let (stepper, model) = (self.stepper.another()?, self.model.clone());
        Ok(Self { stepper, model, written: self.written.clone(), fault: None })
    }

    /// Inputs are as they are at t = 0.
    fn forget_inputs(&mut self) {
        self.written.clear();
        for port in &self.stepper.program().inputs {
            if let Some(initial) = &port.initial {
                let shown = |x: &f64| if port.given { *x } else { f64::NAN };
                self.written.extend(initial.iter().map(shown));
            }
        }
    }

    pub(crate) fn step(&mut self, copy: usize, given: &[Given<'_>], count: u64, cancel: &Cancel) {
        if self.fault.is_some() || self.stepper.is_at_end() {
            return;
        }
        let mut from = 0;
        for Given { handle, numbers, width, name } in given {
            let numbers = &numbers[copy * width..(copy + 1) * width];
            let written = &mut self.written[from..from + width];
            from += width;
            let is_same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
            if numbers.iter().zip(&*written).all(is_same) {
                continue;
            }
            if numbers.iter().any(|x| x.is_nan()) {
                let message = format!("the input `{name}` of copy {copy} is no number");
                self.fault = Some(Error::new(legwork::study::ErrorKind::Input, message));
                return;
            }
            written.copy_from_slice(numbers);
            if let Err(error) = self.stepper.write(*handle, numbers) {
                self.fault = Some(error);
                return;
            }
        }
        let mut left = count;
        while left > 0 && !cancel.is_cancelled() {
            let some = left.min(SHORT);
            if let Err(error) = self.stepper.step(some) {
                self.fault = Some(error);
                return;
            }
            left -= some;
        }
    }

    pub(crate) fn reset(&mut self) {
        self.fault = self.stepper.reset().err();
        self.forget_inputs();
    }

    pub(crate) fn change_to(&mut self, model: Model) -> Result<(), Error> {
        self.stepper.change_to(&model)?;
        self.model = model;
        Ok(())
    }
}
