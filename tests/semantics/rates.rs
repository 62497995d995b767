//! Semantics 2: what is found out before t = 0.

use legwork_program::Rate;

use super::harness::{mistakes, program};

fn rate_of(text: &str, path: &str) -> Rate {
    let program = program(text);
    let node = program.nodes.iter().find(|node| node.path == path);
    node.unwrap_or_else(|| panic!("no block {path}")).rate
}

/// Semantics 2.1: the result is printable and hashable: one parameter makes another hash.
#[test]
fn s2_1_a_program_is_printable_and_hashable() {
    let text = |gain: &str| {
        format!(
            r#"Diagram(run: (stop: "1 s"), blocks: {{
                "c": Clock(), "g": Gain(gain: {gain}, in: {{ "u": "c.y" }}) }})"#
        )
    };
    let (a, again, b) = (program(&text("2.0")), program(&text("2.0")), program(&text("3.0")));
    assert_eq!(a.hash(), again.hash());
    assert_ne!(a.hash(), b.hash());
    assert!(
        a.expanded().contains("u <- c.y") && a.expanded().contains("order:"),
        "{}",
        a.expanded()
    );
}

/// Semantics 2.3: const, continuous, stated and inherited rates.
#[test]
fn s2_3_rates_go_forward_from_sources_and_stated_periods() {
    let text = r#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: {
        "k": Constant(value: 1.0),
        "gk": Gain(gain: 2.0, in: { "u": "k.y" }),
        "c": Clock(),
        "gc": Gain(gain: 2.0, in: { "u": "c.y" }),
        "z": ZeroOrderHold(every: "10 ms", in: { "u": "c.y" }),
        "gz": Gain(gain: 2.0, in: { "u": "z.y" }),
        "mixed": Sum(signs: "++", in: { "u1": "gz.y", "u2": "gk.y" }),
        "i": Integrator(initial: 0.0, in: { "u": "z.y" }),
        "delay": UnitDelay(initial: 0.0, in: { "u": "gz.y" }),
    })"#;
    let ten = Rate::Periodic { period: 10, offset: 0 };
    for (path, rate) in [
        ("k", Rate::Constant),
        ("gk", Rate::Constant),
        ("c", Rate::Continuous),
        ("gc", Rate::Continuous),
        ("gz", ten),
        ("mixed", ten),
        ("i", Rate::Continuous),
        ("delay", ten),
    ] {
        assert_eq!(rate_of(text, path), rate, "{path}");
    }
}

/// Semantics 2.3: discrete state without a period is an error that asks for `every:`.
#[test]
fn s2_3_discrete_state_without_a_period_is_refused() {
    let found = mistakes(
        r#"Diagram(run: (stop: "1 s"), blocks: {
            "c": Clock(), "d": UnitDelay(initial: 0.0, in: { "u": "c.y" }) })"#,
    );
    assert_eq!(found[0].0, "unknown-rate");
    assert!(found[0].1.contains("every:"), "{found:?}");
}

/// Semantics 2.3: several rates at one block, or none on a cycle, are errors that ask for `every:`.
#[test]
fn s2_3_several_rates_or_none_are_refused() {
    let several = mistakes(
        r#"Diagram(run: (stop: "1 s"), blocks: {
            "c": Clock(),
            "a": ZeroOrderHold(every: "10 ms", in: { "u": "c.y" }),
            "b": ZeroOrderHold(every: "20 ms", in: { "u": "c.y" }),
            "s": Sum(signs: "++", in: { "u1": "a.y", "u2": "b.y" }) })"#,
    );
    assert_eq!(several[0].0, "rate-conflict");
    assert!(several[0].1.contains("10 ms, 20 ms"), "{several:?}");
    let none = mistakes(
        r#"Diagram(run: (stop: "1 s"), blocks: {
            "a": UnitDelay(initial: 0.0, in: { "u": "b.y" }),
            "b": UnitDelay(initial: 0.0, in: { "u": "a.y" }) })"#,
    );
    assert_eq!(none[0].0, "unknown-rate");
    assert!(none[0].1.contains("a, b"), "{none:?}");
}

/// Semantics 2.3: in a fixed-step run periods and offsets are whole multiples of the step.
#[test]
fn s2_3_periods_are_multiples_of_the_step_and_the_nearest_are_named() {
    let found = mistakes(
        r#"Diagram(run: (stop: "1 s", step: "2 ms"), blocks: {
            "c": Clock(), "z": ZeroOrderHold(every: "5 ms", in: { "u": "c.y" }) })"#,
    );
    assert_eq!(found[0].0, "rate-conflict");
    assert!(found[0].1.contains("4 ms or 6 ms"), "{found:?}");
}

/// Semantics 2.4: crossings are free where one period divides the other and offsets agree.
#[test]
fn s2_4_crossings_between_rates_that_divide_are_free() {
    program(
        r#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: {
            "c": Clock(),
            "fast": ZeroOrderHold(every: "2 ms", in: { "u": "c.y" }),
            "slow": ZeroOrderHold(every: "10 ms", in: { "u": "fast.y" }),
            "again": ZeroOrderHold(every: "2 ms", in: { "u": "slow.y" }),
            "i": Integrator(initial: 0.0, in: { "u": "again.y" }) })"#,
    );
}

/// Semantics 2.4: anything else is refused; the error proposes the nearest rates and a
/// RateTransition.
#[test]
fn s2_4_rates_that_do_not_divide_are_refused_with_proposals() {
    let found = mistakes(
        r#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: {
            "c": Clock(),
            "a": ZeroOrderHold(every: "2 ms", in: { "u": "c.y" }),
            "b": ZeroOrderHold(every: "5 ms", in: { "u": "a.y" }) })"#,
    );
    assert_eq!(found[0].0, "rate-conflict");
    for part in ["4 ms or 6 ms", "RateTransition"] {
        assert!(found[0].1.contains(part), "no `{part}` in {found:?}");
    }
    let offsets = mistakes(
        r#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: {
            "c": Clock(),
            "a": ZeroOrderHold(every: "2 ms", in: { "u": "c.y" }),
            "b": ZeroOrderHold(every: (period: "4 ms", offset: "1 ms"), in: { "u": "a.y" }) })"#,
    );
    assert_eq!(offsets[0].0, "rate-conflict");
}
