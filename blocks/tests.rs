//! What holds for every block of the library.

use legwork_block::{Diagnostics, FileId, Ports, Registry, Type};
use legwork_diagram::document::parse;

use crate::register;
use crate::testing::Bench;
use crate::testing::robots::{Diagrams, World, go};

fn registry() -> Registry {
    let mut registry = Registry::default();
    register(&mut registry);
    registry
}

#[test]
fn every_example_binds_and_plans() {
    let go = go();
    let world = World::new(&go);
    for kind in registry().blocks() {
        let node = parse(FileId(0), kind.example.as_bytes())
            .unwrap_or_else(|error| panic!("{}: {}", kind.kind, error.message));
        assert_eq!(node.kind_name().map(|name| name.text.as_str()), Some(kind.kind));
        let mut diagnostics = Diagnostics::default();
        let block = (kind.bind)(&node, &(), &[], &mut diagnostics);
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        let block = block.unwrap_or_else(|| panic!("{}: {messages:?}", kind.kind));
        if let Err(invalid) = block.plan(Ports::new(&world, &Diagrams, 0.001)) {
            panic!("{}: {}", kind.kind, invalid.message);
        }
    }
}

/// The attribute `ports` makes both the table and the declaration; blocks without it write ports
/// twice. Rows with a condition are those that the example may lack.
#[test]
fn tables_of_ports_agree_with_what_blocks_declare() {
    let go = go();
    let world = World::new(&go);
    let mut rows = 0;
    for kind in registry().blocks() {
        let node = parse(FileId(0), kind.example.as_bytes()).expect("the example is written well");
        let block = (kind.bind)(&node, &(), &[], &mut Diagnostics::default()).expect("it binds");
        let (declaration, _) =
            block.plan(Ports::new(&world, &Diagrams, 0.001)).expect("the example plans");
        let schema = (kind.schema)();
        let doc = schema.get("description").and_then(|doc| doc.as_str()).expect("a manual");
        let inputs: Vec<&str> = declaration.inputs.iter().map(|port| &*port.name).collect();
        let outputs: Vec<&str> = declaration.outputs.iter().map(|port| &*port.name).collect();
        for (side, declared) in [("| in `", inputs), ("| out `", outputs)] {
            let table: Vec<&str> = doc.lines().filter(|line| line.starts_with(side)).collect();
            if table.is_empty() || table.iter().any(|row| row.contains('…')) {
                continue;
            }
            let named = |row: &str| -> Vec<String> {
                let cell = row[2..].split(" |").next().unwrap_or_default();
                cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
            };
            let all: Vec<String> = table.iter().flat_map(|row| named(row)).collect();
            for port in &declared {
                assert!(all.iter().any(|name| name == port), "{}: no row of `{port}`", kind.kind);
            }
            let always = table.iter().filter(|row| {
                !["optional", "with `", "without `", "with the "]
                    .iter()
                    .any(|if_| row.contains(if_))
            });
            for name in always.flat_map(|row| named(row)) {
                assert!(declared.contains(&name.as_str()), "{}: no port `{name}`", kind.kind);
                rows += 1;
            }
        }
    }
    assert!(rows > 200, "{rows} rows");
}

#[test]
fn every_block_and_every_parameter_is_described() {
    for kind in registry().blocks() {
        let schema = (kind.schema)();
        assert!(schema.get("description").is_some(), "{} has no manual", kind.kind);
        let properties = schema.get("properties").and_then(|p| p.as_object());
        for (name, property) in properties.into_iter().flatten() {
            assert!(property.get("description").is_some(), "{}.{name} has no text", kind.kind);
        }
    }
}

#[test]
fn every_kind_is_on_a_shelf_and_no_shelf_is_empty() {
    let registry = registry();
    let blocks = registry.blocks().map(|entry| (entry.kind, entry.shelf));
    let kinds: Vec<_> =
        blocks.chain(registry.resources().map(|entry| (entry.kind, entry.shelf))).collect();
    let shelves: Vec<&str> = registry.shelves().map(|shelf| shelf.name).collect();
    for (kind, shelf) in &kinds {
        assert!(shelves.contains(shelf) && *shelf != "other", "{kind} is on the shelf {shelf}");
    }
    for shelf in shelves {
        assert!(kinds.iter().any(|(_, on)| *on == shelf), "{shelf} is empty");
    }
}

/// A diagram may name what another build has; it is told how to get it.
#[cfg(not(feature = "osqp"))]
#[test]
fn a_block_that_this_build_lacks_is_named_with_its_remedy() {
    struct NoFiles;
    impl legwork_diagram::ReadFile for NoFiles {
        fn read(&self, _: &std::path::Path) -> std::io::Result<Vec<u8>> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }
    let text =
        br#"Diagram(run: (stop: "1 s", step: "1 ms"), blocks: { "solve": Osqp(tol: 1e-6) })"#;
    let options = legwork_diagram::Options::default();
    let compiled = legwork_diagram::compile(
        std::path::Path::new("d.ron"),
        text,
        &options,
        &registry(),
        &NoFiles,
    );
    let told: Vec<_> = compiled.diagnostics.iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].code.name(), "absent-block-kind");
    assert_eq!(told[0].message, "this build has no block `Osqp`");
    assert!(told[0].hints[0].contains("--features osqp"), "{:?}", told[0].hints);
    let span = told[0].primary.span;
    assert_eq!(&text[span.start as usize..span.end as usize], b"Osqp");
}

/// Blocks that offer their derivative, with the types of their inputs and the interval of their
/// numbers: the derivative is that of central differences at numbers of all kinds.
#[test]
fn derivatives_that_are_offered_are_those_of_differences() {
    let number = || Type::Real;
    let vector = |n: usize| Type::vector(n);
    let near = (-0.9, 0.9);
    let above = (1.2, 3.0);
    let table: Vec<(&str, Vec<Type>, (f64, f64))> = vec![
        ("Gain(gain: -2)", vec![Type::matrix(2, 3)], near),
        ("Gain(gain: [1, 10, 100])", vec![vector(3)], near),
        ("Gain(gain: [[1, 2, 3], [4, 5, 6]])", vec![vector(3)], near),
        ("Sum(signs: \"-+\", numbers: [\"u1\"])", vec![number(), vector(2)], near),
        ("Product(ops: \"**/\")", vec![number(), number(), number()], above),
        ("Product(ops: \"*/\", numbers: [\"u2\"])", vec![vector(3), number()], above),
        ("MatrixMultiply()", vec![Type::matrix(2, 3), vector(3)], near),
        ("MatrixMultiply(transpose: true)", vec![Type::matrix(3, 2), vector(3)], near),
        (
            "MatrixMultiply(right: Matrix, transpose: true)",
            vec![Type::matrix(3, 2), Type::matrix(3, 4)],
            near,
        ),
        ("Dot()", vec![vector(3), vector(3)], near),
        ("Cross()", vec![vector(3), vector(3)], near),
        ("Norm()", vec![vector(3)], near),
        ("Transpose()", vec![Type::matrix(2, 3)], near),
        ("Abs()", vec![vector(5)], near),
        ("Sign()", vec![vector(5)], near),
        ("Saturation(lower: -0.3, upper: 0.5)", vec![vector(7)], near),
        ("DeadZone(lower: -0.3, upper: 0.5)", vec![vector(7)], near),
        ("Select(indices: [2, 0, 2])", vec![vector(3)], near),
        ("Reshape(shape: [2, 2])", vec![vector(4)], near),
        ("Concat(count: 2)", vec![vector(2), vector(3)], near),
        ("BusCreate(fields: [\"a\", \"b\"])", vec![vector(2), number()], near),
        ("Switch()", vec![vector(2), number(), vector(2)], near),
        ("ZeroOrderHold()", vec![vector(2)], near),
        ("Integrator(initial: [1, 2])", vec![vector(2)], near),
        ("SecondOrderIntegrator(position: [1, 2])", vec![vector(2)], near),
        ("Derivative(filter: \"20 rad/s\", initial: [0, 0])", vec![vector(2)], near),
        (
            "StateSpace(a: [[0, 1], [-4, -1]], b: [[0, 1], [1, 2]], c: [[1, 3], [2, 5], [0, 1]], \
             d: [[1, 0], [0, 2], [3, 4]])",
            vec![vector(2)],
            near,
        ),
        (
            "TransferFunction(numerator: [2, 1, 3], denominator: [2, 4, 5], of: Vector)",
            vec![vector(2)],
            near,
        ),
        ("TransferFunction(numerator: [3], denominator: [1, 4, 5, 6])", vec![number()], near),
        ("ZeroPole(zeros: [-1], poles: [-2, -3], gain: 5)", vec![number()], near),
        ("Pid(kp: 3, ki: 2, kd: 0.5, lower: -1, upper: 2)", vec![number(), number()], near),
        (
            "Pid(kp: [1, 2, 3], ki: 2, kd: 0.1, lower: -1, upper: 1, \
             anti_windup: BackCalculation(gain: \"5 Hz\"))",
            vec![vector(3), vector(3)],
            near,
        ),
        ("Actuator(torque_limit: \"0.5 N*m\")", vec![vector(7)], near),
        ("Actuator(torque_limit: \"0.5 N*m\", bandwidth: \"2 Hz\")", vec![vector(7)], near),
        ("Fcn(expression: \"sin(u1)*u2^2 + exp(-u1*u2)/u2\")", vec![number(), number()], above),
        (
            "Fcn(expression: \"norm(u) + (if u[0] > 0.1 then u[1]^3 else atan2(u[1], u[2]))\", \
             lengths: {\"u\": 3})",
            vec![vector(3)],
            near,
        ),
        (
            "Fcn(expression: \"[max(u1, 0.2), min(u1, u2), abs(u2), tanh(u1 - 1), mod(u2, 0.4)]\")",
            vec![number(), number()],
            near,
        ),
    ];
    let all = table.into_iter();
    let functions = |block: &str, names: &[&str], count, interval| {
        let row = |name: &&str| {
            let text = format!("{block}(function: {name})");
            (text, vec![vector(3); count], interval)
        };
        names.iter().map(row).collect::<Vec<_>>()
    };
    let all = all
        .map(|(text, types, interval)| (text.to_owned(), types, interval))
        .chain(functions(
            "Trigonometry",
            &[
                "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh",
                "Atanh",
            ],
            1,
            near,
        ))
        .chain(functions("Trigonometry", &["Acosh"], 1, above))
        .chain(functions("Trigonometry", &["Atan2"], 2, near))
        .chain(functions(
            "MathFunction",
            &["Exp", "Log", "Log10", "Sqrt", "Square", "Reciprocal"],
            1,
            above,
        ))
        .chain(functions("MathFunction", &["Pow", "Mod", "Rem", "Hypot"], 2, above));
    for (text, types, interval) in all {
        let mut bench = Bench::of_text(&text, &types);
        for seed in 0..5 {
            bench.spread(seed, interval);
            let error = bench.slope_error(0.3).unwrap_or_else(|| panic!("{text} offers none"));
            assert!(error < 1e-6, "{text}: {error:e} apart");
        }
    }
}

/// At an edge a block offers no derivative: differences tell its two slopes.
#[test]
fn no_derivative_is_offered_at_an_edge() {
    for text in [
        "Abs()",
        "Sign()",
        "Saturation(lower: 0, upper: 1)",
        "DeadZone(lower: -1, upper: 0)",
        "Norm()",
        "Fcn(expression: \"abs(u)\")",
        "Fcn(expression: \"max(u, 0)\")",
        "Fcn(expression: \"if u > 0 then u else 0\")",
        "Fcn(expression: \"sign(u)\")",
        "Pid(kp: 1, lower: 0)",
    ] {
        let types = match text {
            "Norm()" => vec![Type::vector(1)],
            text if text.starts_with("Pid") => vec![Type::Real, Type::Real],
            _ => vec![Type::Real],
        };
        let mut bench = Bench::of_text(text, &types);
        assert_eq!(bench.slope_error(0.0), None, "{text}");
    }
}
