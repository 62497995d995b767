//! The attributes with which a block declares its parameters, ports and buses, each once: code,
//! documentation and manual come from the same lines, and an implementation has only what is its
//! own. They are documented where they are used, in `legwork_block`.

mod block;
mod bus;
mod doc;
mod parameters;
mod ports;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a struct or an enum readable from a diagram, with a manual of its fields.
///
/// ```
/// use legwork_block::parameters;
/// use legwork_block::quantity::{NonNegative, PerJoint, Positive, Time, Torque};
///
/// /// Limits of a motor.
/// #[parameters(aliases("saturation"))]
/// pub struct Limits {
///     /// Period of the current loop [s].
///     pub period: Positive<Time>,
///     /// Largest torque [N m].
///     #[default = "18 N*m"]
///     pub torque: PerJoint<NonNegative<Torque>>,
///     /// What happens above it.
///     #[default]
///     pub above: Above,
/// }
///
/// /// What happens to a torque above the limit.
/// #[parameters]
/// #[derive(Copy, Default, PartialEq, Eq)]
/// pub enum Above {
///     /// It is cut.
///     #[default]
///     Cut,
///     /// The run ends.
///     Stop,
/// }
/// ```
///
/// - A field must be given unless it is an `Option` or has `#[default]`, the value of its type's
///   `Default`, or `#[default = VALUE]`: a number in SI units, a list of them, a text as a diagram
///   writes it, or an expression. The value is added to the field's documentation.
/// - `aliases(…)` are other words by which `legwork blocks --search` finds the block.
/// - The type derives `Debug`, `Clone`, `Deserialize` and `JsonSchema`; what a file gives and the
///   type does not know is an error. An enum of choices without values also derives `Serialize`, so
///   that the manual can show one as a default.
#[proc_macro_attribute]
pub fn parameters(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as parameters::Arguments);
    let item = parse_macro_input!(item as syn::DeriveInput);
    parameters::expand(&arguments, item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares the ports of a block in a table.
///
/// ```
/// use legwork_block::{Inputs, Outcome, Outputs, Pure, Real, Vector, block, parameters, ports};
///
/// /// Power of the joints: `p = τ·ṡ`, less what is lost.
/// #[ports(
///     let n = ports.dim();
///     in  tau: Vector::of(&n), "N*m", "torques";
///     in  s_dot: Vector::of(&n), "rad/s", "velocities";
///     in  loss?: Real, "W", "what is lost", when self.lossy;
///     out p: Real, "W", "mechanical power";
/// )]
/// #[parameters]
/// pub struct JointPower {
///     /// Whether something is lost.
///     #[default]
///     pub lossy: bool,
/// }
///
/// #[block]
/// impl Pure for JointPower {
///     fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
///         let (tau, s_dot) = (inputs.get(io.tau), inputs.get(io.s_dot));
///         let power: f64 = tau.iter().zip(s_dot).map(|(tau, s_dot)| tau * s_dot).sum();
///         let loss = io.loss.and_then(|loss| inputs.optional(loss)).unwrap_or(0.0);
///         out.set(io.p, power - loss);
///         Ok(())
///     }
/// }
/// ```
///
/// The attribute makes a struct of handles, `JointPowerPorts`, and a function
/// `declare(&self, ports: &mut Ports<'_>, …) -> JointPowerPorts`, which declares the ports in the
/// order of the table. The table is added to the documentation of the block behind its first
/// paragraph.
///
/// A line is `in` or `out`, the name, the signal, the unit and the meaning:
///
/// - `name?` may be left unconnected: its handle is an `OptionalIn`.
/// - `name("M")` is called `M` in diagrams.
/// - `names[iterator]` is one port for each name, with a `Vec` of handles; in
///   `names[(name, ty) in iterator]` the signal and the unit of each may depend on the pattern,
///   which gives the `name`.
/// - The signal is an expression such as `Real`, `Vector::of(&n)`, `StateBus::of(ports, robot)`;
///   of a variable it says which kind of signal it is: `ty as Any`.
/// - The unit is a text, `_` where the block fixes none, or an expression that is `Into<PortUnit>`.
/// - Behind the meaning may follow, each after a comma: `when CONDITION`, under which alone the
///   port exists, its handle being an `Option`; `frame "world"`; `infinite` for an output whose
///   infinite values are bounds; `elements state.s_dot` for one whose elements are called as those
///   of an input, or of a part of it; and what the table says in place of the code: `shape "…"`,
///   `units "…"`, `named "…"`, `if "with `electric`"`.
///
/// Between them may stand `feeds(a, b);`, after which only these inputs feed the outputs that
/// follow; `ask kinematics: Kinematics = kinematics(ports, robot, state);` for a shared
/// computation, with the type of its value; `keep robot: Arc<RobotModel> = find(ports)?;` for a
/// constant that the plan has beside the handles, under a comment if it needs one; and statements,
/// which see `self`, `ports` and what is declared before. With a `?` among them `declare` returns a
/// `Result`. Arguments of `declare` are written first: `|n: &Dim, robot: &str|`.
///
/// What a name stands for is checked, so that nothing is left out in silence:
///
/// ```compile_fail
/// use legwork_block::{Real, parameters, ports};
///
/// #[ports(
///     in  u: Real, _, "what is doubled";
///     out y: Real, _, "twice that";
///     out z: Real, _, "the same", elements y;
/// )]
/// #[parameters]
/// pub struct Twice {}
/// ```
#[proc_macro_attribute]
pub fn ports(table: TokenStream, item: TokenStream) -> TokenStream {
    let table = parse_macro_input!(table as ports::Table);
    let item = parse_macro_input!(item as syn::DeriveInput);
    ports::expand(&table, item).into()
}

/// Completes `impl Block` and `impl Pure`: what is left out is as follows.
///
/// ```
/// use legwork_block::{Block, Bool, Outcome, OutputCx, Real, UpdateCx, block, parameters, ports};
///
/// /// Latches: `y` is true from the step after `u` first exceeds the limit.
/// #[ports(
///     in  u: Real, _, "what is watched";
///     feeds();
///     out y: Bool, _, "whether it was above the limit";
///     ports.updates();
/// )]
/// #[parameters]
/// pub struct Latch {
///     /// The limit [unit of u].
///     pub limit: f64,
/// }
///
/// #[block]
/// impl Block for Latch {
///     type State = bool;
///
///     fn output(&self, io: &LatchPorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
///         cx.outputs.set(io.y, f64::from(u8::from(*cx.state)));
///         Ok(())
///     }
///
///     fn update(&self, io: &LatchPorts, cx: &mut UpdateCx<'_, Self>) -> Outcome {
///         *cx.state |= cx.inputs.get(io.u) > self.limit;
///         Ok(())
///     }
/// }
/// ```
///
/// | item | if it is left out |
/// |---|---|
/// | `KIND` | the name of the struct |
/// | `Plan`, `plan` | what the table of [`ports`](macro@ports) declares; it has no arguments then |
/// | `State`, `Memo`, `Scratch` | `()` |
/// | `state`, `scratch` | the type's `Default` |
#[proc_macro_attribute]
pub fn block(arguments: TokenStream, item: TokenStream) -> TokenStream {
    parse_macro_input!(arguments as syn::parse::Nothing);
    let item = parse_macro_input!(item as syn::ItemImpl);
    block::expand(item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Declares a bus by the table of its fields.
///
/// ```
/// use legwork_block::{Arg, Dim, Matrix, Real, Vector, bus_type};
///
/// /// `Motion(robot)`: how a robot moves.
/// ///
/// /// All of one instant.
/// #[bus_type(
///     |robot: Arg, nv: &Dim|
///     nu: Vector::of(nv), _, "velocity", units "m/s, rad/s";
///     mass_matrix("M"): Matrix::of(nv, nv), _, "joint-space inertia", units "kg, kg m, kg m²";
///     energy: Real, "J", "kinetic energy";
/// )]
/// pub struct MotionBus;
///
/// let bus = MotionBus::new(Arg::Name("go".into()), &Dim::fixed(18));
/// assert_eq!(legwork_block::Signal::ty(&bus).to_string(), "Motion(go)");
/// assert_eq!(MotionBus::MASS_MATRIX, 1);
/// ```
///
/// A line is that of [`ports`](macro@ports) without `in` or `out`. The name of the bus is that of
/// the struct without `Bus`; those of the arguments that are `Arg`s are the bus's own. The
/// attribute makes `new`, the number of each field's leaf (`MotionBus::MASS_MATRIX`), and
/// `MotionRef<'a>`, what a reader gets: a struct of numbers and slices, called otherwise with a
/// first line `as Motion;`. `views(expression);` gives names to parts of fields.
#[proc_macro_attribute]
pub fn bus_type(table: TokenStream, item: TokenStream) -> TokenStream {
    let table = parse_macro_input!(table as bus::Table);
    let item = parse_macro_input!(item as syn::DeriveInput);
    bus::expand(&table, item).into()
}
