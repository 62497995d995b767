//! What the attributes make of a block, seen from a crate that uses them.
#![allow(missing_docs, unreachable_pub, reason = "blocks of a test")]

use legwork_block::quantity::{
    Acceleration, NonNegative, PerJoint, Positive, Preset, Time, Torque,
};
use legwork_block::{
    Any, Block, Feed, Feeds, In, Inputs, Invalid, Outcome, OutputCx, Outputs, PortTable, PortUnit,
    Ports, Pure, Real, Sizes, Type, Vector, block, parameters, ports,
};
use serde_json::{from_value, json};

/// A block with everything.
///
/// Its law.
#[ports(
    |count: usize|
    let (n, ty) = (ports.dim(), Any(Type::Real));
    in  u: Vector::of(3 * n.clone()), "N*m/s^2", "the input", frame "world";
    in  loss?: Real, "W", "what is lost", when self.lossy;
    in  terms[(name, ty) in terms(count, &ty)]: ty as Any, _, "the terms",
        named "`t1`, `t2`, …", shape "number";
    feeds(u, loss, terms);
    out mass("M"): legwork_block::Matrix::of(6, &n), "kg", "the matrix", infinite;
    feeds();
    out y: ty as Any, _, "the output", units "any";
)]
#[parameters(aliases("all", "both"))]
struct Everything {
    /// Whether something is lost.
    #[default]
    lossy: bool,
    /// Period [s].
    period: Positive<Time>,
    /// Torque [N m].
    #[default = "18 N*m"]
    torque: PerJoint<NonNegative<Torque>>,
    /// How many.
    #[default = 3]
    count: usize,
    /// Perhaps a time [s].
    perhaps: Option<Positive<Time>>,
    /// What to do.
    #[default = Choice::Give { up: 2.5 }]
    choice: Choice,
    /// Free fall [m/s²].
    #[default = [0, 0, -9.81]]
    gravity: [Acceleration; 3],
    /// Which way.
    #[default]
    way: Way,
}

/// A way.
#[parameters]
#[derive(Default)]
enum Way {
    /// Up.
    #[default]
    Up,
    /// Down.
    Down,
}

/// Names and types: the first is of the type `ty`, the others are whole numbers.
fn terms(count: usize, ty: &Any) -> impl Iterator<Item = (String, Any)> {
    let ty = |i| if i == 1 { ty.clone() } else { Any(Type::Int) };
    (1..=count).map(move |i| (format!("t{i}"), ty(i)))
}

/// A choice.
#[parameters]
#[derive(PartialEq)]
enum Choice {
    /// To go on.
    On,
    /// To give up.
    Give {
        /// How far.
        #[default = 0.5]
        up: f64,
    },
}

#[block]
impl Pure for Everything {
    fn plan(&self, ports: &mut Ports<'_>) -> Result<EverythingPorts, Invalid> {
        Ok(self.declare(ports, 2))
    }

    fn output(&self, _: &Self::Plan, _: &Inputs<'_>, _: &mut Outputs<'_>) -> Outcome {
        Ok(())
    }
}

/// A computation that blocks share.
struct Square;

#[block]
impl Block for Square {
    type Plan = In<Real>;
    type Scratch = f64;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<In<Real>, Invalid> {
        ports.share();
        Ok(ports.input("u", &Real))
    }

    fn output(&self, u: &In<Real>, cx: &mut OutputCx<'_, Self>) -> Outcome {
        *cx.scratch = cx.inputs.get(*u) * cx.inputs.get(*u);
        Ok(())
    }
}

/// A block that asks for a shared computation.
#[ports(
    in  other: Real, "1", "does not count";
    in  u: Real, "1", "the input";
    ask square: f64 = ports.ask(Square, "of u", &[u.feed()]);
    feeds(square);
    out y: Real, "1", "its square";
)]
struct Asking;

/// A block that keeps what it has found.
#[ports(
    /// The half.
    keep half: f64 = half(self.0)?;
    in  u: Real, "1", "the input";
    out y: Real, "1", "its half";
    ports.updates();
)]
struct Keeping(f64);

fn half(whole: f64) -> Result<f64, Invalid> {
    if whole.is_finite() { Ok(0.5 * whole) } else { Err(Invalid::new("expected a number")) }
}

#[block]
impl Block for Keeping {
    const KIND: &'static str = "Half";
    type State = u32;

    fn output(&self, plan: &KeepingPorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(plan.y, plan.half * cx.inputs.get(plan.u));
        Ok(())
    }
}

struct Nothing;

impl legwork_block::Files for Nothing {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(path.to_owned())
    }
}

impl legwork_block::Resources for Nothing {
    fn resource(&self, _: &str) -> Option<&std::sync::Arc<dyn legwork_block::Resource>> {
        None
    }

    fn resource_names(&self) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let block: Everything = from_value(json!({ "period": "10 ms" })).expect("a block");
    assert!(!block.lossy && block.count == 3 && block.perhaps.is_none());
    assert_eq!(block.period.value(), 0.01);
    assert_eq!(block.torque, PerJoint::All(Preset::number(18.0)));
    assert_eq!(block.choice, Choice::Give { up: 2.5 });
    assert_eq!(block.gravity.map(Acceleration::value), [0.0, 0.0, -9.81]);
    assert!(matches!(block.way, Way::Up));
    let block: Everything =
        from_value(json!({ "period": 1, "choice": { "Give": {} } })).expect("a block");
    assert_eq!(block.choice, Choice::Give { up: 0.5 });
    assert!(from_value::<Choice>(json!({ "Give": { "in": 1 } })).is_err());
    assert!(from_value::<Everything>(json!({})).is_err(), "the period must be given");
    assert!(from_value::<Everything>(json!({ "period": 1, "other": 2 })).is_err());
}

#[test]
fn the_table_declares_the_ports_in_its_order() {
    let block: Everything = from_value(json!({ "period": 1, "lossy": true })).expect("a block");
    let mut ports = Ports::new(&Nothing, &Nothing, 1e-3);
    let handles = block.declare(&mut ports, 2);
    assert_eq!(handles.terms.len(), 2);
    let declared = ports.finish();
    let inputs: Vec<&str> = declared.inputs.iter().map(|input| &*input.name).collect();
    assert_eq!(inputs, ["u", "loss", "t1", "t2"]);
    assert_eq!(declared.inputs[0].unit, PortUnit::Is("N*m/s^2".into()));
    assert_eq!(declared.inputs[0].frame.as_deref(), Some("world"));
    assert_eq!(declared.inputs[0].doc, "the input");
    assert!(!declared.inputs[0].optional && declared.inputs[1].optional);
    assert_eq!((&declared.inputs[2].ty, &declared.inputs[3].ty), (&Type::Real, &Type::Int));
    assert_eq!(declared.inputs[3].unit, PortUnit::Unspecified);
    let outputs: Vec<(&str, usize, bool)> = declared
        .outputs
        .iter()
        .map(|output| (&*output.name, output.group, output.may_be_infinite))
        .collect();
    assert_eq!(outputs, [("M", 0, true), ("y", 1, false)]);
    let all = (0..4).map(Feed::Input).collect();
    assert_eq!(declared.groups, [Feeds::Only(all), Feeds::Only(Vec::new())]);
}

#[test]
fn a_port_whose_condition_does_not_hold_is_not_there() {
    let block: Everything = from_value(json!({ "period": 1 })).expect("a block");
    let mut ports = Ports::new(&Nothing, &Nothing, 1e-3);
    assert!(block.declare(&mut ports, 0).loss.is_none());
    assert_eq!(ports.finish().inputs.len(), 1);
}

#[test]
fn a_shared_computation_is_one_of_the_handles() {
    let mut ports = Ports::new(&Nothing, &Nothing, 1e-3);
    let AskingPorts { square, .. } = Asking.declare(&mut ports);
    let declared = ports.finish();
    assert_eq!(declared.asks[0].inputs, [1]);
    assert_eq!(declared.groups, [Feeds::Only(vec![square.feed()])]);
}

#[test]
fn what_an_implementation_leaves_out_is_the_tables_plan_and_nothing() {
    let plan = |value| {
        let mut ports = Ports::new(&Nothing, &Nothing, 1e-3);
        let plan = Block::plan(&Keeping(value), &mut ports)?;
        Ok::<_, Invalid>((plan, ports.finish()))
    };
    let (planned, declared) = plan(3.0).expect("a plan");
    assert_eq!((planned.half, declared.updates), (1.5, true));
    assert_eq!(plan(f64::NAN).map(|_| ()).unwrap_err().message, "expected a number");
    assert_eq!(<Everything as Block>::KIND, "Everything");
    assert_eq!((Square::KIND, Keeping::KIND), ("Square", "Half"));
    let none = PortTable::default();
    let sizes = Sizes::new(&[], &none, &none);
    assert_eq!(Keeping(3.0).state(&planned, &sizes), 0);
    Keeping(3.0).scratch(&planned, &sizes);
}

#[test]
fn the_manual_has_the_table_and_the_words() {
    let schema = legwork_block::schemars::schema_for!(Everything).to_value();
    let doc = schema["description"].as_str().expect("a description");
    let expected = "\
A block with everything.

| port | shape | unit | meaning |
|---|---|---|---|
| in `u` | 3 n | N m/s² | the input |
| in `loss`, with `lossy`, optional |  | W | what is lost |
| in `t1`, `t2`, … | number |  | the terms |
| out `M` | 6 × n | kg | the matrix |
| out `y` | any | any | the output |

Its law.";
    assert_eq!(doc, expected);
    assert_eq!(schema["x-aliases"], json!(["all", "both"]));
    assert_eq!(schema["properties"]["torque"]["description"], "Torque [N m].");
    assert_eq!(schema["properties"]["torque"]["default"], 18.0);
    assert_eq!(schema["properties"]["gravity"]["default"], json!([0.0, 0.0, -9.81]));
    assert_eq!(schema["properties"]["way"]["default"], "Up");
    assert_eq!(schema["required"], json!(["period"]));
}
