//! Functions of numbers.

use std::rc::Rc;

use super::value::Value;

/// Members of Python's `math`.
pub(super) const MATH: [&str; 56] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "comb",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "dist",
    "e",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "factorial",
    "floor",
    "fmod",
    "fsum",
    "gamma",
    "gcd",
    "hypot",
    "inf",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isqrt",
    "lcm",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "nan",
    "perm",
    "pi",
    "pow",
    "prod",
    "radians",
    "remainder",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tau",
    "trunc",
];

/// Value of a function of numbers.
///
/// # Errors
/// If it does not accept these arguments, or has no value for them.
pub(super) fn of_numbers(name: &str, given: &[Value]) -> Result<Value, String> {
    let wrong = || {
        let kinds: Vec<&str> = given.iter().map(Value::kind).collect();
        format!("{name}({})", kinds.join(", "))
    };
    if let Some(whole) = of_integers(name, given) {
        return whole.map(Value::Int).ok_or_else(wrong);
    }
    let numbers: Option<Vec<f64>> = given.iter().map(Value::number).collect();
    let numbers = numbers.ok_or_else(wrong)?;
    let value = match (name, &numbers[..]) {
        ("abs" | "fabs", [x]) => x.abs(),
        ("float", [x]) => *x,
        ("sin", [x]) => libm::sin(*x),
        ("cos", [x]) => libm::cos(*x),
        ("tan", [x]) => libm::tan(*x),
        ("asin", [x]) => libm::asin(*x),
        ("acos", [x]) => libm::acos(*x),
        ("atan", [x]) => libm::atan(*x),
        ("sinh", [x]) => libm::sinh(*x),
        ("cosh", [x]) => libm::cosh(*x),
        ("tanh", [x]) => libm::tanh(*x),
        ("atan2", [y, x]) => libm::atan2(*y, *x),
        ("hypot", [x, y]) => libm::hypot(*x, *y),
        ("pow", [x, y]) => libm::pow(*x, *y),
        ("fmod", [x, y]) => x % y,
        ("copysign", [x, y]) => x.copysign(*y),
        ("exp", [x]) => libm::exp(*x),
        ("log", [x]) => libm::log(*x),
        ("log", [x, base]) => libm::log(*x) / libm::log(*base),
        ("log10", [x]) => libm::log10(*x),
        ("radians", [x]) => x * (std::f64::consts::PI / 180.0),
        ("degrees", [x]) => x * (180.0 / std::f64::consts::PI),
        ("sqrt", [x]) => x.sqrt(),
        ("acosh", [x]) => libm::acosh(*x),
        ("asinh", [x]) => libm::asinh(*x),
        ("atanh", [x]) => libm::atanh(*x),
        ("cbrt", [x]) => libm::cbrt(*x),
        ("erf", [x]) => libm::erf(*x),
        ("erfc", [x]) => libm::erfc(*x),
        ("exp2", [x]) => libm::exp2(*x),
        ("expm1", [x]) => libm::expm1(*x),
        ("gamma", [x]) => libm::tgamma(*x),
        ("lgamma", [x]) => libm::lgamma(*x),
        ("log1p", [x]) => libm::log1p(*x),
        ("log2", [x]) => libm::log2(*x),
        ("remainder", [x, y]) => libm::remainder(*x, *y),
        ("hypot", all) => libm::sqrt(all.iter().map(|x| x * x).sum()),
        ("isclose", [x, y]) => {
            let most = 1e-9 * x.abs().max(y.abs());
            return Ok(Value::Bool(x == y || (x - y).abs() <= most));
        }
        ("modf", [x]) => {
            let (part, whole) = (x % 1.0, x.trunc());
            return Ok(Value::Tuple(Rc::new([Value::Float(part), Value::Float(whole)])));
        }
        ("isnan", [x]) => return Ok(Value::Bool(x.is_nan())),
        ("isinf", [x]) => return Ok(Value::Bool(x.is_infinite())),
        ("isfinite", [x]) => return Ok(Value::Bool(x.is_finite())),
        _ => return Err(wrong()),
    };
    // Python raises an error if there is no value.
    if value.is_nan() && numbers.iter().all(|x| !x.is_nan()) {
        return Err(format!("{name} has no value there"));
    }
    Ok(Value::Float(value))
}

/// Value of a function of integers: `None` for another name, `Some(None)` for arguments that are
/// not integers or a result outside of their range.
fn of_integers(name: &str, given: &[Value]) -> Option<Option<i64>> {
    if !matches!(name, "factorial" | "comb" | "perm" | "gcd" | "lcm" | "isqrt") {
        return None;
    }
    let numbers: Option<Vec<i64>> = given.iter().map(Value::int).collect();
    let gcd = |a: i64, b: i64| {
        let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        i64::try_from(a).ok()
    };
    // Falling products: more than 20 factors above 1 exceed the range.
    let falling = |from: i64, count: i64| {
        let mut product = 1_i64;
        for k in 0..count {
            product = product.checked_mul(from - k)?;
            if product == 0 {
                return Some(0);
            }
        }
        Some(product)
    };
    Some(numbers.and_then(|numbers| match (name, &numbers[..]) {
        ("factorial", [n]) if *n >= 0 => falling(*n, *n),
        ("perm", [n]) if *n >= 0 => falling(*n, *n),
        ("perm", [n, k]) if *n >= 0 && *k >= 0 => falling(*n, *k),
        ("comb", [n, k]) if *n >= 0 && *k >= 0 => {
            let count = (*k).min(n - k);
            let mut product = i64::from(count >= 0);
            for i in 0..count {
                product = product.checked_mul(n - i)? / (i + 1);
            }
            Some(product)
        }
        ("gcd", all) => all.iter().try_fold(0, |a, b| gcd(a, *b)),
        ("lcm", all) => all.iter().try_fold(1_i64, |a, b| match gcd(a, *b)? {
            0 => Some(0),
            common => (a / common).checked_mul(*b)?.checked_abs(),
        }),
        #[expect(clippy::cast_possible_truncation, reason = "a root is smaller")]
        #[expect(clippy::cast_precision_loss, reason = "corrected below")]
        ("isqrt", [n]) if *n >= 0 => {
            let mut root = (*n as f64).sqrt() as i64;
            while root.checked_mul(root).is_none_or(|square| square > *n) {
                root -= 1;
            }
            while (root + 1).checked_mul(root + 1).is_some_and(|square| square <= *n) {
                root += 1;
            }
            Some(root)
        }
        _ => None,
    }))
}
