//! How far apart signals may be.

use legwork_block::{Unit, nearest, parse_quantity, parse_unit};
use legwork_runtime::comparison::{Quantity, Tolerance};

use crate::error::Error;

/// The tolerance between solvers of one problem, where the request gives none: a share of a
/// signal's range.
const DEFAULT: f64 = 1e-6;

/// One `--tol`.
struct Given {
    /// Which signal; none for all.
    signal: Option<String>,
    value: f64,
    /// Its unit; none for a share of the signal's range.
    unit: Option<Unit>,
    text: String,
}

/// The tolerances of quantities.
///
/// # Errors
/// If a text is no tolerance, or means no quantity; if none is given for a quantity and `different`
/// says why a default would make no sense.
pub(super) fn tolerances(
    texts: &[String],
    quantities: &[Quantity],
    different: Option<&str>,
) -> Result<Vec<Tolerance>, Error> {
    let found = stated(texts, quantities)?;
    let without = quantities.iter().zip(&found).find(|(_, found)| found.is_none());
    if let (Some(reason), Some((quantity, _))) = (different, without) {
        return Err(Error::request(must_be_given(reason, quantity)));
    }
    Ok(found.into_iter().map(|one| one.unwrap_or(Tolerance::Relative(DEFAULT))).collect())
}

/// The tolerances that the request gives; none where it says nothing.
///
/// # Errors
/// If a text is no tolerance, or means no quantity.
pub(super) fn stated(
    texts: &[String],
    quantities: &[Quantity],
) -> Result<Vec<Option<Tolerance>>, Error> {
    let given = texts.iter().map(|text| parse(text)).collect::<Result<Vec<Given>, Error>>()?;
    for one in &given {
        if !quantities.iter().any(|quantity| one.means(quantity).is_some()) {
            return Err(Error::request(means_nothing(one, quantities)));
        }
    }
    Ok(quantities.iter().map(|quantity| tolerance(&given, quantity)).collect())
}

fn parse(text: &str) -> Result<Given, Error> {
    let (signal, value) = match text.rsplit_once('=') {
        Some((signal, value)) => (Some(signal.trim().to_owned()), value),
        None => (None, text),
    };
    let wrong = |why: &str| {
        Error::request(format!(
            "expected a tolerance such as `1e-6` or `1 mm`, found `{text}`{why}"
        ))
    };
    let (value, unit) =
        parse_quantity(value).map_err(|error| wrong(&format!(": {}", error.message)))?;
    if !(value >= 0.0 && value.is_finite()) {
        return Err(wrong(", which is not zero or more"));
    }
    Ok(Given { signal, value, unit, text: text.to_owned() })
}

/// The tolerance of a quantity: of those that name its signal the one that names most of it, then
/// those with its unit, then those for all; the last of equals.
fn tolerance(given: &[Given], quantity: &Quantity) -> Option<Tolerance> {
    let rank = |one: &Given| match (&one.signal, one.unit) {
        (Some(signal), _) => 2 + signal.len(),
        (None, Some(_)) => 1,
        (None, None) => 0,
    };
    let fitting = given.iter().filter_map(|one| Some((rank(one), one.means(quantity)?)));
    fitting.max_by_key(|(rank, _)| *rank).map(|(_, tolerance)| tolerance)
}

impl Given {
    /// What it says of a quantity, if it says anything.
    fn means(&self, quantity: &Quantity) -> Option<Tolerance> {
        let named = self.signal.as_ref().map(|signal| {
            let rest = quantity.name.strip_prefix(signal.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        let unit = quantity.unit.as_deref().and_then(|text| parse_unit(text).ok());
        let fits = match (self.unit, unit) {
            (None, _) => true,
            (Some(own), Some((unit, _))) => own.agrees(unit),
            // A signal that says no unit takes any, if it is meant by name.
            (Some(_), None) => named == Some(true),
        };
        (fits && named != Some(false)).then_some(match self.unit {
            None => Tolerance::Relative(self.value),
            Some(_) => Tolerance::Absolute(self.value),
        })
    }
}

fn means_nothing(given: &Given, quantities: &[Quantity]) -> String {
    let names: Vec<&str> = quantities.iter().map(|quantity| quantity.name.as_str()).collect();
    let text = &given.text;
    match &given.signal {
        Some(signal) => {
            let of_name = |q: &&Quantity| Given { unit: None, ..given.again() }.means(q).is_some();
            if let Some(quantity) = quantities.iter().find(of_name) {
                let unit = quantity.unit.as_deref().unwrap_or("1");
                return format!(
                    "the unit of the tolerance `{text}` does not fit `{signal}`, in {unit}"
                );
            }
            let hint = match nearest(signal, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", names.join("`, `")),
            };
            format!("the tolerance `{text}` names no signal that is compared; {hint}")
        }
        None => {
            format!("the tolerance `{text}` fits no signal that is compared: none has such a unit")
        }
    }
}

impl Given {
    fn again(&self) -> Self {
        let (signal, text) = (self.signal.clone(), self.text.clone());
        Self { signal, text, ..*self }
    }
}

fn must_be_given(reason: &str, quantity: &Quantity) -> String {
    let name = &quantity.name;
    let unit = quantity.unit.as_deref().filter(|unit| *unit != "1");
    let with_unit =
        unit.map_or(String::new(), |unit| format!(", `0.01 {unit}` for all signals in {unit}"));
    format!(
        "these choices solve different problems: {reason}. Their results differ by more than a \
         solver's accuracy, so tolerances have no default: say how far apart they may be. There is \
         none for `{name}`: `0.01` is a share of each signal's range{with_unit}, `{name}=0.01` for \
         this one"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(name: &str, unit: Option<&str>) -> Quantity {
        let unit = unit.map(str::to_owned);
        Quantity { channel: 0, name: name.into(), unit, elements: vec![name.into()], start: 0 }
    }

    fn some() -> Vec<Quantity> {
        vec![
            quantity("body.state.base.position", Some("m")),
            quantity("body.state.s", None),
            quantity("contact.f", Some("N")),
        ]
    }

    fn find(texts: &[&str], different: Option<&str>) -> Result<Vec<Tolerance>, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        tolerances(&texts, &some(), different).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_closest_tolerance_wins() {
        use Tolerance::{Absolute, Relative};
        assert_eq!(find(&[], None).unwrap(), [Relative(1e-6); 3]);
        let found = find(&["1 mm", "1e-3", "body.state=1e-9", "contact.f=2 N"], Some("x"));
        assert_eq!(found.unwrap(), [Relative(1e-9), Relative(1e-9), Absolute(2.0)]);
        let found = find(&["1 mm", "1e-3", "1e-4"], Some("x"));
        assert_eq!(found.unwrap(), [Absolute(1e-3), Relative(1e-4), Relative(1e-4)]);
        assert_eq!(
            find(&["body.state.s=1 deg", "0"], None).unwrap()[1],
            Absolute(1f64.to_radians())
        );
    }

    #[test]
    fn different_problems_have_no_default() {
        let message = find(&["1 mm"], Some("`spring` is there only with `hertz`")).unwrap_err();
        for part in ["different problems", "`spring`", "`body.state.s`", "tolerances"] {
            assert!(message.contains(part), "no {part} in {message}");
        }
        assert!(find(&["body.state=1e-3", "contact.f=1e-2"], Some("x")).is_ok());
    }

    #[test]
    fn what_means_no_signal_is_refused() {
        let message = find(&["contact.g=1"], None).unwrap_err();
        assert!(message.contains("did you mean `contact.f`?"), "{message}");
        assert!(find(&["1 kg"], None).unwrap_err().contains("none has such a unit"));
        assert!(find(&["contact.f=1 m"], None).unwrap_err().contains("does not fit"));
        for bad in ["", "-1", "nan", "inf", "contact.f=", "1 parsec", "x"] {
            assert!(find(&[bad], None).is_err(), "`{bad}` was taken");
        }
    }
}
