//! `State(robot)` and the names of its parts.

use std::collections::VecDeque;

use legwork_block::{Arg, BusView, Dim, Ports, Vector, bus_type};
use legwork_mechanics::Tree;

use crate::robot::joint_values::{Coordinate, positions, velocities};
use crate::robot::model::RobotModel;

/// `State(robot)`: configuration and velocity of one robot, the two things everything else is a
/// function of.
///
/// Parts have names of their own: `base.position`, `base.orientation`, `base.velocity`,
/// `base.angular_velocity` (floating base), `s`, `s_dot`. In the state of a world they begin with
/// the robot's name, and its own state is there too: `go.base.position`, `go.s`, `go.q`, `go.nu`.
/// Joints are in the order of `go.joints`; of one that slides, the elements of `s`, `s_dot`, `q`
/// and `nu` are in m and m/s. `FloatingBase` holds the state, also of a robot with a fixed base.
#[bus_type(
    |robot: Arg, dims: &RobotDims, known: Option<&RobotModel>|
    as State;
    q: Vector::of(&dims.nq), _,
        "configuration: base position, base quaternion (w, x, y, z), joint positions", shape "nq",
        units "m, 1, rad";
    nu: Vector::of(&dims.nv), _,
        "base velocity and angular velocity in world axes, joint velocities", shape "nv",
        units "m/s, rad/s";
    views(views_of_state(dims, known));
)]
pub struct StateBus;

/// Dimensions of a robot, fixed or to be inferred.
#[derive(Debug, Clone)]
pub struct RobotDims {
    /// Numbers in the configuration.
    pub nq: Dim,
    /// Numbers in the velocity.
    pub nv: Dim,
    /// Joint velocities and torques.
    pub n: Dim,
    /// Joint positions: n, and one more for each ball joint.
    pub ns: Dim,
}

impl RobotDims {
    /// The dimensions of the named robot.
    pub fn of(ports: &Ports<'_>, robot: &str) -> Self {
        let fact = |name: &str| Dim::fixed(ports.fact(robot, name).unwrap_or(0));
        Self { nq: fact("nq"), nv: fact("nv"), n: fact("n"), ns: fact("ns") }
    }

    /// The dimensions of a robot that inference finds; the base may be floating or fixed, its
    /// joints have one degree of freedom each.
    pub fn any(ports: &mut Ports<'_>) -> Self {
        let n = ports.dim();
        Self { nq: ports.dim(), nv: ports.dim(), ns: n.clone(), n }
    }
}

impl StateBus {
    /// The state of the robot `robot`.
    pub fn of(ports: &Ports<'_>, robot: &str) -> Self {
        let known = ports.resource::<RobotModel>(robot).ok();
        let dims = RobotDims::of(ports, robot);
        Self::new(Arg::Name(robot.to_owned()), &dims, known.as_deref())
    }
}

/// Names of the parts of a state.
fn views_of_state(dims: &RobotDims, robot: Option<&RobotModel>) -> Vec<BusView> {
    let mut views = Vec::new();
    match robot {
        Some(world) if world.is_world() => {
            let mut joints = Joints::of(world);
            for tree in world.model.trees() {
                // Of views of the same numbers the first names them: `s` has labels and units.
                views_of(&tree.name, &Parts::of(tree, &mut joints), &mut views);
                let (q, v) = (tree.configuration_range(), tree.velocity_range());
                views.push(view(&tree.name, "q", (StateBus::Q, q.start), Dim::fixed(q.len())));
                views.push(view(&tree.name, "nu", (StateBus::NU, v.start), Dim::fixed(v.len())));
            }
        }
        Some(robot) => {
            let mut joints = Joints::of(robot);
            for tree in robot.model.trees() {
                views_of("", &Parts::of(tree, &mut joints), &mut views);
            }
        }
        None => {
            // A robot that inference finds: its base floats unless the dimensions say otherwise.
            let floating = dims.nq.clone().plus(-1, &dims.ns).known().unwrap_or(7) == 7;
            let (n, ns) = (dims.n.clone(), dims.ns.clone());
            let (s, s_dot) = (Vec::new(), Vec::new());
            let parts = Parts { floating, q: 0, v: 0, n, ns, s, s_dot };
            views_of("", &parts, &mut views);
        }
    }
    views
}

/// Axes of the world.
const XYZ: [&str; 3] = ["x", "y", "z"];

/// Where the numbers of one robot are in a state.
struct Parts {
    floating: bool,
    q: usize,
    v: usize,
    n: Dim,
    ns: Dim,
    /// The joint positions and velocities; empty if they are not known.
    s: Vec<Coordinate>,
    s_dot: Vec<Coordinate>,
}

/// The joint coordinates of a model that no tree has taken yet.
struct Joints {
    s: VecDeque<Coordinate>,
    s_dot: VecDeque<Coordinate>,
}

impl Joints {
    fn of(robot: &RobotModel) -> Self {
        Self { s: positions(&robot.model).into(), s_dot: velocities(&robot.model).into() }
    }
}

impl Parts {
    fn of(tree: &Tree, joints: &mut Joints) -> Self {
        let (n, ns) = (tree.joint_velocity_range().len(), tree.joint_configuration_range().len());
        Self {
            s: joints.s.drain(..ns).collect(),
            s_dot: joints.s_dot.drain(..n).collect(),
            floating: tree.is_floating(),
            q: tree.configuration_range().start,
            v: tree.velocity_range().start,
            n: Dim::fixed(n),
            ns: Dim::fixed(ns),
        }
    }
}

/// Names of the parts of one robot's state; in a world they begin with the robot's name.
fn views_of(robot: &str, parts: &Parts, views: &mut Vec<BusView>) {
    let mut add = |name, at, labels: &[&str], unit: Option<&str>, world: bool| {
        let len = Dim::fixed(labels.len());
        let mut view = view(robot, name, at, len);
        view.unit = unit.map(str::to_owned);
        view.frame = world.then(|| "world".to_owned());
        view.labels = labels.iter().map(|label| (*label).to_owned()).collect();
        views.push(view);
    };
    let Parts { floating, q, v, .. } = parts;
    let (mut s, mut s_dot) = (*q, *v);
    if *floating {
        add("base.position", (StateBus::Q, *q), &XYZ, Some("m"), true);
        add("base.orientation", (StateBus::Q, q + 3), &["w", "x", "y", "z"], Some("1"), false);
        add("base.velocity", (StateBus::NU, *v), &XYZ, Some("m/s"), true);
        add("base.angular_velocity", (StateBus::NU, v + 3), &XYZ, Some("rad/s"), true);
        (s, s_dot) = (s + 7, s_dot + 6);
    }
    let mut joints = |name, at, len: &Dim, joints: &[Coordinate]| {
        let mut view = view(robot, name, at, len.clone());
        view.labels = joints.iter().map(|(name, _)| name.clone()).collect();
        match joints {
            [(_, first), rest @ ..] if rest.iter().any(|(_, unit)| unit != first) => {
                view.units = joints.iter().map(|(_, unit)| unit.to_string()).collect();
            }
            _ => view.unit = joints.first().map(|(_, unit)| unit.to_string()),
        }
        views.push(view);
    };
    joints("s", (StateBus::Q, s), &parts.ns, &parts.s);
    joints("s_dot", (StateBus::NU, s_dot), &parts.n, &parts.s_dot);
}

fn view(robot: &str, name: &str, (field, start): (usize, usize), len: Dim) -> BusView {
    let name = match robot {
        "" => name.to_owned(),
        _ => format!("{robot}.{name}"),
    };
    let (units, labels) = (Vec::new(), Vec::new());
    BusView { name, field, start, len, unit: None, units, frame: None, labels }
}
