//! Codes of mistakes in a diagram, each with an explanation.
//!
//! `legwork help CODE` prints the explanation. One file: the list is the registry.

use std::fmt;

use serde::{Serialize, Serializer};

/// The code of a kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    name: &'static str,
    about: &'static str,
}

impl Code {
    /// A code of a crate of blocks: its name in kebab-case, and an explanation in Markdown.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about }
    }

    /// Stable kebab-case name, such as `unknown-port`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Cause and remedy, in Markdown.
    #[must_use]
    pub fn about(self) -> String {
        // A line of a doc comment begins with a space.
        let lines = self.about.lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    /// The code of the language with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|code| code.name == name)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Makes a constant of each code, whose documentation is the explanation, and the list of all.
#[macro_export]
macro_rules! codes {
    ($($(#[doc = $about:literal])* $code:ident = $name:literal;)*) => {
        $(
            $(#[doc = $about])*
            pub const $code: $crate::code::Code =
                $crate::code::Code::new($name, concat!($($about, "\n"),*));
        )*
        /// All of them, in alphabetical order.
        pub const ALL: &[$crate::code::Code] = &[$($code),*];
    };
}

/// A mistake that is not reported, since it follows from one that is.
pub const FOLLOWS: Code = Code::new("follows", "");

codes! {
    /// This build of Legwork lacks the block kind, which needs a cargo feature.
    ///
    /// Build with the feature that the hint names, or use another kind.
    ABSENT_BLOCK_KIND = "absent-block-kind";

    /// A cycle of blocks has no delay and no state, so no order of evaluation exists. Example: a
    /// gain whose output is added to its own input.
    ///
    /// Break the loop with a `UnitDelay` or an `Integrator`, or state the equation with `Solve`,
    /// which solves it in each step.
    ALGEBRAIC_LOOP = "algebraic-loop";

    /// A name in the diagram is empty, has a character that names may not have, or is a constant of
    /// expressions such as `pi`.
    ///
    /// Use letters, digits and `_`, and begin with a letter.
    BAD_NAME = "bad-name";

    /// A text is not a path to a signal, as in `in: { "u": "a" }` without a port.
    ///
    /// Write `block.port`, with fields and indices after it: `body.state.base.position[2]`.
    BAD_PATH = "bad-path";

    /// The values of a sweep or of a study are not a range: the ends or the count do not fit.
    ///
    /// Write `lin(0, 1, 5)`, `log(1, 100, 3)`, or a list of values.
    BAD_RANGE = "bad-range";

    /// The tolerance of a check is negative, has another unit than what is compared, or serves
    /// several units at once.
    ///
    /// Give a tolerance in the unit of the comparison, and a check for each comparison.
    BAD_TOLERANCE = "bad-tolerance";

    /// A type is not well formed, as `Vector(2, 3)` with an argument too many.
    ///
    /// Write `Real`, `Vector(3)`, `Matrix(3, 4)`, `Array(3, Real)` or the name of a bus.
    BAD_TYPE = "bad-type";

    /// The unit of a port is unknown, or has a prefix although signals are in SI units. Example:
    /// `unit: "mm"`.
    ///
    /// Write the SI unit that the hint gives, such as `m`. Values may have a prefix: `"5 mm"`.
    BAD_UNIT = "bad-unit";

    /// A check reads no signal, so its result is the same in every step.
    ///
    /// Compare a signal, as in `that: "=body.y < 1[m]"`.
    CONSTANT_CHECK = "constant-check";

    /// A diagram contains itself, directly or through other diagrams and masks.
    ///
    /// Remove one of the uses that the message lists.
    DIAGRAM_CYCLE = "diagram-cycle";

    /// A construct has a field twice.
    ///
    /// Write each field once.
    DUPLICATE_FIELD = "duplicate-field";

    /// A map has a key twice, a signal is logged twice, or a patch adds a block under a name that
    /// exists.
    ///
    /// Remove or rename one of them. In a patch, `replace:` exchanges a block.
    DUPLICATE_KEY = "duplicate-key";

    /// The time window of a check has no instant: it ends before it begins, or the run stops before
    /// it begins.
    ///
    /// Change the window, or the `stop` of the run.
    EMPTY_WINDOW = "empty-window";

    /// The file is not UTF-8 text, or is larger than 4 GB.
    ///
    /// Save it as UTF-8. Editors list this as an encoding.
    ENCODING = "encoding";

    /// A function of an expression has too few or too many arguments, as in `atan2(y)`.
    ///
    /// `legwork help expressions` lists all functions with their arguments.
    EXPRESSION_ARITY = "expression-arity";

    /// An expression has too many parentheses inside one another.
    ///
    /// Split it into several parameters.
    EXPRESSION_DEPTH = "expression-depth";

    /// An index or a range of an expression is outside of the list. Indices count from 0.
    ///
    /// Take an index below the length of the list.
    EXPRESSION_INDEX = "expression-index";

    /// The lists of an expression have lengths that do not fit, or a list is empty although a value
    /// is needed.
    ///
    /// Make both lists equally long, or use a single number.
    EXPRESSION_LENGTH = "expression-length";

    /// A number of an expression is not finite, or not the whole number that the place needs.
    /// Example: `=1/0`.
    ///
    /// Check the parameters that the expression reads.
    EXPRESSION_NUMBER = "expression-number";

    /// An index, a count or a parameter depends on a signal, but must be known before the run.
    ///
    /// Compute it from parameters. A block such as `Fcn` computes with signals.
    EXPRESSION_SIGNAL = "expression-signal";

    /// An expression makes a list that is too long, or needs more operations than the limit.
    ///
    /// Split it, or read the values from a table.
    EXPRESSION_SIZE = "expression-size";

    /// An expression is not well formed. Example: `=2 ** 3`.
    ///
    /// `legwork help expressions` lists operators and functions. A unit is written `5[mm]`.
    EXPRESSION_SYNTAX = "expression-syntax";

    /// An expression has a value of another type than the place needs, as a list where a number is
    /// expected.
    ///
    /// Select an element, or use a function such as `max`.
    EXPRESSION_TYPE = "expression-type";

    /// The run stopped: a signal became NaN or infinite, the state diverged, or a solver failed.
    ///
    /// The message shows the block, the time and its inputs. `legwork step` runs up to that time.
    FAULT = "fault";

    /// A block that is called as a function has `in:`, although its inputs are the arguments of the
    /// call.
    ///
    /// Remove `in:`. A `Function` around the block connects arguments to inputs with other names.
    FUNCTION_INPUTS = "function-inputs";

    /// A `Function` is among the blocks of a diagram and has wires, although only a block calls it.
    ///
    /// Write `Subsystem(…)` or `Mask(…)`, or bind it in a block: `needs: { "f": Use("…") }`.
    FUNCTION_ON_WIRES = "function-on-wires";

    /// A function contains a block with a period or a state that needs its own time, but runs when
    /// its caller calls it.
    ///
    /// Move that block outside of the function, and connect it by a wire.
    FUNCTION_TIME = "function-time";

    /// The ground of the diagram cannot be made from its parameters or files.
    ///
    /// The message gives the reason; `legwork help ground` shows an example.
    INVALID_GROUND = "invalid-ground";

    /// A block refuses the value of a parameter: it has the wrong length, or contradicts another
    /// parameter.
    ///
    /// The message states what the block expects; `legwork help KIND` shows its manual.
    INVALID_PARAMETER = "invalid-parameter";

    /// A robot cannot be made from its files and parameters.
    ///
    /// The message gives the reason; `legwork robot FILE` shows the robot by itself.
    INVALID_ROBOT = "invalid-robot";

    /// A block of `judge:` would change the run: a block of `blocks:` reads it, it is an output, or
    /// it has a period that the solver must meet.
    ///
    /// Move it to `blocks:` if it is a part of the model.
    JUDGE_CHANGES_RUN = "judge-changes-run";

    /// `judge:` of a diagram inside another diagram is not evaluated, so nothing can read its
    /// values.
    ///
    /// Write the values into `judge:` of the outer diagram.
    JUDGE_OF_PART = "judge-of-part";

    /// A value of `judge:` reads a value below it.
    ///
    /// Move the value that is read above its reader.
    JUDGE_ORDER = "judge-order";

    /// A mask contains itself, directly or through other masks.
    ///
    /// Remove one of the uses that the message lists.
    MASK_CYCLE = "mask-cycle";

    /// A construct lacks a field that it needs, such as `stop` of `run:`.
    ///
    /// Add the field; `legwork help CONSTRUCT` lists all fields.
    MISSING_FIELD = "missing-field";

    /// A file does not exist. The message lists the paths that were tried.
    ///
    /// Paths are relative to the file that names them; `std:` names files that are built in.
    MISSING_FILE = "missing-file";

    /// A block calls a function that is not bound.
    ///
    /// Bind it in the block: `needs: { "f": Use("mask_or_block") }`.
    MISSING_FUNCTION = "missing-function";

    /// A required input of a block is not connected.
    ///
    /// Connect it: `in: { "u": "block.port" }`.
    MISSING_INPUT = "missing-input";

    /// Two blocks predict the motion of one system, and only one of them gets a force. Example: a
    /// push reaches `ConstrainedAcceleration` but not `GaussContact`.
    ///
    /// Connect the same signal to the input that the message names.
    MISSING_LOAD = "missing-load";

    /// A mask or a diagram declares an output in `ports:`, and `out:` does not connect it.
    ///
    /// Add it: `out: { "y": "block.port" }`.
    MISSING_OUTPUT = "missing-output";

    /// A block lacks a parameter that has no default.
    ///
    /// Add the parameter; `legwork help KIND` lists all of them.
    MISSING_PARAMETER = "missing-parameter";

    /// A number replaces a value with a unit and has none itself, as `--set d=5` where the file has
    /// `"2 cm"`.
    ///
    /// Write the unit: `--set 'd=5 cm'`.
    MISSING_UNIT = "missing-unit";

    /// Brackets, diagrams or parameters are nested more deeply than the limit.
    ///
    /// Flatten them; a generator of files may have run without end.
    NESTING = "nesting";

    /// A `Solve` is not in a loop: its input does not depend on its output.
    ///
    /// Remove the `Solve`, and read its source instead.
    NO_LOOP = "no-loop";

    /// Legwork reads the file, but the RON format forbids it, so other programs may refuse it.
    ///
    /// Change the place that the message shows.
    NOT_RON = "not-ron";

    /// A number is outside of the range that a parameter, a time or an index may have.
    ///
    /// The message states the range.
    OUT_OF_RANGE = "out-of-range";

    /// A value of a parameter is not valid: an unknown unit, another quantity, or a text of another
    /// form.
    ///
    /// The message states what is expected.
    PARAMETER = "parameter";

    /// Parameters, or parameters and robots, are defined by each other in a circle.
    ///
    /// Give one of the parameters a value.
    PARAMETER_CYCLE = "parameter-cycle";

    /// A parameter has a value of another type, such as a text where a number is expected.
    ///
    /// The message states the type; `legwork help KIND` shows an example.
    PARAMETER_TYPE = "parameter-type";

    /// A file of solver problems cannot be read.
    ///
    /// `on_fail` with a dump and `legwork duel` write such files.
    PROBLEM_FILE = "problem-file";

    /// A quantity has a unit of another kind, as `"5 kg"` for a length.
    ///
    /// Write a unit of the kind that the message states.
    QUANTITY = "quantity";

    /// A value is allowed, but the run will probably not do what is intended. Example: a gain
    /// beyond the stability bound of a sampled controller.
    ///
    /// The hint states a value or another way.
    QUESTIONABLE_PARAMETER = "questionable-parameter";

    /// Periods do not fit: a period is not a whole multiple of the step, or two rates meet without
    /// a `RateTransition`.
    ///
    /// Change one of the periods, or add a `RateTransition`.
    RATE_CONFLICT = "rate-conflict";

    /// A robot file has a part that is not used, or a value that is doubtful.
    ///
    /// Check the part that the message names. The model is used without it.
    ROBOT = "robot";

    /// Robots need each other in a circle, as two worlds that contain each other.
    ///
    /// Remove one of the uses that the message lists.
    ROBOT_CYCLE = "robot-cycle";

    /// Wires lead back to themselves without a block between them.
    ///
    /// Connect the input to the output of a block.
    SIGNAL_CYCLE = "signal-cycle";

    /// An index in a path is outside of the signal, as `a.y[3]` of a vector of 3. Indices count
    /// from 0.
    ///
    /// Take an index below the length.
    SLICE_OUT_OF_RANGE = "slice-out-of-range";

    /// A diagram inside another one was made for a shorter step than the outer run has. The step of
    /// the outer diagram counts.
    ///
    /// Shorten the step of the outer diagram, or make both equal.
    STEP_OF_PART = "step-of-part";

    /// The file is not well formed: a bracket, a comma or a quotation mark is missing, or the file
    /// has another format.
    ///
    /// The message states what was expected at the place that is marked.
    SYNTAX = "syntax";

    /// The diagram needs more memory or more signals than the limit.
    ///
    /// Make vectors or counts smaller, or raise `memory` in `run:`.
    TOO_LARGE = "too-large";

    /// More mistakes were found than are shown.
    ///
    /// Correct those that are shown first: others often follow from them.
    TOO_MANY = "too-many";

    /// A check with a reason for a deviation from another source has no bound for its own value.
    ///
    /// Add `here: { "name": … }`, so that the value cannot drift unnoticed.
    UNBOUNDED = "unbounded";

    /// A choice of a variant was not compiled, since the combinations are too many.
    ///
    /// Check it by itself: `legwork check FILE --variant NAME=CHOICE`.
    UNCHECKED_CHOICES = "unchecked-choices";

    /// The unit of a parameter is unknown, or has a factor where only a plain unit is possible.
    /// Example: `unit: "mm"`.
    ///
    /// Write the SI unit, such as `m`. Values may have a prefix.
    UNIT = "unit";

    /// Two units do not agree, as a force where a torque is expected.
    ///
    /// Connect another signal, or convert it: a `Gain` with a `unit` changes the unit.
    UNIT_MISMATCH = "unit-mismatch";

    /// A path begins with a name that is not a block of this part of the diagram.
    ///
    /// Correct the name. Inside of a mask, `^u` reads the input `u` of the mask.
    UNKNOWN_BLOCK = "unknown-block";

    /// No block has this kind.
    ///
    /// `legwork blocks` lists all kinds, `legwork blocks --search WORD` searches the manuals.
    UNKNOWN_BLOCK_KIND = "unknown-block-kind";

    /// A type names a bus that does not exist.
    ///
    /// `legwork help buses` lists the buses; `types:` declares new ones.
    UNKNOWN_BUS = "unknown-bus";

    /// A check has a kind that does not exist.
    ///
    /// Use one of the kinds in the message; `legwork help checks` explains them.
    UNKNOWN_CHECK = "unknown-check";

    /// A name is not among the choices of a parameter or of a variant.
    ///
    /// Use one of the choices in the message.
    UNKNOWN_CHOICE = "unknown-choice";

    /// A `ForEach` collects outputs by a name that does not exist.
    ///
    /// Use `Array`, `Join`, `Stack` or `Concat`.
    UNKNOWN_COLLECTOR = "unknown-collector";

    /// A path names a copy of a `ForEach` that does not exist, as `foot[middle]`.
    ///
    /// Use a key of the list that the `ForEach` runs over.
    UNKNOWN_COPY = "unknown-copy";

    /// A construct or a bus has no field of this name.
    ///
    /// Use one of the fields in the message; a near name is suggested.
    UNKNOWN_FIELD = "unknown-field";

    /// A block does not need a function of this name.
    ///
    /// Use a name in the message; the manual of the block lists its functions.
    UNKNOWN_FUNCTION = "unknown-function";

    /// An expression or a patch reads a name, or calls a function, that does not exist.
    ///
    /// Define it in `params:`, or correct the name.
    UNKNOWN_NAME = "unknown-name";

    /// A block has no parameter of this name.
    ///
    /// Correct the name; the message lists all parameters.
    UNKNOWN_PARAMETER = "unknown-parameter";

    /// A parameter of a mask declares a kind that does not exist.
    ///
    /// Use one of the kinds in the message.
    UNKNOWN_PARAMETER_KIND = "unknown-parameter-kind";

    /// A block has no input or output of this name, or only with another parameter.
    ///
    /// Use one of the ports in the message; `legwork help KIND` explains them.
    UNKNOWN_PORT = "unknown-port";

    /// No period reaches a cycle of blocks that need one.
    ///
    /// State a period in one of them: `every: "1 ms"`.
    UNKNOWN_RATE = "unknown-rate";

    /// A name is not a robot of the diagram.
    ///
    /// Add it to `robots:`, or correct the name.
    UNKNOWN_ROBOT = "unknown-robot";

    /// The run names an integration method that does not exist.
    ///
    /// The message lists the methods; `legwork help run:` explains them.
    UNKNOWN_SOLVER = "unknown-solver";

    /// The type of a signal cannot be inferred, since nothing on its way states it.
    ///
    /// Connect the block to a signal of a known type, or declare the type.
    UNKNOWN_TYPE = "unknown-type";

    /// The diagram has no variant, or the variant has no choice, of this name. A `Use` may also
    /// name a hole that the mask lacks.
    ///
    /// `legwork check FILE --json` lists variants and choices.
    UNKNOWN_VARIANT = "unknown-variant";

    /// A parameter, a robot or a block is defined and nothing reads it.
    ///
    /// Use it, log it, or remove it.
    UNUSED = "unused";

    /// The diagram declares a ground, and no block reads it.
    ///
    /// Contact blocks read it with `ground: OfDiagram`, which is their default; `Collisions` needs
    /// it stated.
    UNUSED_GROUND = "unused-ground";

    /// A mask or a diagram declares an input that no block reads.
    ///
    /// Read it as `"^name"`, or remove the declaration.
    UNUSED_INPUT = "unused-input";

    /// A choice of a variant uses the same variant.
    ///
    /// Use another part in the choice.
    VARIANT_CYCLE = "variant-cycle";

    /// A choice of a variant does not have the ports that the variant declares.
    ///
    /// Give the part the ports that the message names, with the same types.
    VARIANT_INTERFACE = "variant-interface";

    /// The file is for another version of the language.
    ///
    /// Write `format: 2`, and compare the file with the manual of this version.
    WRONG_FORMAT = "wrong-format";

    /// A vector is in another frame than the input expects, as body axes where world axes are
    /// expected.
    ///
    /// Turn it by `RotateVector`, or read the signal in the other frame.
    WRONG_FRAME = "wrong-frame";

    /// A part cannot be called as this function, since its inputs or outputs do not fit.
    ///
    /// Give it the inputs and the outputs that the message names.
    WRONG_FUNCTION = "wrong-function";

    /// A signal has another length or other dimensions than the input expects.
    ///
    /// Select elements with `[a..b]`, or join signals with `Concat`.
    WRONG_SHAPE = "wrong-shape";

    /// A signal or a value has another type than the place expects.
    ///
    /// The message shows both types; `legwork help types` explains them.
    WRONG_TYPE = "wrong-type";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_and_found_by_its_name() {
        for (i, code) in ALL.iter().enumerate() {
            assert_eq!(Code::find(code.name()), Some(*code));
            let about = code.about();
            let paragraphs: Vec<&str> = about.split("\n\n").collect();
            assert!(paragraphs.len() >= 2, "{code}: cause and remedy");
            assert!(paragraphs.iter().all(|text| text.trim_end().ends_with('.')), "{code}");
            assert!(i == 0 || ALL[i - 1].name() < code.name(), "{code}: alphabetical order");
        }
    }
}
