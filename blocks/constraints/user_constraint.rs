//! `UserConstraint`: rows of a constraint from signals.

use legwork_block::quantity::{NonNegative, Velocity};
use legwork_block::{
    Block, Dim, Invalid, Matrix, Out, Outcome, OutputCx, Ports, Sizes, Vector, block, parameters,
    ports,
};
use nalgebra::Vector3;

use crate::buses::{
    CONSTRAINT_ROWS, ConstraintBus, ContactBus, ContactPointsBus, RobotDims, StateBus,
    contact_points,
};
use crate::constraints::loop_constraint::{Rows, Stabilise};
use crate::robot::name::RobotName;

/// A user-defined constraint, whose error and Jacobian are signals. Its rows are `φ = 0`, or
/// `φ ≥ 0` with `unilateral: true`.
///
/// Of a constraint with other than one row of its own units, K and B are those of the inputs
/// `joint_stiffness` and `joint_damping` of `ConstraintSolver`. `stabilise` is that of
/// `LoopConstraint`.
#[ports(
    self.check_robot(ports)?;
    keep k: Dim = ports.dim();
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    in  error("phi"): Vector::of(&k), _, "φ, the error of each row", units "any";
    in  jacobian("G"): Matrix::of(&k, &nv), _, "`φ̇ = G ν`";
    in  bias("G_dot_nu")?: Vector::of(&k), _, "Ġν; zero if it is not connected",
        units "any";
    out contacts: contact_points(&k, &nv) as ContactPointsBus, _, "k contacts without friction",
        when self.unilateral;
    out constraint: ConstraintBus::new(&nv), _, "at most six rows", when !self.unilateral,
        if "without `unilateral`";
)]
#[parameters]
pub struct UserConstraint {
    /// The robot or world.
    pub robot: RobotName,
    /// Whether rows only push: `φ ≥ 0`.
    #[default]
    pub unilateral: bool,
    /// How rows are kept closed by solvers of rigid constraints; default `Projection`.
    #[default]
    pub stabilise: Stabilise,
    /// `Projection`: highest rate at which three rows close together [m/s; rad/s].
    #[default = 1]
    pub max_rate: NonNegative<Velocity>,
}

#[block]
impl Block for UserConstraint {
    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let count = sizes.dim(&plan.k);
        if self.unilateral || count <= CONSTRAINT_ROWS {
            return Ok(());
        }
        let message = format!("expected at most {CONSTRAINT_ROWS} rows at `phi`, found {count}");
        Err(Invalid::new(message).hint("divide them among several blocks"))
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        if let Some(to) = plan.contacts {
            unilateral(plan, to, cx);
        }
        plan.constraint.map_or(Ok(()), |to| self.bilateral(plan, to, cx))
    }
}

impl UserConstraint {
    fn check_robot(&self, ports: &Ports<'_>) -> Result<(), Invalid> {
        if !self.unilateral {
            self.stabilise.check_solver(ports.solver())?;
        }
        self.robot.find(ports).map(|_| ())
    }

    fn bilateral(
        &self,
        plan: &UserConstraintPorts,
        to: Out<ConstraintBus>,
        cx: &mut OutputCx<'_, Self>,
    ) -> Outcome {
        let time_step = cx.time.step;
        self.stabilise.check_step(time_step)?;
        let (phi, g) = (cx.inputs.get(plan.error), cx.inputs.get(plan.jacobian));
        let (bias, nu) = (cx.inputs.optional(plan.bias), cx.inputs.get(plan.state).nu);
        let count = phi.len();
        let [jacobian, dot_nu, error, gamma, active] = cx.outputs.leaves([
            to.leaf(ConstraintBus::JACOBIAN),
            to.leaf(ConstraintBus::JACOBIAN_DOT_NU),
            to.leaf(ConstraintBus::ERROR),
            to.leaf(ConstraintBus::GAMMA),
            to.leaf(ConstraintBus::ACTIVE),
        ]);
        for numbers in [&mut *jacobian, &mut *dot_nu, &mut *error, &mut *gamma, &mut *active] {
            numbers.fill(0.0);
        }
        if count == 0 {
            return Ok(());
        }
        let mut rate = [0.0; CONSTRAINT_ROWS];
        let columns = jacobian.chunks_exact_mut(CONSTRAINT_ROWS).zip(g.chunks_exact(count));
        for ((column, source), nu) in columns.zip(nu) {
            column[..count].copy_from_slice(source);
            rate.iter_mut().zip(source).for_each(|(rate, g)| *rate += g * nu);
        }
        error[..count].copy_from_slice(phi);
        active[..count].fill(1.0);
        if let Some(bias) = bias {
            dot_nu[..count].copy_from_slice(bias);
        }
        for first in [0, 3] {
            let three = |numbers: &[f64]| Vector3::from_column_slice(&numbers[first..first + 3]);
            let rows = Rows { error: three(error), rate: three(&rate), bias: three(dot_nu) };
            let value = self.stabilise.gamma(&rows, time_step, self.max_rate.value());
            gamma[first..first + 3].copy_from_slice(value.as_slice());
        }
        Ok(())
    }
}

fn unilateral(
    plan: &UserConstraintPorts,
    to: Out<ContactPointsBus>,
    cx: &mut OutputCx<'_, UserConstraint>,
) {
    let (phi, g) = (cx.inputs.get(plan.error), cx.inputs.get(plan.jacobian));
    let (bias, nu) = (cx.inputs.optional(plan.bias), cx.inputs.get(plan.state).nu);
    for (i, &gap) in phi.iter().enumerate() {
        let first = i * ContactBus::LEAVES;
        let jacobian = cx.outputs.leaf(to, first + ContactBus::JACOBIAN);
        jacobian.fill(0.0);
        let mut rate = 0.0;
        let columns = jacobian.chunks_exact_mut(3).zip(g.chunks_exact(phi.len()));
        for ((column, source), nu) in columns.zip(nu) {
            column[2] = source[i];
            rate += source[i] * nu;
        }
        let mut write = |leaf: usize, numbers: &[f64]| {
            cx.outputs.leaf(to, first + leaf).copy_from_slice(numbers);
        };
        write(ContactBus::POSITION, &[0.0; 3]);
        write(ContactBus::AXES, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
        write(ContactBus::GAP, &[gap]);
        write(ContactBus::VELOCITY, &[0.0, 0.0, rate]);
        let bias = bias.map_or(0.0, |bias| bias[i]);
        write(ContactBus::JACOBIAN_DOT_NU, &[0.0, 0.0, bias]);
        write(ContactBus::FRICTION, &[0.0]);
        write(ContactBus::RESTITUTION, &[0.0]);
        write(ContactBus::ROW, &[1.0]);
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::block;
    use crate::testing::robots::{Rig, States, go};

    fn rig(parameters: serde_json::Value, rows: usize) -> Result<Rig, Invalid> {
        let given = [
            ("phi", Type::vector(rows)),
            ("G", Type::matrix(rows, 18)),
            ("G_dot_nu", Type::vector(rows)),
        ];
        Rig::with(block::<UserConstraint>(parameters), &go(), &[], &given)
    }

    /// Both kinds say of a row what its signals say.
    #[test]
    fn rows_are_those_of_the_signals() {
        let mut both = rig(json!({ "robot": "go" }), 2).expect("a plan");
        let mut push = rig(json!({ "robot": "go", "unilateral": true }), 2).expect("a plan");
        let g: Vec<f64> = (0..36).map(|i| f64::from(i % 7) - 3.0).collect();
        for (q, nu) in States::of(&go(), 3) {
            for rig in [&mut both, &mut push] {
                rig.set("state", &[&q, &nu]);
                rig.set("phi", &[&[1e-4, -2e-4]]);
                rig.set("G", &[&g]);
                rig.set("G_dot_nu", &[&[0.5, -1.5]]);
                rig.output();
            }
            let rate = |row: usize| (0..18).map(|c| g[2 * c + row] * nu[c]).sum::<f64>();
            let active = both.leaf("constraint", ConstraintBus::ACTIVE);
            assert_eq!(active, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
            let gamma = both.leaf("constraint", ConstraintBus::GAMMA);
            for (i, (phi, bias)) in [(1e-4, 0.5), (-2e-4, -1.5)].into_iter().enumerate() {
                let expected = (phi / both.step + rate(i)) / both.step + 0.5 * bias;
                assert!((gamma[i] - expected).abs() < 1e-9 * expected.abs(), "{gamma:?}");
                let first = i * ContactBus::LEAVES;
                let velocity = push.leaf("contacts", first + ContactBus::VELOCITY);
                assert!((velocity[2] - rate(i)).abs() < 1e-12);
                assert_eq!(push.leaf("contacts", first + ContactBus::GAP), [phi]);
                assert_eq!(push.leaf("contacts", first + ContactBus::FRICTION), [0.0]);
                let j = push.leaf("contacts", first + ContactBus::JACOBIAN);
                let column = |c: usize| [0.0, 0.0, g[2 * c + i]];
                assert!((0..18).all(|c| j[3 * c..3 * c + 3] == column(c)));
            }
        }
    }
}
