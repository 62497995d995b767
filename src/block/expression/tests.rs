#![allow(clippy::unwrap_used, reason = "tests state what must hold")]

use indexmap::IndexMap;

use super::*;
use crate::diagnostic::FileId;
use crate::unit::{Unit, parse_unit};

fn place(text: &str) -> Place {
    Place::from(Span::new(FileId(0), 0, text.len()))
}

fn scope() -> IndexMap<String, Value> {
    let robot = Value::record([
        ("n", Value::from(12.0)),
        ("feet", Value::from(vec!["FL_foot", "FR_foot"])),
        (
            "keyframes",
            Value::record([("stand", Value::record([("s", Value::from(vec![0.0, -0.8, 1.6]))]))]),
        ),
    ]);
    IndexMap::from_iter([
        ("kp".to_owned(), Value::quantity(60.0, parse_unit("N*m/rad").unwrap().0)),
        ("mu".to_owned(), Value::from(0.7)),
        ("f".to_owned(), Value::from("FL_foot")),
        ("go".to_owned(), robot),
    ])
}

fn eval(text: &str) -> Result<Value, Diagnostic> {
    Expression::parse(text, place(text))?.eval(&scope())
}

#[test]
fn values_agree_with_hand_calculation() {
    let table = [
        ("1/2", "0.5"),
        ("-2^2", "-4"),
        ("2^-1", "0.5"),
        ("2^3^2", "512"),
        ("1 + 2*3 - 4/2", "5"),
        ("(1 + 2)*3", "9"),
        ("2*sqrt(kp/60)", "2 kg^(1/2)*m/rad^(1/2)/s"),
        ("kp*0.5[rad]", "30 N*m"),
        ("kp*mu", "42 N*m/rad"),
        ("5[cm]", "0.05 m"),
        ("2*pi[rad]*60[Hz] - 376[rad/s] > 0", "true"),
        ("0.2[m] + 5", "5.2 m"),
        ("3*len(go.feet)", "6"),
        ("go.keyframes.stand.s*2", "[0, -1.6, 3.2]"),
        ("go.keyframes.stand.s[1..]", "[-0.8, 1.6]"),
        ("go.keyframes['stand'].s[2]", "1.6"),
        ("[1, 2, 3] + [3, 2, 1]", "[4, 4, 4]"),
        ("-[1, 2]", "[-1, -2]"),
        ("[[1, 2], [3, 4]]*2", "[[2, 4], [6, 8]]"),
        ("if mu > 0.5 and not false then 'rough' else 1/0", "\"rough\""),
        ("mu < 0.5 || !(mu == 1)", "true"),
        ("false and 1/0 > 0", "false"),
        ("f == 'FL_foot'", "true"),
        ("f in go.feet and not ('XX' in go.feet)", "true"),
        ("'XX' in go.feet or 5[cm] in [1[m], 0.05]", "true"),
        ("norm([3[m], 4[m]])", "5 m"),
        ("min(3, 1, 2) + max([1, 5])", "6"),
        ("sum([1, 2, 3]) + mean([2, 4])", "9"),
        ("dot([1, 2], [3, 4])", "11"),
        ("cross([1, 0, 0], [0, 1, 0])", "[0, 0, 1]"),
        ("concat([1], zeros(2), repeat(3, 1))", "[1, 0, 0, 3]"),
        ("linspace(0, 1, 3)", "[0, 0.5, 1]"),
        ("linspace(6, 37, 32)[25]", "31"),
        ("[[1, 2], [3, 4]][1, 0]", "3"),
        ("clamp(5, 0, 1) + mod(-1, 3) + sign(-2)", "2"),
        ("atan2(1[m], 1[m])*4 - pi", "0 rad"),
        ("inf", "inf"),
        ("all([true, 1 < 2]) and any([false, true])", "true"),
        ("round(2.5) + floor(-0.5) + ceil(0.2)", "3"),
    ];
    for (text, expected) in table {
        assert_eq!(eval(text).map(|v| v.to_string()), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    // Expression, place of the error, message, hint.
    let table = [
        ("kpp*2", "kpp", "unknown name `kpp`", "did you mean `kp`?"),
        ("1 + sqr(2)", "sqr", "unknown function `sqr`", "did you mean `sqrt`?"),
        ("go.feets", "feets", "no field `feets` here", "did you mean `feet`?"),
        ("kp + 1[m]", "kp + 1[m]", "`+` of different units, left is in N*m/rad, right in m", ""),
        (
            "1[Hz] < 1[rad/s]",
            "1[Hz] < 1[rad/s]",
            "`<` of different units, left is in Hz, right in rad/s",
            "Hz counts turns and rad/s angles: write the rate in rad/s",
        ),
        ("sin(1[m])", "1[m]", "`sin` takes an angle, found a quantity in m", ""),
        ("atan2(1)", "atan2(1)", "`atan2` takes 2 arguments, found 1", ""),
        ("go.feet[2]", "2", "index 2 is outside the list of 2", "indices count from 0"),
        ("go.feet[0.5]", "0.5", "expected a whole number from 0 up, found the number 0.5", ""),
        ("[1,2,3][1..5]", "[1,2,3][1..5]", "range 1..5 is outside the list of 3", ""),
        ("sqrt(-1)", "sqrt(-1)", "the result of `sqrt` of -1 is not a number", ""),
        ("mu/0", "mu/0", "division by zero", ""),
        ("exp(1000)", "exp(1000)", "the result of `exp` of 1000 is too large", ""),
        ("inf - inf", "inf - inf", "the result of `-` of inf and inf is not a number", ""),
        ("(1 + 2", "", "expected `)`, found the end", ""),
        (
            "1 + 2)",
            ")",
            "expected an operator or the end, found `)`",
            "remove it, or open a bracket in front",
        ),
        ("mu = 1", "=", "expected an operator or the end, found `=`", "compare with `==`"),
        ("60 Hz", "Hz", "expected an operator, found `Hz`", "write the unit in brackets: `60[Hz]`"),
        ("2 mu", "mu", "expected an operator, found `mu`", "write a product with `*`: `2*mu`"),
        ("1[foo]", "foo", "unknown unit `foo`", ""),
        ("1 +", "", "expected a value, found the end", ""),
        (
            "1 < mu < 2",
            "<",
            "expected the end of the comparison, found `<`",
            "comparisons do not chain: write `a < b and b < c`",
        ),
        ("  ", "  ", "the expression is empty", "write a value after `=`"),
        (
            "1 < 2 in [true]",
            "in",
            "expected the end of the comparison, found `in`",
            "comparisons do not chain: write `a < b and b < c`",
        ),
        ("'a' in [1, 2]", "'a' in [1, 2]", "`==` does not apply to text 'a' and the number 1", ""),
        ("1 ; 2", ";", "unexpected character `;`", ""),
        ("[1, 2] + [1]", "[1, 2] + [1]", "`+` of lists of different lengths, 2 and 1", ""),
        ("f*2", "f*2", "`*` does not apply to text 'FL_foot' and the number 2", ""),
        ("if 1 then 2 else 3", "1", "expected a truth value, found the number 1", ""),
        (
            "if true then 2",
            "",
            "expected `else`, found the end",
            "a choice is written `if condition then a else b`",
        ),
        (
            "repeat(1, 1e9)",
            "repeat(1, 1e9)",
            "a list of 1000000000 values is longer than 262144",
            "",
        ),
        ("1e999", "1e999", "the number 1e999 is out of range", ""),
        ("'abc", "'abc", "expected `'` to end this text", ""),
        ("max([])", "[]", "`max` of an empty list has no value", ""),
        ("2^1[m]", "2^1[m]", "expected an exponent without unit, found one in m", ""),
    ];
    for (text, at, message, hint) in table {
        let error = eval(text).expect_err(text);
        let span = error.primary.span;
        assert_eq!(&text[span.start as usize..span.end as usize], at, "{text}: {error:?}");
        assert_eq!(error.message, message, "{text}");
        if !hint.is_empty() {
            assert_eq!(error.hints.first().map(String::as_str), Some(hint), "{text}");
        }
    }
}

#[test]
fn hostile_nesting_is_an_error_and_no_stack_overflow() {
    let n = 10_000;
    for text in [
        "(".repeat(n),
        "[".repeat(n),
        "-".repeat(n) + "1",
        "!".repeat(n) + "true",
        "+".repeat(n) + "1",
        "1+".repeat(n) + "1",
        "2^".repeat(n) + "1",
        "sin(".repeat(n),
        "if ".repeat(n),
        "a".to_owned() + &".a".repeat(n),
        "a".to_owned() + &"[0]".repeat(n),
        "a[".repeat(n),
        "not ".repeat(n) + "true",
    ] {
        let error = eval(&text).unwrap_err();
        assert_eq!(error.code.name(), "expression-depth", "{} {}", &text[..8], error.message);
    }
}

#[test]
fn places_follow_escapes_and_offsets() {
    // In the file: "= 'é\n' + x" with an escape of two bytes that is one byte of text.
    let text = "= '\n' + x";
    let literal = Span::new(FileId(3), 100, 112);
    let place = Place::new(literal, 101, vec![(4, 1)]);
    let error = Expression::parse_from(text, 1, &place).unwrap().eval(&()).unwrap_err();
    assert_eq!(error.primary.span, Span::new(FileId(3), 110, 111));
    assert_eq!(error.message, "unknown name `x`");
}

struct Signals;

impl SignalResolver for Signals {
    fn resolve(&mut self, path: &SignalPath) -> Result<Signal, Diagnostic> {
        Ok(match path.to_string().as_str() {
            "t" => Signal::Real { slot: 0, unit: Some(Unit::SECOND.into()) },
            "body.state.base.position" => {
                Signal::Run { start: 1, len: 3, unit: Some(Unit::METRE.into()) }
            }
            "body.state.base.position[2]" => {
                Signal::Real { slot: 3, unit: Some(Unit::METRE.into()) }
            }
            "foot[FL_foot].point.gap" => Signal::Real { slot: 4, unit: Some(Unit::METRE.into()) },
            "^on" => Signal::Bool { slot: 5 },
            "u[1..3]" => Signal::Run { start: 6, len: 2, unit: None },
            other => {
                let message = format!("no signal `{other}`");
                return Err(Diagnostic::error(crate::code::UNKNOWN_NAME, path.span, message));
            }
        })
    }
}

#[test]
fn compiled_programs_give_the_same_as_evaluation_with_the_signals_as_constants() {
    let slots = [0.25, 3.0, -4.0, 0.5, 0.01, 1.0, 7.0, 9.0];
    let table = [
        ("t", 0.25),
        ("body.state.base.position[2] > 0.2", 1.0),
        ("norm(body.state.base.position)", (9.0f64 + 16.0 + 0.25).sqrt()),
        ("norm(body.state.base.position - [1[m], 2[m], -3[m]])", (4.0f64 + 36.0 + 12.25).sqrt()),
        ("norm(u[1..3]) + 2*norm(u[1..3] - [4, 5])", 130.0f64.sqrt() + 2.0 * 5.0),
        ("norm(concat(u[1..3], [2, u[1..3][0]]))", (49.0f64 + 81.0 + 4.0 + 49.0).sqrt()),
        ("u[1..3][0]^2 - u[1..3][1]^2", 49.0 - 81.0),
        ("norm(u[1..3]) > 11 and norm(u[1..3]) < 12", 1.0),
        ("foot[FL_foot].point.gap + foot[f].point.gap*2", 0.01 + 0.02),
        ("if ^on then u[1..3][1] else 0", 9.0),
        ("if not ^on then 1 else 2", 2.0),
        ("max(u[1..1+2])*mu", 9.0 * 0.7),
        ("sum(2*body.state.base.position - 1[m])", 6.0 - 8.0 + 1.0 - 3.0),
        ("sin(2*pi*t/1[s])", libm::sin(2.0 * std::f64::consts::PI * 0.25)),
        ("go.n + t/1[s]", 12.25),
        ("^on and t < 1", 1.0),
        ("1 + 2", 3.0),
        ("len(u[1..3])", 2.0),
        ("body.state.base.position[2]^2/1[m^2]", 0.25),
    ];
    for (text, expected) in table {
        let expression = Expression::parse(text, place(text)).unwrap();
        let compiled = expression.compile(&scope(), &mut Signals).expect(text);
        assert_eq!(compiled.eval_slice(&slots), expected, "{text}");
    }
    let text = "u[1..3] + 1";
    let list = Expression::parse(text, place(text)).unwrap();
    let list = list.programs(&scope(), &mut Signals).unwrap().programs;
    assert_eq!(list.iter().map(|c| c.eval_slice(&slots)).collect::<Vec<_>>(), [8.0, 10.0]);
}

/// One program for all elements of a list gives the bits that one for each gives.
#[test]
fn one_program_for_each_element_is_the_same_as_many() {
    let slots: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.37 - 3.0).collect();
    for (text, is_one) in [
        ("u[1..3]*2 + u[1..3]*3", true),
        ("-sqrt(abs(u[1..3])) + mu*t/1[s]", true),
        ("if t > 1 then u[1..3] else u[1..3]", true),
        ("u[1..3] > 1", true),
        ("atan2(u[1..3], 2)^2", true),
        ("clamp(u[1..3], 0, 1)", true),
        ("u[1..3] + [1, 2]", false),
        ("concat(u[1..3], u[1..3])", false),
        ("(2*u[1..3])[0..1]", false),
    ] {
        let expression = Expression::parse(text, place(text)).unwrap();
        let many = expression.programs(&scope(), &mut Signals).expect(text);
        let one = expression.programs_of_each(&scope(), &mut Signals).expect(text);
        assert_eq!(one.each.is_some(), is_one, "{text}");
        let read = |slot: usize| slots[slot];
        let all: Vec<u64> = (0..one.each.unwrap_or(one.programs.len()))
            .map(|i| match one.each {
                Some(_) => one.programs[0].eval_deciding_at(i, read, |_, _, truth| truth),
                None => one.programs[i].eval(read),
            })
            .map(f64::to_bits)
            .collect();
        let each: Vec<u64> = many.programs.iter().map(|one| one.eval(read).to_bits()).collect();
        assert_eq!(all, each, "{text}");
        if is_one {
            assert_eq!(one.programs.len(), 1, "{text}");
            assert_eq!(one.units[0].is_some(), many.units[0].is_some(), "{text}");
        }
    }
    let norm = Expression::parse("norm(u[1..3])", place("norm(u[1..3])")).unwrap();
    let one = norm.programs_of_each(&scope(), &mut Signals).unwrap();
    assert!(!one.is_list && one.each.is_none());
}

#[test]
fn expressions_over_signals_are_checked() {
    let table = [
        ("foot[XX].gap", "no signal `foot[XX].gap`"),
        ("t > body.state.base.position[2]", "`>` of different units, left is in s, right in m"),
        (
            "go.feet[t]",
            "an index or count must be known before the run, this one depends on a signal",
        ),
        ("u[1..3]", "expected a number or a truth value, found a list of 2"),
        ("1 + ^on", "`+` does not apply to the number 1 and a truth value"),
        ("t^t", "expected an exponent without unit, found one in s"),
    ];
    for (text, message) in table {
        let expression = Expression::parse(text, place(text)).unwrap();
        let error = expression.compile(&scope(), &mut Signals).expect_err(text);
        assert_eq!(error.message, message, "{text}");
    }
    // Each level triples the code: refused, not endless.
    let text = "sum([1,1,1]*".repeat(20) + "t" + &")".repeat(20);
    let expression = Expression::parse(&text, place(&text)).unwrap();
    let error = expression.compile(&scope(), &mut Signals).unwrap_err();
    assert_eq!(error.code.name(), "expression-size");
}

/// `a` is 3, `b` is 0.5.
struct Two;

impl SignalResolver for Two {
    fn resolve(&mut self, path: &SignalPath) -> Result<Signal, Diagnostic> {
        let slot = u32::from(path.to_string() == "b");
        Ok(Signal::Real { slot, unit: None })
    }
}

fn judged(text: &str) -> (bool, Option<(f64, &'static str, f64, f64)>) {
    let expression = Expression::parse(text, place(text)).unwrap();
    let compiled = expression.compile(&scope(), &mut Two).expect(text);
    let read = |slot: usize| [3.0, 0.5][slot];
    let found = compiled.judge(read);
    assert_eq!(found.holds, compiled.test(read), "{text}");
    let one = found.decisive.map(|one| compiled.measured(&one, 0.0));
    (found.holds, one.map(|one| (one.measured, one.sign, one.bound, one.margin)))
}

#[test]
fn a_condition_names_the_comparison_that_decides_and_its_margin() {
    let table = [
        ("a < 2", false, Some((3.0, "<", 2.0, -1.0))),
        ("2 < a", true, Some((3.0, ">", 2.0, 1.0))),
        ("abs(b - a) <= 1 + b", false, Some((2.5, "<=", 1.5, -1.0))),
        ("a == 3", true, Some((3.0, "==", 3.0, 0.0))),
        ("a == b", false, Some((3.0, "==", 0.5, -2.5))),
        ("a != b", true, Some((3.0, "!=", 0.5, 2.5))),
        // The tightest of those that must hold, the loosest of those of which one must.
        ("a > 1 and b > 1 and a < 1", false, Some((3.0, "<", 1.0, -2.0))),
        ("a > 1 and b < 1", true, Some((0.5, "<", 1.0, 0.5))),
        ("a < 2 or b > 2", false, Some((3.0, "<", 2.0, -1.0))),
        ("a > 2 or b > 2", true, Some((3.0, ">", 2.0, 1.0))),
        ("not (a > 2)", false, Some((3.0, "<=", 2.0, -1.0))),
        ("not (a < 2 or b > 2)", true, Some((3.0, ">=", 2.0, 1.0))),
        ("if a > 2 then b > 2 else a < 1", false, Some((0.5, ">", 2.0, -1.5))),
        ("(a > 2) == (b > 2)", false, None),
    ];
    for (text, holds, decisive) in table {
        assert_eq!(judged(text), (holds, decisive), "{text}");
    }
}

/// By its definition the margin tells whether a condition holds, except on the bound.
#[test]
fn a_condition_holds_where_its_margin_is_positive() {
    let parts = ["a < 2", "b > 0.25", "a >= 2.5", "b != a", "a == 3", "not (b < 0.4)"];
    for a in parts {
        for b in parts {
            for text in [
                format!("{a} and {b}"),
                format!("{a} or not ({b})"),
                format!("not ({a} or {b})"),
                format!("if {a} then {b} else not ({b})"),
            ] {
                let (holds, decisive) = judged(&text);
                let margin = decisive.unwrap_or_else(|| panic!("{text}: no comparison")).3;
                assert!(margin == 0.0 || (margin > 0.0) == holds, "{text}: {margin}");
            }
        }
    }
}

/// The manual says what the evaluator does: every function and every operator has an example, which
/// uses it and holds.
#[test]
fn the_examples_of_functions_and_operators_hold() {
    let calls = functions().iter().map(|f| (format!("{}(", f.name), f.doc, f.example));
    let signs = operators().iter().map(|o| (o.written[0].to_owned(), o.doc, o.example));
    for (used, doc, example) in calls.chain(signs) {
        assert!(!doc.is_empty() && example.contains(&used), "{used} {doc}: {example}");
        let value = eval(example).unwrap_or_else(|error| panic!("{example}: {}", error.message));
        assert_eq!(value, Value::Bool(true), "{example}");
    }
}

#[test]
fn operators_have_one_way_each_however_they_are_written() {
    for operator in operators() {
        for other in operator.written {
            let written = operator.example.replace(operator.written[0], other);
            assert_eq!(eval(&written).unwrap(), Value::Bool(true), "{written}");
        }
    }
}

#[test]
fn an_expression_for_each_item_makes_a_list_or_a_record() {
    for (text, value) in [
        ("[2*x for x in [1, 2, 3]]", "[2, 4, 6]"),
        ("[x for x in [1, 2, 3] if x != 2]", "[1, 3]"),
        ("[x for x in []]", "[]"),
        ("[[x*y for y in [1, 2]] for x in [1, 10]]", "[[1, 2], [10, 20]]"),
        ("[5[cm]*x for x in [1, 2]]", "[5[cm], 10[cm]]"),
        ("{k: 1 for k in ['a', 'b']}.b", "1"),
        ("sum([x for x in [1[m], 2[m]] if x > 1.5[m]])", "2[m]"),
        ("[x for x in [1, 2]][1]", "2"),
        ("[1, 2 ,]", "[1, 2]"),
    ] {
        let eval =
            |text: &str| Expression::parse(text, Span::default()).unwrap().eval(&()).unwrap();
        assert_eq!(eval(text), eval(value), "{text}");
    }
}

#[test]
fn a_wrong_expression_for_each_is_told() {
    for (text, said) in [
        ("[x for if in [1]]", "expected a name for the items, found `if`"),
        ("[x for x of [1]]", "expected `in`, found `of`"),
        ("[x for x in 3]", "expected a list, found the number 3"),
        ("[x for x in [1] if x]", "expected a truth value"),
        ("[y for x in [1]]", "unknown name `y`"),
        ("{'a': x for x in [1, 2]}", "the key `a` is there twice"),
        ("{x: x for x in [1]}", "expected a text as key"),
        ("{'a': 1}", "expected `for`, found `}`"),
        ("[1[m] + x for x in [1[kg]]]", "`+` of different units"),
        ("[x for x in [1]", "expected `]`"),
        ("x for x in [1]", "expected an operator or the end"),
    ] {
        let outcome = Expression::parse(text, Span::default()).and_then(|found| found.eval(&()));
        let found = outcome.expect_err(text);
        assert!(found.message.starts_with(said), "{text}: {}", found.message);
    }
}

#[test]
fn expressions_for_each_are_bounded() {
    let list = format!("[{}]", vec!["1"; 100].join(", "));
    let text = format!("[[[[1 for a in {list}] for b in {list}] for c in {list}] for d in {list}]");
    let found = Expression::parse(&text, Span::default()).unwrap().eval(&()).unwrap_err();
    assert_eq!(found.code.name(), "expression-size");
}
