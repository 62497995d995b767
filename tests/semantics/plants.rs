//! Semantics 4: plants that step themselves, contact that is solved in minor steps, state on its
//! manifold, contact modes.

use std::sync::atomic::{AtomicUsize, Ordering};

use legwork_block::{
    Block, In, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Ports, RateRule, Real, Sizes, UpdateCx,
    feeds,
};
use legwork_runtime::recording::{Phase, Recording};
use legwork_runtime::{Cursor, Simulation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::harness::{mistakes, numbers, program, program_of, record, run};

static SOLVES: AtomicUsize = AtomicUsize::new(0);

/// A body that is pushed by u and slowed by f = −x: it steps itself, and solves once per step.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SteppedPlant {}

/// Velocity and the force of the last completed step.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct PlantState {
    x: f64,
    f: f64,
}

impl Block for SteppedPlant {
    const KIND: &'static str = "SteppedPlant";
    type Plan = (In<Real>, [Out<Real>; 3]);
    type State = PlantState;
    /// The force of this step and the velocity after it.
    type Memo = Option<PlantState>;
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let u = ports.input("u", &Real);
        ports.group(&NO_FEEDS);
        let (x, f) = (ports.output("state", &Real), ports.output("f", &Real));
        ports.group(&feeds![u]);
        Ok((u, [x, f, ports.output("f_now", &Real)]))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> PlantState {
        PlantState { x: 1.0, f: 0.0 }
    }
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(u, [x, f, f_now]): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        if cx.group == 0 {
            cx.outputs.set(x, cx.state.x);
            cx.outputs.set(f, cx.state.f);
        } else {
            SOLVES.fetch_add(1, Ordering::SeqCst);
            let force = cx.inputs.get(u) - cx.state.x;
            *cx.memo = Some(PlantState { x: cx.state.x + cx.time.step * force, f: force });
            cx.outputs.set(f_now, force);
        }
        Ok(())
    }
    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = cx.memo.clone().unwrap_or_default();
        Ok(())
    }
}

#[test]
fn s4_1_a_stepping_plant_solves_once_and_shows_the_age_of_its_forces() {
    let text = |source: &str| {
        format!(
            r#"Diagram(run: (stop: "0.5 s", step: "0.1 s"), blocks: {{
                "p": SteppedPlant(every: "0.1 s", in: {{ "u": "back.y" }}),
                "back": Gain(gain: 0.5, in: {{ "u": "{source}" }}),
            }}, log: ["p.state", "p.f", "p.f_now"])"#
        )
    };
    let before = SOLVES.load(Ordering::SeqCst);
    let recording = run(&text("p.f"));
    assert_eq!(SOLVES.load(Ordering::SeqCst) - before, 6, "one solve at each of six steps");
    let [x, f, f_now] = ["p.state", "p.f", "p.f_now"].map(|topic| numbers(&recording, topic));
    for k in 1..x.len() {
        assert_eq!(f[k].1, f_now[k - 1].1, "`f` is that of the last completed step");
        assert_eq!(x[k].1, x[k - 1].1 + 0.1 * f_now[k - 1].1, "the update keeps what was solved");
    }
    let refused = mistakes(&text("p.f_now"));
    assert_eq!(refused[0].0, "algebraic-loop");
    assert!(refused[0].1.contains("read `p.state` or `f` instead"), "{refused:?}");
}

/// State after landing and a while of standing under a stage-wise method.
fn landed(in_minor_steps: &str) -> Vec<f64> {
    let mut simulation = Simulation::new(program_of(
        "diagrams/quadruped/stand_acceleration.ron",
        &[
            ("run.solver", "Rk4"),
            ("run.stop", "200 ms"),
            ("variants.qp.choices.active_set.in_minor_steps", in_minor_steps),
            ("blocks.contact.in_minor_steps", in_minor_steps),
            ("checks", "{}"),
        ],
    ));
    simulation.run().unwrap();
    simulation.state().to_vec()
}

#[test]
fn s4_2_acceleration_level_contact_is_held_in_minor_steps_unless_the_diagram_says_else() {
    // Forces that are held over a step or follow its stages move the robot differently, a little.
    let (held, followed) = (landed("false"), landed("true"));
    let apart = held.iter().zip(&followed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart > 1e-9 && apart < 0.1, "{apart:e}");
    let minor = |in_minor_steps: &str| {
        let program = program_of(
            "diagrams/quadruped/stand_acceleration.ron",
            &[("variants.qp.choices.active_set.in_minor_steps", in_minor_steps)],
        );
        program
            .schedule
            .iter()
            .any(|step| program.nodes[step.node].path.ends_with("solve") && step.minor)
    };
    assert!(!minor("false") && minor("true"), "`per_major` is the default, and a choice");
}

#[test]
fn s4_2_touchdown_is_a_guard_and_impact_a_reset_of_the_velocity() {
    let program = program_of("diagrams/quadruped/stand_acceleration.ron", &[("run.stop", "0.2 s")]);
    let recording = Recording::from_bytes(record(&program)).unwrap();
    let state = recording.series("body.state").unwrap();
    let events: Vec<usize> =
        (0..state.len()).filter(|&row| state.stamp(row).phase == Phase::Event).collect();
    assert!(!events.is_empty(), "no touchdown was seen");
    let column = state.columns().iter().position(|c| c == "nu[2]").unwrap();
    let first = events[0];
    let (before, after) = (state.row(first - 1).values[column], state.row(first).values[column]);
    assert!(before < -0.5 && after > before + 0.1, "the fall is braked at once: {before}, {after}");
}

#[test]
fn s4_4_a_contact_mode_is_state_so_that_standing_makes_no_impacts() {
    let program = program_of("diagrams/quadruped/stand_acceleration.ron", &[]);
    let recording = Recording::from_bytes(record(&program)).unwrap();
    let state = recording.series("body.state").unwrap();
    let late = (0..state.len())
        .filter(|&row| state.stamp(row).phase == Phase::Event && state.stamp(row).t > 1.0)
        .count();
    assert_eq!(late, 0, "impacts while it stands");
}

/// A free brick that turns about one axis: after t its angle is ω t, and the quaternion stays one.
#[test]
fn s4_3_every_solver_keeps_orientation_on_its_manifold() {
    for solver in [
        "Euler",
        "SemiImplicitEuler",
        "Heun",
        "Rk4",
        "ImplicitEuler",
        "DormandPrince",
        "Esdirk",
        "Bdf(rtol: 1e-9)",
    ] {
        let mut simulation = Simulation::new(program(&format!(
            r#"Diagram(run: (stop: "2 s", step: "10 ms", solver: {solver}),
            robots: {{ "brick": FreeBody(mass: "2 kg", shape: Box(size: ["20 cm", "10 cm", "5 cm"])) }},
            blocks: {{
                "free": Constant(value: "=zeros(brick.n)"),
                "accel": ForwardDynamics(robot: "brick", in: {{ "state": "body.state", "tau": "free.y" }}),
                "body": FloatingBase(robot: "brick", init: (angular_velocity: [0, 0, "3 rad/s"]),
                                     in: {{ "nu_dot": "accel.nu_dot" }}),
            }}, log: ["body.state"])"#
        )));
        while simulation.cursor() != Cursor::Done {
            simulation.step().unwrap();
            let q = &simulation.state()[3..7];
            let norm = q.iter().map(|c| c * c).sum::<f64>().sqrt();
            assert!((norm - 1.0).abs() < 4e-16, "{solver}: |q| = {norm}");
        }
        let q = &simulation.state()[3..7];
        let expected = [f64::cos(3.0), 0.0, 0.0, f64::sin(3.0)];
        for (a, b) in q.iter().zip(expected) {
            assert!((a - b).abs() < 1e-6, "{solver}: {q:?}");
        }
    }
}
