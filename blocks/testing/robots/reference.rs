//! The published results of Pinocchio and iDynTree in `tests/data/reference`, in the order of our
//! models.

use std::sync::Arc;

use legwork_block::Block;
use serde_json::{Value, json};

use super::{ROOT, Rig, close, load};
use crate::robot::model::RobotModel;

/// One state, or one frame at it, of the published results of Pinocchio and iDynTree.
pub(crate) struct Reference<'a>(&'a Value);

/// The model's coordinates in the reference: `velocities[k]` is the reference's place of ν\[k\].
pub(crate) struct Order {
    base: usize,
    velocities: Vec<usize>,
}

impl Reference<'_> {
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.0[name].as_f64().expect("a number")
    }

    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        numbers(&self.0[name])
    }

    /// A vector over the velocities.
    pub(crate) fn vector(&self, name: &str, order: &Order) -> Vec<f64> {
        let values = self.numbers(name);
        order.velocities.iter().map(|&k| values[k]).collect()
    }

    /// A vector over the joints.
    pub(crate) fn joint_vector(&self, name: &str, order: &Order) -> Vec<f64> {
        let values = self.numbers(name);
        order.velocities[order.base..].iter().map(|&k| values[k - order.base]).collect()
    }

    /// A matrix over the velocities, column by column.
    pub(crate) fn square(&self, name: &str, order: &Order) -> Vec<f64> {
        let rows = self.rows(name);
        let columns = order.velocities.iter();
        columns
            .flat_map(|&c| order.velocities.iter().map(|&r| rows[r][c]).collect::<Vec<_>>())
            .collect()
    }

    /// A matrix whose columns are velocities, column by column.
    pub(crate) fn columns(&self, name: &str, order: &Order) -> Vec<f64> {
        let rows = self.rows(name);
        order.velocities.iter().flat_map(|&c| rows.iter().map(move |row| row[c])).collect()
    }

    /// A matrix, column by column.
    pub(crate) fn matrix(&self, name: &str) -> Vec<f64> {
        let rows = self.rows(name);
        (0..rows[0].len()).flat_map(|c| rows.iter().map(move |row| row[c])).collect()
    }

    fn rows(&self, name: &str) -> Vec<Vec<f64>> {
        self.0[name].as_array().expect("rows").iter().map(numbers).collect()
    }

    /// q and ν.
    pub(crate) fn state(&self, order: &Order) -> (Vec<f64>, Vec<f64>) {
        let mut q = Vec::new();
        if order.base > 0 {
            q.extend(self.numbers("base_position"));
            q.extend(self.numbers("base_quaternion_wxyz"));
        }
        q.extend(self.joint_vector("s", order));
        (q, self.vector("nu", order))
    }

    pub(crate) fn frame_names(&self) -> Vec<String> {
        self.0["frames"].as_object().expect("frames").keys().cloned().collect()
    }

    pub(crate) fn wrench(&self, frame: &str) -> Vec<f64> {
        numbers(&self.0["wrenches"][frame])
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// Calls `check` for every state of three robots: floating with spherical feet, floating with
/// meshes, fixed with prismatic joints.
pub(crate) fn for_each_reference(check: impl Fn(&Arc<RobotModel>, &Reference<'_>, &Order)) {
    for name in ["mini_cheetah", "solo12", "panda"] {
        let path = format!("{ROOT}/tests/data/reference/{name}.json");
        let text = std::fs::read_to_string(path).expect("reference data");
        let reference: Value = serde_json::from_str(&text).expect("JSON");
        let floating = reference["base"] == "floating";
        let robot = load(
            name,
            json!({
                "path": format!("robots/{name}/{name}.urdf"),
                "base": if floating { "Floating" } else { "Fixed" },
                "mimic": "Free",
                // Pinocchio's figures are those of frictionless joints.
                "joint_damping": "Ignore",
            }),
        );
        let robot = robot.expect("the robot").0;
        let names = reference["joint_names"].as_array().expect("names");
        let base = robot.model.trees()[0].base_dim();
        let joints = robot.joint_names().into_iter().map(|joint| {
            base + names.iter().position(|name| name == joint).expect("the joint is known")
        });
        let order = Order { base, velocities: (0..base).chain(joints).collect() };
        let states = reference["states"].as_array().expect("states");
        assert!(states.len() >= 8, "{name}");
        for state in states {
            check(&robot, &Reference(state), &order);
        }
    }
}

/// Compares an output of a block with the reference, to 1e-10.
pub(crate) fn check_reference<B: Block>(
    block: impl Fn(&str) -> B,
    output: &str,
    expected: impl Fn(&Reference<'_>, &Order) -> Vec<f64>,
) {
    for_each_reference(|robot, reference, order| {
        let mut rig = Rig::new(block(&robot.name), robot, &[]);
        let (q, nu) = reference.state(order);
        rig.set("state", &[&q, &nu]);
        rig.output();
        close(&rig.leaf(output, 0), &expected(reference, order), 1e-10);
    });
}

/// Compares an output of a block of a frame with the reference, to 1e-10.
pub(crate) fn check_reference_frames<B: Block>(
    block: impl Fn(&str, &str) -> B,
    output: &str,
    expected: impl Fn(&Reference<'_>, &Order) -> Vec<f64>,
) {
    for_each_reference(|robot, reference, order| {
        for name in reference.frame_names() {
            let mut rig = Rig::new(block(&robot.name, &name), robot, &[]);
            let (q, nu) = reference.state(order);
            rig.set("state", &[&q, &nu]);
            rig.output();
            let frame = Reference(&reference.0["frames"][&name]);
            close(&rig.leaf(output, 0), &expected(&frame, order), 1e-10);
        }
    });
}
