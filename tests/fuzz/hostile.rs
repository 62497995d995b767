//! Diagrams made to break a reader: half a token, deep nests, sizes, names, cycles, bombs.

/// The texts.
pub(crate) fn texts() -> Vec<Vec<u8>> {
    let deep = 10_000;
    let diagram = |run: &str, sections: &str, blocks: &str| {
        format!("Diagram(run: ({run}), {sections} blocks: {{ {blocks} }})").into_bytes()
    };
    let blocks = |blocks: &str| diagram("stop: \"10 ms\", step: \"1 ms\"", "", blocks);
    let value = |value: &str| blocks(&format!("\"c\": Constant(value: {value}),"));
    let mut texts: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\xff\xfe\x00".to_vec(),
        b"Diagram(\xc3\x28)".to_vec(),
        b"\xef\xbb\xbf".to_vec(),
        b"// nothing".to_vec(),
        b"/* open".to_vec(),
        b"#![enable(".to_vec(),
        b"Diagram".to_vec(),
        b"Diagram()".to_vec(),
        b"\"".to_vec(),
        b"'".to_vec(),
        b"r#".to_vec(),
        b"r######\"".to_vec(),
        vec![0; 100],
    ];
    for piece in ["[", "(", "{", "Some(", "a(a:", "{1:", "/*", "r#", "\"\\u{", "#![", "- "] {
        texts.push(piece.repeat(deep).into_bytes());
        texts.push(value(&piece.repeat(deep)));
    }
    for piece in ["(", "[", "-", "sin(", "if ", "1+", "2^", "a.", "a[", "not ", "concat(", "'"] {
        texts.push(value(&format!("\"={}\"", piece.repeat(deep))));
        texts.push(value(&format!("\"={}1{}\"", piece.repeat(deep), ")".repeat(deep))));
    }
    for list in [
        "zeros(1e9)",
        "zeros(1e6)",
        "zeros(1e308)",
        "zeros(-1)",
        "zeros(0)",
        "zeros(inf)",
        "zeros(0.5)",
        "repeat(zeros(1e3), 1e6)",
        "repeat(repeat(1, 1e3), 1e3)",
        "concat(zeros(1e6), zeros(1e6))",
        "linspace(0, 1, 1e12)",
        "linspace(0, 1, 1)",
        "1e308*10",
        "0/0",
        "inf",
        "-inf",
        "inf-inf",
        "NaN",
        "2^1e308",
        "mod(1, 0)",
        "[][0]",
        "[1][1e18]",
        "[1][-1]",
        "[1, 2][1..0]",
        "zeros(3)[0..1e18]",
        "'a' + 'b'",
        "''",
        "variants",
        "variants.x",
        "max([])",
        "sqrt(-1)",
        "1[m",
        "1[]",
        "5[m^1e9]",
        "5[m^999999999999]",
    ] {
        texts.push(value(&format!("\"={list}\"")));
    }
    for number in ["1e308", "-0.0", "NaN", "inf", "-inf", "1e999", "0x", "1__", "--1", "+", "."] {
        texts.push(value(number));
        texts.push(value(&format!("[[{number}, {number}], [1]]")));
        texts.push(blocks(&format!("\"c\": UnitDelay(every: {number}, initial: {number}),")));
        texts.push(diagram(&format!("stop: {number}, step: \"1 ms\""), "", ""));
        texts.push(diagram(&format!("stop: 1.0, step: {number}, seed: {number}"), "", ""));
    }
    for run in [
        "stop: \"1e18 s\"",
        "stop: \"1e18 s\", step: \"1e18 s\"",
        "stop: \"1e300 s\"",
        "stop: 1, step: 1e-300",
        "stop: 1, step: 1e-30",
        "stop: 1e-30, step: 1e-30",
        "stop: 1e30, step: 1e25",
        "stop: -1",
        "stop: 1, step: -1",
        "stop: 1, step: 0",
        "stop: 1, seed: -1",
        "stop: 1, seed: 1e30",
        "stop: 1, seed: 0.5",
        "stop: \"1 m\"",
        "stop: \"\"",
        "stop: \"=1/0\"",
        "stop: 0",
        "step: 1",
        "",
        "stop: 1, solver: 3",
        "stop: 123456789.123456789, step: 1.23456789e-9",
        "stop: 5e-324, step: 5e-324",
    ] {
        let clock = "\"c\": Clock(), \"d\": Integrator(initial: 0, in: {\"u\": \"c.y\"})";
        texts.push(diagram(run, "log: [Every(\"1e30 s\", \"c.y\"), \"d.y\"],", clock));
        texts.push(diagram(
            run,
            "checks: {\"a\": Always(that: \"=c.y >= 0\", after: \"1e300 s\", until: \"-1 s\")},",
            clock,
        ));
    }
    for every in [
        "\"1e30 s\"",
        "\"1e-30 s\"",
        "-1",
        "0",
        "\"0 Hz\"",
        "\"-5 Hz\"",
        "(1, -1)",
        "(1, 1e30)",
        "(period: \"1 ms\", offset: \"1e12 s\")",
        "(offset: 1)",
        "()",
        "[]",
        "{}",
        "\"1e300 Hz\"",
        "(period: \"1 ms\", offset: \"1 Hz\")",
        "\"1.0000000000001 ms\"",
    ] {
        texts.push(blocks(&format!(
            "\"c\": Clock(), \"z\": ZeroOrderHold(every: {every}, in: {{\"u\": \"c.y\"}}),"
        )));
    }
    let long = "n".repeat(100_000);
    for name in ["", " ", ".", "a.b", "[", "^", "~", "run", "é", "\\u{0}", "a\\nb", long.as_str()]
    {
        texts.push(blocks(&format!(
            "\"{name}\": Clock(), \"g\": Gain(gain: 1, in: {{\"u\": \"{name}.y\"}}),"
        )));
    }
    for path in [
        "",
        "^",
        "^u",
        "c",
        "c.",
        "c.y[",
        "c.y[0]",
        "c.y[0..]",
        "c.y[99999999999999999999]",
        "c.y[18446744073709551615]",
        "c.y[1..0]",
        "c.y[0, 0]",
        "c.y.z",
        "g.y",
        "c[0].y",
        "c.y[..]",
        "f.all[0].y",
        "f.all",
        "f.all[9]",
        "f[0].c.y",
        "f[1e9].c.y",
        "f.é",
        "c.y[é]",
    ] {
        texts.push(blocks(&format!(
            "\"c\": Constant(value: [1, 2]), \"f\": ForEach(over: {{\"k\": [0, 1]}}, body: \
            {{\"c\": Clock()}}, collect: {{\"all\": Array(\"c.y\")}}), \"g\": Gain(gain: 1, in: \
            {{\"u\": \"{path}\"}}),"
        )));
    }
    texts.extend(cycles(&diagram, &blocks));
    texts.extend(bombs(&diagram, &blocks));
    texts
}

type Make<'a> = &'a dyn Fn(&str, &str, &str) -> Vec<u8>;
type MakeBlocks<'a> = &'a dyn Fn(&str) -> Vec<u8>;

/// Things that hold or use themselves.
fn cycles(diagram: Make<'_>, blocks: MakeBlocks<'_>) -> Vec<Vec<u8>> {
    let run = "stop: \"10 ms\"";
    let variant = |choice: &str| {
        format!(
            "variants: {{ \"x\": Variant(default: \"a\", ports: (in: {{}}, out: {{\"y\": \
            \"Real\"}}), choices: {{\"a\": {choice}}}) }},"
        )
    };
    let two = "variants: { \"x\": Variant(default: \"a\", choices: {\"a\": Use(\"z\")}), \"z\": \
    Variant(default: \"a\", choices: {\"a\": Use(\"x\")}) },";
    let mut texts = vec![
        diagram(run, &variant("Use(\"x\")"), "\"c\": Use(\"x\")"),
        diagram(run, &variant("Use(of: \"x\", in: {})"), "\"c\": Use(\"x\")"),
        diagram(run, two, "\"c\": Use(\"x\")"),
        diagram(
            run,
            &variant(
                "Subsystem(ports: (in: {}, out: {\"y\": \"Real\"}), blocks: {\"i\": Use(\"x\")}, \
                out: {\"y\": \"i.y\"})",
            ),
            "\"c\": Use(\"x\")",
        ),
        diagram(
            run,
            &variant("ForEach(over: {\"k\": [1, 2]}, body: {\"i\": Use(\"x\")})"),
            "\"c\": Use(\"x\")",
        ),
        diagram(
            run,
            &variant("Mask(file: \"masks/holder.ron\", part: Use(\"x\"))"),
            "\"c\": Use(\"x\")",
        ),
        blocks("\"c\": Mask(file: \"masks/cycle_a.ron\")"),
        blocks("\"c\": Mask(file: \"hostile.ron\")"),
        blocks(
            "\"s\": Subsystem(ports: (in: {\"u\": \"Real\"}, out: {\"y\": \"Real\"}), blocks: {}, \
            out: {\"y\": \"^u\"}, in: {\"u\": \"s.y\"}), \"g\": Gain(gain: 1, in: {\"u\": \
            \"s.y\"})",
        ),
        blocks(
            "\"s\": Subsystem(ports: (in: {}, out: {\"y\": \"Real\"}), blocks: {}, out: {\"y\": \
            \"s.y\"}), \"g\": Gain(gain: 1, in: {\"u\": \"s.y\"})",
        ),
        blocks(
            "\"f\": ForEach(over: {\"k\": [0, 1]}, body: {\"g\": Gain(gain: 1, in: {\"u\": \
            \"f.all[0]\"})}, collect: {\"all\": Array(\"g.y\")})",
        ),
        blocks(
            "\"f\": ForEach(over: {\"k\": [0, 1]}, body: {\"g\": Gain(gain: 1, in: {\"u\": \
            \"f.all\"})}, collect: {\"all\": Concat(\"g.y\")})",
        ),
        blocks(
            "\"f\": ForEach(over: {\"k\": [0, 1]}, body: {}, collect: {\"all\": \
            Array(\"f.all\")}), \"g\": Gain(gain: 1, in: {\"u\": \"f.all\"})",
        ),
        blocks(
            "\"f\": ForEach(over: {\"k\": []}, body: {\"c\": Clock()}, collect: {\"a\": \
            Array(\"c.y\"), \"b\": Stack(\"c.y\"), \"d\": Concat(\"c.y\")}), \"g\": Gain(gain: 1, \
            in: {\"u\": \"f.a\"}), \"h\": Gain(gain: 1, in: {\"u\": \"f.b\"}), \"i\": Gain(gain: \
            1, in: {\"u\": \"f.d\"})",
        ),
        blocks("\"g\": Gain(gain: 1, in: {\"u\": \"g.y\"})"),
        blocks("\"d\": UnitDelay(initial: 0, in: {\"u\": \"d.y\"})"),
        diagram(run, "params: {\"a\": \"=b\", \"b\": \"=a\", \"variants\": 1},", ""),
        diagram(run, "params: {\"a\": \"=a\"},", "\"c\": Constant(value: \"=a\")"),
        diagram(run, "buses: {\"A\": {\"x\": \"B\"}, \"B\": {\"x\": \"A\"}},", ""),
        diagram(run, "robots: {\"r\": Urdf(path: \"=r.name\", base: Fixed)},", ""),
    ];
    let parameter_chain: String =
        (0..2000).map(|i| format!("\"p{i}\": \"=p{} + 1\", ", i + 1)).collect();
    texts.push(diagram(run, &format!("params: {{ {parameter_chain} }},"), ""));
    texts
}

/// Short texts that unfold into very much.
fn bombs(diagram: Make<'_>, blocks: MakeBlocks<'_>) -> Vec<Vec<u8>> {
    let run = "stop: \"10 ms\"";
    let mut nest = "\"c\": Clock()".to_owned();
    let mut empty = String::new();
    for level in 0..8 {
        nest = format!(
            "\"f\": ForEach(over: {{\"k{level}\": \"=linspace(0, 99, 100)\"}}, body: {{ {nest} }})"
        );
        empty = format!(
            "\"f\": ForEach(over: {{\"k{level}\": \"=linspace(0, 99, 100)\"}}, body: {{ {empty} }})"
        );
    }
    let mut buses = "\"B0\": {\"x\": \"Vector(3)\", \"y\": \"Real\"}".to_owned();
    for level in 1..60 {
        buses +=
            &format!(", \"B{level}\": {{\"x\": \"B{}\", \"y\": \"B{}\"}}", level - 1, level - 1);
    }
    let mut wires = String::new();
    for level in 0..60 {
        wires += &format!(
            "\"s{}\": Subsystem(ports: (in: {{\"a\": \"Real\", \"b\": \"Real\"}}, out: {{\"y\": \
            \"Real\", \"z\": \"Real\"}}), blocks: {{}}, out: {{\"y\": \"^a\", \"z\": \"^b\"}}, in: \
            {{\"a\": \"s{level}.y\", \"b\": \"s{level}.z\"}}), ",
            level + 1
        );
    }
    let mut variants = String::new();
    for level in 0..40 {
        variants += &format!(
            "\"v{level}\": Variant(default: \"a\", choices: {{\"a\": Subsystem(blocks: {{\"p\": \
            Use(\"v{0}\"), \"q\": Use(\"v{0}\")}})}}), ",
            level + 1
        );
    }
    let big = "1, ".repeat(1000);
    let row = format!("[{big}], ").repeat(100);
    let array_type = "Array(".repeat(100_000);
    vec![
        blocks(&nest),
        blocks(&empty),
        diagram(run, &format!("buses: {{ {buses} }},"), ""),
        diagram(run, "buses: {\"A\": {\"x\": \"Array(Real, 100000000)\"}},", ""),
        diagram(run, &format!("buses: {{\"A\": {{\"x\": \"{array_type}\"}}}},"), ""),
        diagram(
            run,
            &format!("buses: {{\"A\": {{\"x\": \"{array_type}Real{}\"}}}},", ")".repeat(100_000)),
            "",
        ),
        diagram(run, &format!("variants: {{ {variants} }},"), "\"u\": Use(\"v0\")"),
        blocks(&format!("{wires} \"s0\": Clock()")),
        blocks(&format!("\"m\": Constant(value: [{row}])")),
        blocks(
            "\"a\": Constant(value: \"=zeros(1e6)\"), \"b\": Concat(count: 4, in: {\"u1\": \
            \"a.y\", \"u2\": \"a.y\", \"u3\": \"a.y\", \"u4\": \"a.y\"})",
        ),
        blocks(
            "\"a\": Constant(value: \"=zeros(1e6)\"), \"f\": ForEach(over: {\"k\": \"=linspace(1, \
            300, 300)\"}, body: {}, collect: {\"all\": Concat(\"a.y\")})",
        ),
    ]
}
