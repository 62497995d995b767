//! Problem files: what is written is read back bit by bit, and damage is named.

use legwork_qp::problem_file::{place, read, write};
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{
    Cone, ConeProgramData, ConeShape, LcpData, NamedProblem, Problem, PyramidFit, QpData,
};

/// Any 64 bits are a number, among them subnormals, infinities and NaNs of every kind.
fn any(random: &mut Random) -> f64 {
    match random.below(12) {
        0 => f64::INFINITY,
        1 => f64::NEG_INFINITY,
        2 => f64::NAN,
        3 => -0.0,
        4 => f64::from_bits(random.bits() % (1 << 52)),
        5 => f64::MAX,
        6 => (random.bits() % 1000) as f64,
        7 => 9_007_199_254_740_993.0 * random.uniform(),
        8 => f64::from_bits(0x7FF0_0000_0000_0000 | (random.bits() >> 12)),
        _ => f64::from_bits(random.bits()),
    }
}

fn list(random: &mut Random, len: usize) -> Vec<f64> {
    (0..len).map(|_| any(random)).collect()
}

fn qp(random: &mut Random, n: usize, m: usize) -> QpData {
    let bounds = [n, 0][random.below(2)];
    QpData {
        hessian: list(random, n * n),
        gradient: list(random, n),
        rows: list(random, m * n),
        row_lower: list(random, m),
        row_upper: list(random, m),
        lower: list(random, bounds),
        upper: list(random, n - bounds),
    }
}

fn problem(seed: u64) -> NamedProblem {
    let random = &mut Random::new(seed);
    let (n, m) = (random.below(6), random.below(6));
    let problem = match seed % 4 {
        0 => Problem::Qp(qp(random, n, m)),
        1 => {
            let cone_sizes: Vec<usize> =
                (0..random.below(4)).map(|_| 1 + random.below(3)).collect();
            let r = cone_sizes.iter().sum();
            Problem::ConeProgram(ConeProgramData {
                linear: qp(random, n, m),
                cone_rows: list(random, r * n),
                cone_offset: list(random, r),
                cone_sizes,
            })
        }
        2 => Problem::Lcp(LcpData { matrix: list(random, n * n), vector: list(random, n) }),
        _ => {
            let fit = [PyramidFit::Inscribed, PyramidFit::Circumscribed][random.below(2)];
            let cone = match random.below(3) {
                0 => Cone::Circular,
                _ => Cone::Pyramid { sides: 3 + random.below(6), fit },
            };
            let mut data = random_definite(seed, n, ConeShape::new(cone).unwrap());
            data.inverse_inertia = list(random, 9 * n * n);
            data.bias = list(random, 3 * n);
            (data.force_scale, data.regularisation) = (any(random), any(random));
            if random.below(2) == 0 {
                data.compliance.clear();
            }
            Problem::Contact(data)
        }
    };
    let origin = "stand.ron: block \"qp\"\n\tat t = 0.1 s, α ≤ β \\ \u{1}".to_owned();
    {
        let mut named = NamedProblem::new(format!("case {seed}"), origin, problem);
        if seed.is_multiple_of(2) {
            named.extra.insert("start".into(), vec![0.1, f64::NAN, -0.0, f64::INFINITY]);
            named.extra.insert("none".into(), Vec::new());
        }
        named
    }
}

/// All numbers of a problem.
fn numbers(problem: &Problem) -> Vec<Vec<f64>> {
    let of_qp = |qp: &QpData| {
        let QpData { hessian, gradient, rows, row_lower, row_upper, lower, upper } = qp.clone();
        vec![hessian, gradient, rows, row_lower, row_upper, lower, upper]
    };
    match problem {
        Problem::Qp(qp) => of_qp(qp),
        Problem::ConeProgram(program) => {
            let mut all = of_qp(&program.linear);
            all.extend([program.cone_rows.clone(), program.cone_offset.clone()]);
            all.push(program.cone_sizes.iter().map(|&size| size as f64).collect());
            all
        }
        Problem::Lcp(lcp) => vec![lcp.matrix.clone(), lcp.vector.clone()],
        Problem::Contact(contact) => vec![
            contact.inverse_inertia.clone(),
            contact.bias.clone(),
            contact.friction.clone(),
            contact.compliance.clone(),
            contact.active.clone(),
            vec![contact.force_scale, contact.regularisation, contact.cone.sides() as f64],
        ],
    }
}

fn bits(problem: &Problem) -> Vec<Vec<u64>> {
    numbers(problem).iter().map(|list| list.iter().map(|v| v.to_bits()).collect()).collect()
}

#[test]
fn every_bit_comes_back() {
    for seed in 0..2000 {
        let before = problem(seed);
        let text = write(&before);
        let after = read(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(bits(&before.problem), bits(&after.problem), "seed {seed}\n{text}");
        assert_eq!(before.problem.kind(), after.problem.kind());
        assert_eq!((&before.name, &before.origin), (&after.name, &after.origin));
        if let (Problem::Contact(a), Problem::Contact(b)) = (&before.problem, &after.problem) {
            assert_eq!(a.cone, b.cone, "seed {seed}");
        }
        assert_eq!(text, write(&after), "seed {seed}: the second text differs");
    }
}

fn contact_text() -> String {
    let problem = rigid_body(1, 1, ConeShape::circular(), false);
    let (name, origin) = ("one foot".to_owned(), String::new());
    write(&NamedProblem::new(name, origin, Problem::Contact(problem)))
}

#[test]
fn damage_is_named() {
    let text = contact_text();
    assert!(read(&text).is_ok());
    let message = |text: &str| read(text).err().map(|error| error.to_string());
    let damaged = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in\n{text}");
        message(&text.replacen(from, to, 1)).unwrap()
    };
    for (from, to, expected) in [
        ("legwork-problem", "other", "expected `legwork-problem` at `format`, found `other`"),
        ("\"version\": 1", "\"version\": 2", "expected 1 at `version`, found 2"),
        (
            "\"kind\": \"contact\"",
            "\"kind\": \"quadratic\"",
            "expected `qp` or `cone_program` or `lcp` or `contact` at `kind`, found `quadratic`",
        ),
        (
            "  \"name\": \"one foot\",\n",
            "",
            "expected the key `name` in a problem of kind `contact`, found none",
        ),
        (
            "\"friction\"",
            "\"frictions\"",
            "expected the keys of kind `contact`, found `frictions`; did you mean `friction`?",
        ),
        (
            "\"contact_count\": 1",
            "\"contact_count\": 2",
            "expected a list of 6 numbers at `bias`, found a list of 3",
        ),
        (
            "\"contact_count\": 1",
            "\"contact_count\": -1",
            "expected a count at `contact_count`, found -1",
        ),
        (
            "\"cone\": \"circular\"",
            "\"cone\": {\"sides\": 2, \"fit\": \"inscribed\"}",
            "expected 3 to 4096 at `cone.sides`, found 2",
        ),
        (
            "\"cone\": \"circular\"",
            "\"cone\": {\"sides\": 4, \"fit\": \"outer\"}",
            "expected `inscribed` or `circumscribed` at `fit`, found `outer`",
        ),
        (
            "\"compliance\": [0.0,",
            "\"compliance\": [true,",
            "expected a number, `inf`, `-inf` or `nan` at `compliance[0]`, found true",
        ),
        (
            "\"compliance\": [0.0,",
            "\"compliance\": [\"nan:7\",",
            "expected a number, `inf`, `-inf` or `nan` at `compliance[0]`, found `nan:7`",
        ),
    ] {
        assert_eq!(damaged(from, to), expected, "{from} → {to}");
    }
    assert_eq!(message("[1]").unwrap(), "expected an object at `the file`, found a list of 1");
    let error = message("{\"format\": }").unwrap();
    assert!(error.starts_with("expected JSON, found an error at line 1, column 12"), "{error}");
    let at = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        let range = place(&text, &read(&text).unwrap_err());
        text[range].to_owned()
    };
    for (from, to, expected) in [
        ("\"version\": 1", "\"version\": 2", "2"),
        ("\"name\": \"one foot\",", "", "{"),
        ("\"friction\"", "\"frictions\"", "\"frictions\""),
        ("\"contact_count\": 1", "\"contact_count\": -1", "-1"),
        ("\"circular\"", "{\"sides\": 2, \"fit\": \"inscribed\"}", "2"),
        ("\"circular\"", "{\"sides\": 4, \"fit\": \"a \\\" }\"}", "\"a \\\" }\""),
        ("\"circular\"", "{\"sides\": 4, \"fits\": 0}", "\"fits\""),
        ("\"compliance\": [0.0, 0.0", "\"compliance\": [0.0, true", "true"),
        ("\"version\": 1", "\"version\": ?", "?"),
    ] {
        assert_eq!(at(from, to), expected, "{from} → {to}");
    }
    let huge = damaged("\"compliance\": [0.0,", "\"compliance\": [1e999,");
    assert!(huge.contains("out of range"), "{huge}");
}

/// Cut anywhere, or with any byte changed, a file is an error or another problem, never a panic.
#[test]
fn damage_anywhere_does_not_panic() {
    let text = contact_text();
    for end in 0..text.trim_end().len() {
        assert!(read(&text[..end]).is_err(), "cut at {end}");
    }
    for at in 0..text.len() {
        for byte in [b'"', b'[', b'}', b'9', b'-', b'e', b' ', b','] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = byte;
            if let Ok(damaged) = String::from_utf8(bytes)
                && let Err(error) = read(&damaged)
            {
                let range = place(&damaged, &error);
                assert!(range.start <= range.end && range.end <= damaged.len(), "{error}");
            }
        }
    }
    let deep = "[".repeat(100_000);
    assert!(read(&deep).is_err());
    for count in ["18446744073709551615", "6148914691236517205", "1e30", "3.5"] {
        let text = text.replacen("\"contact_count\": 1", &format!("\"contact_count\": {count}"), 1);
        assert!(read(&text).is_err(), "{count}");
    }
}
