#![allow(clippy::unwrap_used, reason = "tests state what must hold")]

use legwork_block::{Arguments, NodeKind};

use super::*;

fn read(text: &str) -> Result<Node, Diagnostic> {
    parse(FileId(0), text.as_bytes())
}

fn at(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.end as usize]
}

const SAMPLE: &str = r##"#![enable(implicit_some)]
// A sample with every form.
Diagram(
    format: 2, /* a /* nested */ comment */
    doc: "é \"quoted\" \u{41}",
    raw: r#"a "raw" text"#,
    run: (stop: "3 s", step: Some("1 ms"), seed: 7, flag: true, none: None, unit: ()),
    numbers: [0, -0.8, 1_000, 0xff, 1e-3, inf, -inf, 2.5f64, .5],
    pair: (1, 2),
    blocks: {
        "pd": JointPd(kp: "=kp", in: { "state": "body.state" }),
        "empty": ActiveSetQp(),
        "bare": Use,
        "use": Use("qp"),
        "char": 'x',
    },
)
"##;

#[test]
fn every_form_reads_with_its_exact_place() {
    let node = read(SAMPLE).unwrap();
    assert_eq!(node.kind_name().unwrap().text, "Diagram");
    let field = |name: &str| node.field(name).unwrap();
    assert_eq!(field("doc").text(), Some("é \"quoted\" A"));
    assert_eq!(at(SAMPLE, field("doc").span), r#""é \"quoted\" \u{41}""#);
    assert_eq!(field("raw").text(), Some("a \"raw\" text"));
    assert_eq!(at(SAMPLE, field("run").field("step").unwrap().span), "\"1 ms\"");
    assert_eq!(field("run").field("none").unwrap().kind, NodeKind::Unit);
    let numbers: Vec<f64> =
        field("numbers").list().unwrap().iter().filter_map(Node::number).collect();
    let inf = f64::INFINITY;
    assert_eq!(numbers, [0.0, -0.8, 1000.0, 255.0, 1e-3, inf, -inf, 2.5, 0.5]);
    assert_eq!(field("pair").list().unwrap().len(), 2);
    let blocks = field("blocks");
    assert_eq!(at(SAMPLE, blocks.entry("use").unwrap().span), "Use(\"qp\")");
    assert_eq!(blocks.entry("bare").unwrap().named().unwrap().arguments, Arguments::None);
    assert!(blocks.entry("empty").unwrap().fields().is_empty());
    let pd = blocks.entry("pd").unwrap();
    assert_eq!(at(SAMPLE, pd.fields()[1].name.span), "in");
    assert_eq!(at(SAMPLE, pd.kind_name().unwrap().span), "JointPd");
    assert_eq!(blocks.entry("char").unwrap().text(), Some("x"));
}

#[test]
fn places_inside_texts_follow_escapes_and_raw_openings() {
    for (text, part) in [
        (r#"("a\n\"b kp")"#, "kp"),
        (r##"(r#"ab kp"#)"##, "kp"),
        (r#"("kp")"#, "kp"),
        (r#"("\u{e9}\x41\t kp")"#, "kp"),
    ] {
        let node = read(text).unwrap();
        let NodeKind::Text(found) = &node.list().unwrap()[0].kind else { panic!("{text}") };
        let start = found.value.find(part).unwrap();
        assert_eq!(at(text, found.place.part(start, start + part.len())), part, "{text}");
    }
}

#[test]
fn mistakes_name_their_place() {
    let table = [
        ("", "", "the file is empty"),
        ("  // only a comment", "", "the file is empty"),
        ("A(b: )", ")", "expected a value, found `)`"),
        ("A(b: 1", "", "expected `,` or `)`, found the end of the file"),
        ("A(b: 1 c: 2)", "c", "expected `,` or `)`, found `c`"),
        ("A(b: 1, 2)", "2", "expected `name: value`, found a value without a name"),
        ("A(b: 10 ms)", "ms", "expected `,` or `)`, found `ms`"),
        ("A(b: 10ms)", "10ms", "expected a number, found `10ms`"),
        ("A(b: 1, b: 2)", "b", "the field `b` is given twice"),
        ("{\"a\": 1, \"b\": 2, \"a\": 3}", "\"a\"", "the key \"a\" is given twice"),
        ("{\"a\" 1}", "1", "expected `:` behind the key, found `1`"),
        ("A() B", "B", "expected the end of the file, found `B`"),
        ("A(b: \"abc)", "\"", "expected `\"` to end this text, found the end of the file"),
        ("A(b: \"a\\qb\")", "\\q", "unknown escape `\\q` (write a backslash as `\\\\`)"),
        ("A(/* b)", "/*", "this comment has no end `*/`"),
        ("A(b: 'ab')", "'ab'", "expected one character in `'`"),
        ("[1, b\"x\"]", "b", "expected a text, found bytes"),
        (
            "#![enable(magic)]\nA()",
            "magic",
            "expected an extension such as `implicit_some`, found `magic`",
        ),
        ("#![allow(magic)]\nA()", "allow", "expected `enable`, `type` or `schema`, found `allow`"),
        ("A(b: Some(1, 2))", "Some(1, 2)", "expected one value in `Some(…)`"),
        ("A(b: 0x_f)", "0x_f", "expected a number, found `0x_f`"),
        ("A(b: 300u8)", "300u8", "expected a number, found `300u8`"),
    ];
    for (text, place, message) in table {
        let error = read(text).expect_err(text);
        assert_eq!(error.message, message, "{text}");
        assert_eq!(at(text, error.primary.span), place, "{text}");
    }
    let twice = read("{\"a\": 1, \"a\": 3}").unwrap_err();
    assert_eq!(twice.secondary[0].span, Span::new(FileId(0), 1, 4));
    assert_eq!(twice.primary.span, Span::new(FileId(0), 9, 12));
}

/// Every text of a few characters that may stand in a number is one exactly if the `ron` crate
/// says so, and has its value.
#[test]
fn numbers_are_those_of_ron() {
    let compare = |text: &str| {
        let found = read(text).ok().and_then(|node| node.number());
        let expected = match ron::from_str::<ron::Value>(text) {
            Ok(ron::Value::Number(number)) => Some(number.into_f64()),
            _ => None,
        };
        let is_nan = found.is_some_and(f64::is_nan) && expected.is_some_and(f64::is_nan);
        // All numbers are doubles, those with the suffix of a single too.
        let is_single = found.is_some() && expected.is_some() && text.contains("f32");
        // `1e_+5` is refused.
        let is_strange = found.is_none() && text.to_lowercase().contains("e_");
        let is_same = found == expected || is_nan || is_single || is_strange;
        assert!(is_same, "{text}: {found:?}, {expected:?}");
    };
    let characters = [b"019.eE+-_xb", b"017.e-_obfx"];
    for characters in characters {
        let count = characters.len();
        for length in 1..=5 {
            for mut code in 0..count.pow(length) {
                let text: String = (0..length)
                    .map(|_| {
                        let character = characters[code % count];
                        code /= count;
                        char::from(character)
                    })
                    .collect();
                compare(&text);
            }
        }
    }
    let suffixes = ["f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "i128"];
    let numbers = [
        "0",
        "127",
        "128",
        "-128",
        "-129",
        "255",
        "0xff",
        "1_0",
        "1.5",
        "1e2",
        "1_",
        "-1",
        "inf",
        "-inf",
        "NaN",
        "32768",
        "65535",
        "65536",
        "4294967295",
        "18446744073709551615",
        "-0",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "0b101",
        "_1",
        "0xffffffffffffffff",
        "0x10000000000000000",
        "-0x8000000000000000",
        "-0x8000000000000001",
    ];
    for number in numbers {
        compare(number);
        suffixes.iter().for_each(|suffix| compare(&format!("{number}{suffix}")));
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_offset() {
    let error = parse(FileId(0), b"A(b: \"\xff\")").unwrap_err();
    assert_eq!(error.message, "expected UTF-8, found byte 0xff at offset 6");
    assert_eq!(error.primary.span, Span::new(FileId(0), 6, 7));
    assert!(parse(FileId(0), b"\xff\xfeA\0").unwrap_err().message.contains("UTF-16"));
    let marked = parse(FileId(0), b"\xef\xbb\xbfA(b: 1)").unwrap();
    assert_eq!(marked.span, Span::new(FileId(0), 3, 10));
}

#[test]
fn hostile_nesting_is_an_error() {
    for open in ["[", "(", "{", "A(", "A(a:", "Some(", "{\"a\":"] {
        let error = read(&open.repeat(10_000)).unwrap_err();
        assert!(["nesting", "syntax"].contains(&error.code.name()), "{open} {error:?}");
    }
    assert!(read(&("[".repeat(90) + &"]".repeat(90))).is_ok());
}

/// Spans of children lie inside their parents, and all inside the text.
fn check_spans(node: &Node, outer: Span) {
    assert!(outer.start <= node.span.start && node.span.start <= node.span.end);
    assert!(node.span.end <= outer.end);
    for child in node.list().unwrap_or(&[]) {
        check_spans(child, node.span);
    }
    for (key, value) in node.map().unwrap_or(&[]) {
        check_spans(key, node.span);
        check_spans(value, node.span);
    }
    for field in node.fields() {
        check_spans(&field.value, node.span);
    }
}

/// Whether the `ron` crate reads the text.
fn is_ron(text: &str) -> bool {
    crate::ron_text::judge(text).is_ok()
}

/// Truncated and mutated texts never panic, errors point into the file, and what reads is RON.
#[test]
fn damaged_files_never_panic() {
    let bytes = SAMPLE.as_bytes();
    let all = Span::new(FileId(0), 0, bytes.len() + 8);
    let check = |bytes: &[u8]| match parse(FileId(0), bytes) {
        Ok(node) => {
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(is_ron(text), "{text}");
            check_spans(&node, all);
        }
        Err(error) => assert!(error.primary.span.end as usize <= bytes.len().max(1)),
    };
    (0..bytes.len()).for_each(|end| check(&bytes[..end]));
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let alphabet = b"()[]{}:,\"'\\#!/*.-+_eE0x9rbA \n\xc3\xa9";
    for _ in 0..4000 {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random(4) {
            let at = random(damaged.len());
            match random(3) {
                0 => damaged[at] = alphabet[random(alphabet.len())],
                1 => damaged.insert(at, alphabet[random(alphabet.len())]),
                _ => drop(damaged.remove(at)),
            }
        }
        check(&damaged);
    }
}
