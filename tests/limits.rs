//! Short texts that ask for much: each is refused before anything of that size is made, and
//! compiling takes at most 64 times the memory of the text, and 64 MB.

#![allow(clippy::print_stdout, reason = "the peaks are worth reading")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use allocation_counter::measure;
use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Options, compile};

/// Bytes that compiling may take beside those of the text.
const PEAK: u64 = 64_000_000;
/// Bytes that it may take for each of the text.
const PEAK_PER_BYTE: u64 = 64;

/// Signals for the blocks below to read.
const SIGNALS: &str = "\"one\": Constant(value: 1), \"wide\": Constant(value: \"=zeros(100000)\"),";

/// A diagram of these sections.
struct Text {
    run: &'static str,
    params: String,
    robots: String,
    blocks: String,
    checks: String,
}

impl Text {
    fn of_blocks(blocks: &str) -> Self {
        Self {
            run: "stop: \"1 s\", step: \"1 ms\"",
            params: String::new(),
            robots: String::new(),
            blocks: format!("{SIGNALS} {blocks}"),
            checks: String::new(),
        }
    }

    fn under(self, run: &'static str) -> Self {
        Self { run, ..self }
    }

    fn written(&self) -> String {
        let Self { run, params, robots, blocks, checks } = self;
        format!(
            "Diagram(format: 2, run: ({run}), params: {{ {params} }}, robots: {{ {robots} }}, \
             blocks: {{ {blocks} }}, checks: {{ {checks} }})"
        )
    }
}

/// Compiles and holds the peak against the text; gives what was found.
fn found(name: &str, text: &str, more: u64) -> String {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = folder().join("bomb.ron");
    let mut shown = String::new();
    let info = measure(|| {
        let compiled = compile(&path, text.as_bytes(), &Options::default(), &registry, &Disk);
        for diagnostic in compiled.diagnostics.iter().take(8) {
            let _ = writeln!(shown, "{}: {}", diagnostic.code, diagnostic.message);
        }
    });
    let allowed = PEAK + PEAK_PER_BYTE * (text.len() as u64 + more);
    println!("{name}: {} of {} MB", info.bytes_max / 1_000_000, allowed / 1_000_000);
    assert!(info.bytes_max <= allowed, "{name}: {} bytes of {allowed}", info.bytes_max);
    shown
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits")
}

#[track_caller]
fn refused(name: &str, text: &Text, code: &str, says: &str) {
    let shown = found(name, &text.written(), 0);
    let first = shown.lines().next().unwrap_or_default();
    assert!(first.starts_with(code) && first.contains(says), "{name}: {shown}");
}

#[test]
fn a_delay_of_a_wide_vector_is_refused() {
    for (name, block, says) in [
        ("delay", "Delay(every: \"1 ms\", length: 1000000", "3201 GB"),
        ("transport", "TransportDelay(delay: \"999 s\"", "3197 GB"),
        (
            "filter",
            "DiscreteFilter(every: \"1 ms\", numerator: \"=ones(100000)\", denominator: [1]",
            "321 GB",
        ),
    ] {
        let text = Text::of_blocks(&format!("\"d\": {block}, in: {{ \"u\": \"wide.y\" }})"));
        refused(name, &text, "too-large", says);
    }
}

#[test]
fn a_budget_may_be_stated() {
    let delay = "\"d\": Delay(every: \"1 ms\", length: 500, in: { \"u\": \"wide.y\" })";
    let small = "stop: \"1 s\", step: \"1 ms\", memory: \"100 MB\"";
    refused("small", &Text::of_blocks(delay).under(small), "too-large", "more than its 100 MB");
    assert_eq!(found("default", &Text::of_blocks(delay).written(), 0), "");
    let wrong = "stop: \"1 s\", step: \"1 ms\", memory: \"100\"";
    refused("no unit", &Text::of_blocks(delay).under(wrong), "wrong-type", "500 MB");
}

#[test]
fn dense_jacobians_of_many_states_are_refused() {
    let many = "\"i\": Integrator(initial: \"=zeros(100000)\", in: { \"u\": \"wide.y\" })";
    for (run, says) in [
        ("stop: \"1 s\", step: \"1 ms\", solver: ImplicitEuler", "Jacobian of ImplicitEuler"),
        ("stop: \"1 s\", step: \"1 ms\", solver: Esdirk", "Jacobian of Esdirk"),
        ("stop: \"1 s\", step: \"1 ms\", solver: Bdf", "Jacobian of Bdf"),
    ] {
        refused(run, &Text::of_blocks(many).under(run), "too-large", says);
    }
    let explicit = "stop: \"1 s\", step: \"1 ms\", solver: Rk4";
    assert_eq!(found("explicit", &Text::of_blocks(many).under(explicit).written(), 0), "");
    let filter = "\"f\": TransferFunction(of: Vector, numerator: [1], \
                  denominator: \"=ones(100000)\", in: { \"u\": \"wide.y\" })";
    refused("states", &Text::of_blocks(filter), "too-large", "states of `f`");
}

#[test]
fn counts_of_inputs_are_bounded() {
    for block in [
        "Concat(count: 1000000000000)".to_owned(),
        "MinMax(function: Max, count: 1000000000)".to_owned(),
        "Logic(op: And, count: 1000000000)".to_owned(),
        format!("Sum(signs: \"{}\")", "+".repeat(100_000)),
        format!("Product(ops: \"{}\")", "*".repeat(100_000)),
    ] {
        let name: String = block.chars().take(12).collect();
        let text = Text::of_blocks(&format!("\"b\": {block}"));
        refused(&name, &text, "invalid-parameter", "expected at most 4096 inputs");
    }
    let long = "\"f\": Fcn(lengths: { \"u\": 1000000000 }, expression: \"u[0]\", in: { \"u\": \"wide.y\" })";
    refused("Fcn", &Text::of_blocks(long), "invalid-parameter", "1000000000 elements");
    let range = "\"f\": Fcn(expression: \"sum(u[0..1000000000])\", in: { \"u\": \"wide.y\" })";
    refused("range", &Text::of_blocks(range), "invalid-parameter", "1000000000 elements");
    let sides = "\"g\": GaussContact(mu: 0.5, cone: Pyramid(sides: 9000000000000000))";
    refused("sides", &Text::of_blocks(sides), "invalid-parameter", "at most 100,");
    let roots = "\"z\": ZeroPole(zeros: [], poles: \"=-1*ones(100000)\", gain: 1, in: { \"u\": \"one.y\" })";
    refused("roots", &Text::of_blocks(roots), "invalid-parameter", "at most 1000 roots");
}

#[test]
fn lists_that_double_are_refused() {
    let doubled = |operation: &str| {
        let mut params = "\"p0\": [1, 1]".to_owned();
        for i in 1..60 {
            let last = format!("p{}", i - 1);
            let _ = write!(params, ", \"p{i}\": \"={}\"", operation.replace('x', &last));
        }
        Text { params, ..Text::of_blocks("") }
    };
    for operation in ["[x, x]", "concat(x, x)", "repeat(x, 2)", "[x + 1, x * 2]"] {
        refused(operation, &doubled(operation), "expression-size", "values");
    }
    refused(
        "one",
        &Text::of_blocks("\"c\": Constant(value: \"=zeros(1000000)\")"),
        "expression-size",
        "a list of 1000000",
    );
    let many = (0..60).fold(String::new(), |mut blocks, i| {
        let _ = write!(blocks, "\"c{i}\": Constant(value: \"=zeros(200000)\"), ");
        blocks
    });
    refused("many", &Text::of_blocks(&many), "expression-size", "values");
}

#[test]
fn code_of_many_signals_is_refused() {
    let broad = "\"f\": Fcn(lengths: { \"u\": 30000 }, expression: \"norm(u) * ones(10000)\", \
                 in: { \"u\": \"wide.y\" })";
    refused("broadcast", &Text::of_blocks(broad), "invalid-parameter", "");
    let checks = (0..200).fold(String::new(), |mut checks, i| {
        let _ = write!(checks, "\"c{i}\": Always(that: \"=norm(wide.y) < 1\"), ");
        checks
    });
    refused("checks", &Text { checks, ..Text::of_blocks("") }, "expression-size", "operations");
}

#[test]
fn unfolding_is_bounded() {
    let nested = "\"e\": ForEach(over: { \"i\": \"=linspace(0, 999, 1000)\" }, body: { \"e\": \
                  ForEach(over: { \"j\": \"=linspace(0, 999, 1000)\" }, body: { \"g\": \
                  Constant(value: 1) }) })";
    refused("for-each", &Text::of_blocks(nested), "too-large", "20000 blocks");
    let folder = folder();
    std::fs::create_dir_all(&folder).expect("a folder");
    for i in 0..20 {
        let inner = format!("Mask(file: \"m{}.mask\")", i + 1);
        let text = format!(
            "Mask(format: 2, ports: (in: {{}}, out: {{}}), blocks: {{ \"a\": {inner}, \"b\": \
             {inner} }}, out: {{}})"
        );
        std::fs::write(folder.join(format!("m{i}.mask")), text).expect("a mask");
    }
    let leaf =
        "Mask(format: 2, ports: (in: {}, out: {}), blocks: { \"k\": Constant(value: 1) }, out: {})";
    std::fs::write(folder.join("m20.mask"), leaf).expect("a mask");
    refused(
        "masks",
        &Text::of_blocks("\"m\": Mask(file: \"m0.mask\")"),
        "too-large",
        "20000 blocks",
    );
}

#[test]
fn chains_of_links_and_of_parameters_are_bounded() {
    let links = 100_000;
    let more = serial(links);
    let robots = "\"r\": Urdf(path: \"serial100000.urdf\")".to_owned();
    let text = Text { robots, ..Text::of_blocks("") }.written();
    let shown = found("links", &text, more);
    assert!(shown.starts_with("invalid-robot") && shown.contains("4096"), "{shown}");

    let params = (0..3000).fold("\"p3000\": 1".to_owned(), |mut params, i| {
        let _ = write!(params, ", \"p{i}\": \"=p{} + 1\"", i + 1);
        params
    });
    refused("parameters", &Text { params, ..Text::of_blocks("") }, "nesting", "100 parameters");
}

/// Snapshots to go back to take no more than 500 MB, however large the states are.
#[test]
fn the_way_back_is_bounded() {
    let delay = "\"d\": Delay(every: \"1 ms\", length: 25, in: { \"u\": \"wide.y\" })";
    let text = Text::of_blocks(delay).written();
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let compiled =
        compile(Path::new("wide.ron"), text.as_bytes(), &Options::default(), &registry, &Disk);
    let program = std::sync::Arc::new(compiled.program.expect("a program"));
    assert!(program.memory > 20_000_000 && program.memory < 40_000_000, "{}", program.memory);
    let simulation = legwork_runtime::Simulation::new(program);
    let mut history = legwork_runtime::History::new(simulation).expect("a history");
    let info = measure(|| (0..60).for_each(|_| history.finish_step().expect("a step")));
    println!("the way back: {} MB", info.bytes_max / 1_000_000);
    assert!(info.bytes_max < 550_000_000, "{} bytes", info.bytes_max);
    assert_eq!(history.back_steps(60).expect("back"), 60);
    assert_eq!(history.simulation().time(), 0.0);
}

/// A formula over the elements of a vector is one program, whatever the length; what is no such is
/// counted.
#[test]
fn formulas_over_vectors_are_bounded() {
    let blocks = |count: usize, expression: &str| {
        let long = "\"long\": Constant(value: \"=ones(50000)\"),".to_owned();
        (0..count).fold(long, |mut blocks, i| {
            let _ = write!(
                blocks,
                "\"f{i}\": Fcn(lengths: {{ \"u\": 50000 }}, expression: \"{expression}\", \
                 in: {{ \"u\": \"long.y\" }}),"
            );
            blocks
        })
    };
    let many = Text::of_blocks(&blocks(12, "u*2+u*3")).written();
    assert_eq!(found("one program", &many, 0), "");
    for (name, count, expression, says) in [
        ("elements", 40, "u*2+u*3", "more than the diagram may have"),
        ("programs", 16, "concat(u[0..10], u[10..])", "more values than it may have"),
        ("constants", 16, "u + ones(50000)", "more values than it may have"),
        ("grown", 1, "concat(u, u) + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1", "operations"),
    ] {
        let text = Text::of_blocks(&blocks(count, expression));
        refused(name, &text, "invalid-parameter", says);
    }
}

#[test]
fn dense_jacobians_of_loops_are_refused() {
    let solve = "\"s\": Solve(initial: \"=zeros(100000)\", in: { \"u\": \"g.y\" }), \
                 \"h\": Gain(gain: 0.5, in: { \"u\": \"s.y\" }), \
                 \"g\": Sum(every: \"1 ms\", signs: \"++\", \
                 in: { \"u1\": \"h.y\", \"u2\": \"wide.y\" })";
    refused("solve", &Text::of_blocks(solve), "too-large", "loop of `s` over 100000 unknowns");
}

/// What is computed of a run is held against its budget too, with the block that has most states.
#[test]
fn dense_matrices_of_all_states_are_refused() {
    let text = "Diagram(format: 2, run: (stop: \"3 ms\", step: \"1 ms\", memory: \"10 MB\"), \
                blocks: { \"w\": Constant(value: \"=ones(2000)\"), \
                \"i\": Integrator(initial: \"=zeros(2000)\", in: { \"u\": \"w.y\" }) })";
    use legwork_runtime::trim::{TrimOptions, trim};
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = Path::new("dense.ron");
    let compiled = compile(path, text.as_bytes(), &Options::default(), &registry, &Disk);
    let program = compiled.program.expect("a program");
    let options = legwork_runtime::linear::LinearOptions::default();
    let fault = legwork_runtime::linear::linearize(&program, &options).expect_err("too large");
    assert!(fault.block == "i" && fault.fault.message.contains("2000 rows"), "{fault}");
    let options = TrimOptions { settle: 0.0, tolerance: 1e-6, free: Vec::new() };
    let error = trim(&program, &options).expect_err("too large");
    assert!(error.to_string().contains("2000 rows and 2000 columns"), "{error}");
}

/// Slopes of signals on their way to a linearisation are held against the budget, with the block
/// that it does not reach: each of these products depends on every state.
#[test]
fn slopes_of_wide_signals_are_refused() {
    let product = |k: usize| {
        format!(
            "\"p{k}\": Product(numbers: [\"u2\"], in: {{ \"u1\": \"i.y\", \"u2\": \"d.y\" }}), "
        )
    };
    let products: String = (0..20).map(product).collect();
    let text = format!(
        "Diagram(format: 2, run: (stop: \"3 ms\", step: \"1 ms\", memory: \"10 MB\"), \
         blocks: {{ {products} \"w\": Constant(value: \"=ones(300)\"), \
         \"d\": Dot(in: {{ \"u1\": \"i.y\", \"u2\": \"w.y\" }}), \
         \"i\": Integrator(initial: \"=ones(300)\", in: {{ \"u\": \"w.y\" }}) }})"
    );
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = Path::new("wide.ron");
    let compiled = compile(path, text.as_bytes(), &Options::default(), &registry, &Disk);
    let program = compiled.program.expect("a program");
    let options = legwork_runtime::linear::LinearOptions::default();
    let fault = legwork_runtime::linear::linearize(&program, &options).expect_err("too large");
    assert!(fault.block.starts_with('p'), "{fault}");
    assert!(fault.fault.message.contains("slopes of signals take more than the 10 MB"), "{fault}");
}

/// A block writes no slopes over numbers that do not move: of a product of matrices of which one
/// number moves, a row of 120, not 2 · 120³ of them.
#[test]
fn slopes_over_numbers_that_stay_take_no_memory() {
    let text = "Diagram(format: 2, run: (stop: \"3 ms\", step: \"1 ms\"), blocks: { \
                \"a\": Constant(value: \"=[[i + j for j in linspace(0, 119, 120)] for i in \
                linspace(0, 119, 120)]\"), \"p\": MatrixMultiply(right: Matrix, in: { \
                \"u1\": \"a.y\", \"u2\": \"a.y\" }) }, log: [\"p.y\"])";
    use legwork_runtime::linear::{InputPlace, LinearOptions, linearize};
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = Path::new("product.ron");
    let compiled = compile(path, text.as_bytes(), &Options::default(), &registry, &Disk);
    let program = compiled.program.expect("a program");
    let slot = |path: &str| {
        program.signals.iter().find(|signal| signal.path == path).expect("a signal").slots[0]
    };
    let inputs = vec![InputPlace { place: slot("a.y").start, adds: false }];
    let outputs = vec![slot("p.y").start];
    let options = LinearOptions { inputs, outputs, ..LinearOptions::default() };
    let mut found = None;
    let info = measure(|| found = Some(linearize(&program, &options)));
    let linear = found.expect("it ran").expect("slopes");
    // The first number of A² is Σ a₀ₖ aₖ₀, and a₀₀ is zero there.
    assert_eq!(linear.d[0], 0.0);
    assert!(info.bytes_max < 30_000_000, "{} bytes", info.bytes_max);
}

/// What compiling makes [bytes], all together: a measure of its work.
fn made(text: &str) -> u64 {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = folder().join("work.ron");
    let compiled = || compile(&path, text.as_bytes(), &Options::default(), &registry, &Disk);
    measure(|| drop(compiled())).bytes_total
}

/// Twice the text is about twice the work, in whatever order and with whatever mistakes.
#[test]
fn work_grows_with_the_text() {
    let repeated = |n: usize, of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<String>();
    let gain = |i: usize, from: String| {
        format!("\"c{i}\": Gain(gain: 1, in: {{ \"u\": \"{from}.y\" }}), ")
    };
    let blocks = |blocks: String| Text::of_blocks(&blocks).written();
    let chain = |n: usize, backwards: bool| {
        let at = |k: usize| if backwards { n - k } else { k + 1 };
        let gains = repeated(n, &|k| gain(at(k), format!("c{}", at(k) - 1)));
        blocks(gains + "\"c0\": Constant(value: 1)")
    };
    let params = |n: usize, of: &dyn Fn(usize) -> String| {
        Text { params: repeated(n, of), ..Text::of_blocks("") }.written()
    };
    type Case<'a> = (&'a str, usize, &'a dyn Fn(usize) -> String);
    let cases: [Case<'_>; 8] = [
        ("a chain", 1000, &|n| chain(n, false)),
        ("a chain backwards", 1000, &|n| chain(n, true)),
        ("a loop", 500, &|n| blocks(repeated(n, &|i| gain(i, format!("c{}", (i + 1) % n))))),
        ("wrong blocks", 500, &|n| blocks(repeated(n, &|i| gain(i, format!("d{i}"))))),
        ("wrong kinds", 500, &|n| blocks(repeated(n, &|i| format!("\"c{i}\": Gian(gain: 1), ")))),
        ("wrong parameters", 500, &|n| params(n, &|i| format!("\"p{i}\": \"=q{i} + 1\", "))),
        ("sums", 200, &|n| params(n, &|i| format!("\"p{i}\": \"=sum(zeros(99999))\", "))),
        ("a long kind", 20_000, &|n| blocks(format!("\"c\": {}(gain: 1)", "G".repeat(n)))),
    ];
    for (name, n, text) in cases {
        let (one, two) = (made(&text(n)), made(&text(2 * n)));
        println!("{name}: {} and {} kB", one / 1000, two / 1000);
        assert!(two <= 2 * one + one / 2, "{name}: {one} and {two} bytes");
    }
}

#[test]
fn mistakes_beyond_those_that_anybody_reads_are_counted_as_one() {
    let blocks = (0..1000).fold(String::new(), |mut blocks, i| {
        let _ = write!(blocks, "\"c{i}\": Gian(gain: 1), ");
        blocks
    });
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let text = Text::of_blocks(&blocks).written();
    let path = Path::new("many.ron");
    let compiled = compile(path, text.as_bytes(), &Options::default(), &registry, &Disk);
    let last = compiled.diagnostics.iter().last().expect("mistakes");
    assert_eq!((compiled.diagnostics.len(), last.code.name()), (201, "too-many"));
}

/// A serial robot of so many links as a file; its length.
fn serial(links: usize) -> u64 {
    let inertial = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" \
                    ixz=\"0\" iyz=\"0\"/></inertial>";
    let mut urdf = format!("<robot name=\"r\"><link name=\"l0\">{inertial}</link>");
    for i in 1..links {
        let _ = write!(
            urdf,
            "<link name=\"l{i}\">{inertial}</link><joint name=\"j{i}\" type=\"continuous\"><parent \
             link=\"l{}\"/><child link=\"l{i}\"/></joint>",
            i - 1
        );
    }
    urdf.push_str("</robot>");
    std::fs::create_dir_all(folder()).expect("a folder");
    std::fs::write(folder().join(format!("serial{links}.urdf")), &urdf).expect("a robot");
    urdf.len() as u64
}

/// The sparsity of a chain's mass matrix has a number for every pair of its joints.
#[test]
fn deep_robots_are_bounded() {
    let robots = |links: usize, count: usize| {
        let robots: Vec<String> =
            (0..count).map(|i| format!("\"r{i}\": Urdf(path: \"serial{links}.urdf\")")).collect();
        Text { robots: robots.join(", "), ..Text::of_blocks("") }.written()
    };
    let more = serial(1000);
    let unused = "unused: nothing reads the robot `r0`\n";
    assert_eq!(found("a chain", &robots(1000, 1), more), unused);
    let shown = found("chains", &robots(1000, 8), 8 * more);
    assert!(shown.starts_with("too-large") && shown.contains("all robots"), "{shown}");
    let more = serial(4000);
    let shown = found("a long chain", &robots(4000, 1), more);
    assert!(shown.starts_with("invalid-robot") && shown.contains("2047"), "{shown}");
}

/// Solvers say what they keep for problems of their size.
#[test]
fn solvers_of_many_contacts_are_refused() {
    let blocks = "\"p\": ContactPatch(robot: \"r\", frame: \"body\", shape: Grid(size: [1, 1], \
                  cells: [30, 30]), at: [0, 0, -0.5], in: { \"state\": \"b.state\" }), \
                  \"dyn\": RobotDynamics(robot: \"r\", in: { \"state\": \"b.state\" }), \
                  \"none\": Constant(value: \"=zeros(r.n)\"), \
                  \"problem\": GaussContact(mu: 0.5, in: { \"dynamics\": \"dyn.bus\", \
                  \"points\": \"p.contacts\", \"tau\": \"none.y\" }), \
                  \"contact\": PrincipalPivoting(in: { \"problem\": \"problem.problem\" }), \
                  \"accel\": ConstrainedAcceleration(loops: false, \
                  in: { \"dynamics\": \"dyn.bus\", \"points\": \"p.contacts\", \"tau\": \"none.y\", \"f\": \"contact.f\" }), \
                  \"b\": FloatingBase(robot: \"r\", init: (position: [0, 0, 0.5]), \
                  in: { \"nu_dot\": \"accel.nu_dot\" })";
    let robots = "\"r\": FreeBody(mass: 1, shape: Box(size: [1, 1, 1]))".to_owned();
    let small = "stop: \"1 s\", step: \"1 ms\", memory: \"1 GB\"";
    let text = Text { robots, ..Text::of_blocks(blocks) }.under(small);
    refused("pivoting", &text, "too-large", "`contact` (PrincipalPivoting) ");
}
