//! Semantics 6.2: functions that blocks need and call inside their own phases.
//!
//! One file, because all tests share the blocks at its beginning, which call in each phase.

use std::sync::Arc;

use legwork_block::{
    Argument, Block, ContinuousState, DerivativeCx, Function, In, Invalid, Manifold, NO_FEEDS, Out,
    Outcome, OutputCx, Ports, RateRule, Real, Registry, Report, ResultOf, Sizes, UpdateCx,
};
use legwork_blocks::buses::ContactProblemBus;
use legwork_qp::Method;
use legwork_runtime::{Cursor, Simulation};
use schemars::JsonSchema;
use serde::Deserialize;

use super::harness::{mistakes, numbers, program, record, run};

/// Registers this file's blocks, as a third party would.
pub(crate) fn register(registry: &mut Registry) {
    registry.block::<Push>("Push()");
    registry.block::<Remember>("Remember()");
    registry.block::<Twice>("Twice()");
    registry.block::<InUpdate>("InUpdate()");
    registry.block::<InDerivative>("InDerivative()");
}

/// `y = u + 10 m`; the update remembers the last u of the step as m. A solver with a warm start
/// that shows.
#[derive(Deserialize, JsonSchema)]
struct Remember {}

impl Block for Remember {
    const KIND: &'static str = "Remember";
    type Plan = (In<Real>, Out<Real>);
    type State = f64;
    type Memo = Option<f64>;
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.updates();
        Ok((ports.input("u", &Real), ports.output("y", &Real)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> f64 {
        0.0
    }
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(u);
        cx.outputs.set(y, u + 10.0 * *cx.state);
        if !cx.time.minor {
            *cx.memo = Some(u);
        }
        Ok(())
    }
    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(u) = *cx.memo {
            *cx.state = u;
        }
        Ok(())
    }
    fn report(&self, _: &Self::Plan, state: &f64, report: &mut Report) {
        report.solver_calls += 1;
        report.metric("remembered", *state);
    }
}

/// A function of one number.
#[derive(Clone, Copy)]
struct Scalar {
    function: Function,
    u: Argument<Real>,
    y: ResultOf<Real>,
}

impl Scalar {
    fn declare(ports: &mut Ports<'_>, name: &str) -> Self {
        let function = ports.function(name);
        let u = ports.argument(function, "u", &Real);
        Self { function, u, y: ports.result(function, "y", &Real) }
    }
}

/// Calls `f` with u and then with u + 1, and gives both answers.
#[derive(Deserialize, JsonSchema)]
struct Twice {}

impl Block for Twice {
    const KIND: &'static str = "Twice";
    type Plan = (In<Real>, Out<Real>, Out<Real>, Scalar);
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let f = Scalar::declare(ports, "f");
        let u = ports.input("u", &Real);
        Ok((u, ports.output("first", &Real), ports.output("second", &Real), f))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(u, first, second, f): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(u);
        let mut call = cx.functions.of(f.function);
        for (output, u) in [(first, u), (second, u + 1.0)] {
            call.set(f.u, u);
            let y = call.run()?.get(f.y);
            cx.outputs.set(output, y);
        }
        Ok(())
    }
}

/// `y⁺ = f(u)`, called in the update.
#[derive(Deserialize, JsonSchema)]
struct InUpdate {}

impl Block for InUpdate {
    const KIND: &'static str = "InUpdate";
    type Plan = (In<Real>, Out<Real>, Scalar);
    type State = f64;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let u = ports.input("u", &Real);
        ports.group(&NO_FEEDS);
        Ok((u, ports.output("y", &Real), Scalar::declare(ports, "f")))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> f64 {
        0.0
    }
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(_, y, _): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(y, *cx.state);
        Ok(())
    }
    fn update(&self, &(u, _, f): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let mut call = cx.functions.of(f.function);
        call.set(f.u, cx.inputs.get(u));
        *cx.state = call.run()?.get(f.y);
        Ok(())
    }
}

/// `ẋ = f(x)` from x = 1, called in the derivative.
#[derive(Deserialize, JsonSchema)]
struct InDerivative {}

impl Block for InDerivative {
    const KIND: &'static str = "InDerivative";
    type Plan = (Out<Real>, Scalar);
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.continuous_state(ContinuousState::First(vec![Manifold::Euclidean(1.into())]));
        ports.group(&NO_FEEDS);
        Ok((ports.output("x", &Real), Scalar::declare(ports, "f")))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn initial(&self, _: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x[0] = 1.0;
    }
    fn output(&self, &(x, _): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(x, cx.x[0]);
        Ok(())
    }
    fn derivative(&self, &(_, f): &Self::Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        let mut call = cx.functions.of(f.function);
        call.set(f.u, cx.x[0]);
        cx.rate[0] = call.run()?.get(f.y);
        Ok(())
    }
}

fn values(text: &str, topic: &str) -> Vec<f64> {
    numbers(&run(text), topic).into_iter().map(|(_, value)| value).collect()
}

/// A ramp 0, 1, 2, … over four steps into the blocks `blocks`.
fn ramp(blocks: &str, log: &str) -> String {
    format!(
        r#"#![enable(implicit_some)]
        Diagram(run: (stop: "3 s", step: "1 s", solver: Rk4), blocks: {{
            "r": Ramp(slope: 1.0), "u": ZeroOrderHold(every: "1 s", in: {{ "u": "r.y" }}), {blocks}
        }}, log: [{log}])"#
    )
}

const TWICE: &str = r#""a": Twice(needs: { "f": Remember() }, in: { "u": "u.y" }),"#;

/// Semantics 6.2: all calls of a step start from what the last step committed; the last of them is
/// committed.
#[test]
fn s6_2_calls_start_from_committed_memory_and_the_last_is_committed() {
    let text = ramp(TWICE, r#""a.first", "a.second""#);
    // m after step k is the argument of its second call, k + 1.
    assert_eq!(values(&text, "a.first"), [0.0, 11.0, 22.0, 33.0]);
    assert_eq!(values(&text, "a.second"), [1.0, 12.0, 23.0, 34.0]);
}

/// Semantics 6.2: one memory per declared call site: two callers of one variant do not share it,
/// and neither do two functions of one caller.
#[test]
fn s6_2_two_call_sites_do_not_share_memory() {
    let text = ramp(
        r#""k": Gain(gain: 2.0, in: { "u": "u.y" }),
        "a": FunctionCaller(prototype: "y = f(u)", needs: { "f": Use("s") }, in: { "u": "u.y" }),
        "b": FunctionCaller(prototype: "y = f(u)", needs: { "f": Use("s") }, in: { "u": "k.y" }),"#,
        r#""a.y", "b.y""#,
    )
    .replace(
        "blocks:",
        r#"variants: { "s": Variant(ports: "fn(u: Real) -> (y: Real)", default: "m",
            choices: { "m": Remember() }) }, blocks:"#,
    );
    assert_eq!(values(&text, "a.y"), [0.0, 1.0, 12.0, 23.0]);
    assert_eq!(values(&text, "b.y"), [0.0, 2.0, 24.0, 46.0]);
}

/// Semantics 6.2: called or on wires, the same solver gives the same bits.
#[test]
fn s6_2_a_called_solver_gives_the_bytes_of_one_on_wires() {
    let text = |blocks: &str| contact(blocks, r#""solve.f", "solve.status""#);
    let wired =
        r#""solve": ProjectedGaussSeidel(sweeps: 3, tol: 0.0, accept: 1, in: { "problem": IN })"#;
    let called = r#""solve": FunctionCaller(prototype: "[f, status] = g(problem)",
        needs: { "g": ProjectedGaussSeidel(sweeps: 3, tol: 0.0, accept: 1) }, in: { "problem": IN })"#;
    let mask = r#""solve": FunctionCaller(prototype: "[f, status] = g(problem)",
        needs: { "g": Function(
            ports: (in: { "problem": "ContactProblem" }, out: { "f": "Vector", "status": "Int" }),
            blocks: { "pgs": ProjectedGaussSeidel(sweeps: 3, tol: 0.0, accept: 1,
                in: { "problem": "^problem" }) },
            out: { "f": "pgs.f", "status": "pgs.status" },
        ) }, in: { "problem": IN })"#;
    let recordings: Vec<Vec<u8>> =
        [wired, called, mask].iter().map(|blocks| record(&program(&text(blocks)))).collect();
    assert_eq!(recordings[0], recordings[1], "called");
    assert_eq!(recordings[0], recordings[2], "in a function mask");
    // The warm start shapes the result: a cold solver differs.
    let cold = record(&program(&text(&wired.replace("tol: 0.0", "tol: 0.0, cold: true"))));
    assert_ne!(recordings[0], cold);
}

/// A problem of one contact under load, pushed sideways by 2000 t: `a = G f + b`.
#[derive(Deserialize, JsonSchema)]
struct Push {
    /// Whether the friction cone is the circular one.
    #[serde(default)]
    round: bool,
}

impl Block for Push {
    const KIND: &'static str = "Push";
    type Plan = Out<ContactProblemBus>;
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let cone = ContactProblemBus::cone(!self.round);
        Ok(ports.output("problem", &ContactProblemBus::new(&1.into(), &3.into(), cone)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &problem: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (sides, is_inscribed) = if self.round { (0.0, 0.0) } else { (4.0, 1.0) };
        // The pivots 1, and coordinates that have no parents.
        let unit = [1.0, 1.0, 1.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
        // With M = 1, `J Jᵀ = G` by Cholesky's root.
        let root = f64::sqrt(0.5);
        let jacobian = [root, 0.0, 0.1 / root, 0.0, root, 0.0, 0.0, 0.0, f64::sqrt(0.48)];
        for (leaf, values) in [
            (
                ContactProblemBus::INVERSE_INERTIA,
                &[0.5, 0.0, 0.1, 0.0, 0.5, 0.0, 0.1, 0.0, 0.5][..],
            ),
            (ContactProblemBus::BIAS, &[2000.0 * cx.time.t, 0.0, -9.81]),
            (ContactProblemBus::FRICTION, &[0.5]),
            (ContactProblemBus::ACTIVE, &[1.0]),
            (ContactProblemBus::FORCE_SCALE, &[20.0]),
            (ContactProblemBus::SIDES, &[sides]),
            (ContactProblemBus::IS_INSCRIBED, &[is_inscribed]),
            (ContactProblemBus::JACOBIAN, &jacobian),
            (ContactProblemBus::FACTOR, &unit),
        ] {
            cx.outputs.leaf(problem, leaf).copy_from_slice(values);
        }
        Ok(())
    }
}

/// The pushed contact into `solver`, whose input is written `IN`.
pub(crate) fn contact(solver: &str, log: &str) -> String {
    format!(
        r#"#![enable(implicit_some)]
        Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {{
        "push": Push(), {} }}, log: [{log}])"#,
        solver.replace("IN", "\"push.problem\"")
    )
}

/// Semantics 6.2, 7.1: the memory of a function is the caller's: a snapshot at any piece, also
/// between an output and its update, continues bit for bit.
#[test]
fn s6_2_a_snapshot_of_the_caller_holds_its_functions() {
    let nested = r#""c": Twice(needs: { "f": Function(
        ports: (in: { "u": "Real" }, out: { "y": "Real" }),
        blocks: { "in": FunctionCaller(prototype: "y = g(u)", needs: { "g": Remember() },
                                       in: { "u": "m.y" }),
                  "m": Remember(in: { "u": "^u" }) },
        out: { "y": "in.y" }) }, in: { "u": "u.y" }),"#;
    let text = ramp(&format!("{TWICE} {nested}"), r#""a.first", "c.second""#);
    let program = program(&text.replace("3 s", "8 s"));
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits());
    let mut seen_update = false;
    for pieces in 0..60 {
        let mut original = Simulation::new(Arc::clone(&program));
        (0..pieces).for_each(|_| original.advance().unwrap());
        seen_update |= matches!(original.cursor(), Cursor::Update(_)) && pieces > 20;
        let snapshot = original.snapshot();
        let mut other = Simulation::new(Arc::clone(&program));
        (0..pieces / 2).for_each(|_| other.advance().unwrap());
        other.restore(&snapshot).unwrap();
        while original.cursor() != Cursor::Done {
            original.advance().unwrap();
            other.advance().unwrap();
            assert!(same(original.arena(), other.arena()), "after {pieces} pieces");
        }
    }
    assert!(seen_update, "a snapshot between outputs and updates");
}

/// Semantics 6.2: a call in the update is committed by the same update phase.
#[test]
fn s6_2_a_call_in_the_update_is_committed_with_it() {
    let block = r#""a": InUpdate(needs: { "f": Remember() }, in: { "u": "u.y" }),"#;
    // y after step k is k + 10 (k - 1).
    assert_eq!(values(&ramp(block, r#""a.y""#), "a.y"), [0.0, 0.0, 1.0, 12.0]);
}

/// Semantics 6.2, 6.3: calls while time goes on read committed memory and leave none: x stays the
/// solution of ẋ = x of the classical Runge-Kutta method.
#[test]
fn s6_2_calls_in_derivatives_and_minor_steps_commit_nothing() {
    let blocks = r#""a": InDerivative(needs: { "f": Remember() }),
        "b": Twice(needs: { "f": Remember() }, in: { "u": "i.y" }),
        "i": Integrator(initial: 1.0, in: { "u": "one.y" }), "one": Constant(value: 1.0),"#;
    let text = ramp(blocks, r#""a.x", "b.first""#);
    let growth: f64 = 1.0 + 1.0 + 0.5 + 1.0 / 6.0 + 1.0 / 24.0;
    for (k, x) in values(&text, "a.x").into_iter().enumerate() {
        let expected = growth.powi(k as i32);
        assert!((x - expected).abs() < 1e-12 * expected, "step {k}: {x}, not {expected}");
    }
    // i is 1, 2, 3, 4 at the major steps, whose second calls alone are remembered: 2, 3, 4.
    assert_eq!(values(&text, "b.first"), [1.0, 22.0, 33.0, 44.0]);
}

/// Semantics 6.2: a function's blocks appear under the caller's path, in the listing and in the
/// reports.
#[test]
fn s6_2_called_blocks_appear_under_the_callers_path() {
    let program = program(&ramp(TWICE, r#""a.first""#));
    for line in
        ["a.f: Remember()  [call, 1]", "a.f(): fn(u: Real) -> (y)  [called by a; 2 numbers]"]
    {
        assert!(program.expanded().contains(line), "no `{line}` in\n{}", program.expanded());
    }
    let mut simulation = Simulation::new(Arc::clone(&program));
    simulation.run().unwrap();
    let reports = simulation.reports();
    let (_, report) = reports.iter().find(|(path, _)| *path == "a.f").unwrap();
    let metric = |name: &str| report.value_of(name).unwrap();
    // The last of four major steps has no update.
    assert_eq!((metric("remembered"), metric("function_calls")), (3.0, 6.0));
    assert!(reports.is_sorted_by_key(|(path, _)| *path));
}

/// Semantics 6.2, 9.3: a fault inside a function stops the run at the caller and names the block
/// inside.
#[test]
fn s6_2_a_fault_inside_names_caller_and_callee() {
    let text = r#"Diagram(run: (stop: "9 ms", step: "1 ms"), blocks: {
        "r": Ramp(slope: -1000.0, initial: 4.5),
        "a": FunctionCaller(prototype: "y = f(u)", needs: { "f": Divide() }, in: { "u": "r.y" }) })"#;
    let fault = Simulation::new(program(text)).run().unwrap_err();
    assert_eq!((fault.block.as_str(), fault.t), ("a", 0.005));
    assert!(fault.fault.message.contains("`a.f`: output `y` became NaN"), "{fault}");
    let stop = contact(
        r#""solve": FunctionCaller(prototype: "f = g(problem)",
            needs: { "g": ProjectedGaussSeidel(sweeps: 1, tol: 1e-14, accept: 1e-14) },
            in: { "problem": IN })"#,
        "",
    );
    let fault = Simulation::new(program(&stop)).run().unwrap_err();
    assert_eq!(fault.block, "solve");
    assert!(
        fault.fault.message.contains("`solve.g`: the contact problem was not solved"),
        "{fault}"
    );
}

/// Semantics 6.2: the caller's rate rules; what is called has none of its own.
#[test]
fn s6_2_a_function_has_no_time_of_its_own() {
    let text = |callee: &str| {
        ramp(&format!(r#""a": Twice(needs: {{ "f": {callee} }}, in: {{ "u": "u.y" }}),"#), "")
    };
    let inside = |block: &str| {
        text(&format!(
            r#"Function(ports: "fn(u: Real) -> (y: Real)", blocks: {{ "b": {block} }}, out: {{ "y": "b.y" }})"#
        ))
    };
    for (callee, part) in [
        (text(r#"UnitDelay(initial: 0.0)"#), "a.f has sampled state, but `a.f` has no time"),
        (text(r#"Gain(gain: 1.0, every: "1 s")"#), "a.f has a period"),
        (inside(r#"Integrator(initial: 0.0, in: { "u": "^u" })"#), "a.f.b has continuous state"),
    ] {
        let found = mistakes(&callee);
        assert!(
            found.iter().any(|(code, text)| *code == "function-time" && text.contains(part)),
            "no `{part}` in {found:?}"
        );
    }
    let found = mistakes(&text("Flip()"));
    assert!(found.iter().any(|(_, text)| text.contains("a.f has guards")), "{found:?}");
}

/// Semantics 6.2: a function that leads back to itself is an error, and so is a loop inside.
#[test]
fn s6_2_recursion_and_loops_are_errors() {
    let recursive = ramp(r#""a": Use(of: "s", in: { "u": "u.y" }),"#, "").replace(
        "blocks:",
        r#"variants: { "s": Variant(ports: "fn(u: Real) -> (first: Real)", default: "m",
            choices: { "m": Twice(needs: { "f": Use("s") }) }) }, blocks:"#,
    );
    let found = mistakes(&recursive);
    assert!(found.iter().any(|(code, _)| *code == "variant-cycle"), "{found:?}");
    let looped = ramp(
        r#""a": Twice(needs: { "f": Function(ports: "fn(u: Real) -> (y: Real)", blocks: {
            "b": Sum(signs: "++", in: { "u1": "^u", "u2": "c.y" }),
            "c": Gain(gain: 0.5, in: { "u": "b.y" }) }, out: { "y": "b.y" }) }, in: { "u": "u.y" }),"#,
        "",
    );
    let found = mistakes(&looped);
    assert_eq!(found[0].0, "algebraic-loop", "{found:?}");
    assert!(found[0].1.contains("a.f.b"), "{found:?}");
}

/// A loaded contact that slides has no normal acceleration under Coulomb's law, with any solver
/// inside; under the convex law it separates.
#[test]
fn s6_2_coulombs_law_is_called_around_any_solver() {
    let normal = |solver: &str| {
        let text = contact(&format!(r#""solve": {solver}"#), r#""solve.f", "solve.iterations""#);
        let recording = run(&text);
        let series = recording.series("solve.f").unwrap();
        let f = series.row(series.len() - 1).values.to_vec();
        // a = G f + b at t = 10 ms.
        (
            0.1 * f[0] + 0.5 * f[2] - 9.81,
            f[2],
            numbers(&recording, "solve.iterations").last().unwrap().1,
        )
    };
    let (separates, _, _) = normal(r#"ActiveSetQp(in: { "problem": IN })"#);
    assert!(separates > 1.0, "{separates}");
    for method in Method::convex().filter(|method| method.choice.is_some()) {
        let settings = method.tightest.iter().map(|(name, value)| format!("{name}: {value}"));
        let solver = format!("{}({})", method.kind, settings.collect::<Vec<_>>().join(", "));
        let (a, f, passes) = normal(&format!(
            r#"CoulombContact(passes: 100, tol: 1e-9, needs: {{ "solve": {solver} }}, in: {{ "problem": IN }})"#
        ));
        assert!(
            a.abs() < 1e-6 && f > 1.0 && passes > 1.0,
            "{solver}: a = {a:.1e}, f = {f}, {passes} passes"
        );
    }
}

/// Semantics 9.2: when the passes are used up, pivoting answers; what that leaves above the
/// tolerance is answered by `on_fail` of the caller.
#[test]
fn s9_2_passes_that_are_used_up_are_answered_by_the_policy() {
    let text = |tolerance: &str, policy: &str| {
        contact(
            &format!(
                r#""solve": CoulombContact(passes: 1, tol: {tolerance}, accept: 0, {policy}
                needs: {{ "solve": ClarabelQp() }}, in: {{ "problem": IN }})"#
            ),
            r#""solve.f""#,
        )
        .replace("Push()", "Push(round: true)")
    };
    // The block keeps its own problem, not the convex ones of its passes.
    let kept = |simulation: &Simulation| {
        let reports = simulation.reports();
        let files = reports.iter().flat_map(|(path, report)| {
            report.files.iter().map(|(_, bytes)| (*path, String::from_utf8(bytes.clone()).unwrap()))
        });
        files.map(|(path, text)| (path.to_owned(), text)).collect::<Vec<_>>()
    };
    let is_own = |kept: &[(String, String)]| match kept {
        [(path, text)] => path == "solve" && text.contains("CoulombContact at t = "),
        _ => false,
    };
    let beyond_rounding = "1e-30";
    let mut stop = Simulation::new(program(&text(beyond_rounding, "")));
    let fault = stop.run().unwrap_err();
    assert!(fault.fault.message.contains("MaxIterations after 1 iterations"), "{fault}");
    assert!(is_own(&kept(&stop)), "{:?}", kept(&stop));
    let policy = "on_fail: Fallback(ClarabelQp()),";
    let mut zero = Simulation::new(program(&text(beyond_rounding, policy)));
    zero.run().unwrap();
    assert!(is_own(&kept(&zero)), "{:?}", kept(&zero));
    let reports = zero.reports();
    let (_, report) = reports.iter().find(|(path, _)| *path == "solve").unwrap();
    assert!(report.solver_failures > 0, "none of {} calls", report.solver_calls);
    for cone in ["round: true", ""] {
        let pivoted = text("1e-9", "").replace("round: true", cone);
        Simulation::new(program(&pivoted)).run().unwrap();
    }
}
