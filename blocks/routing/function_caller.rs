//! `FunctionCaller`: calls a function with the values on its wires.

use legwork_block::{
    Any, Argument, Block, Function, In, Invalid, Out, Outcome, OutputCx, Ports, ResultOf, block,
    parameters,
};

/// Calls a function once per output, with its inputs as the arguments.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in one per argument | any | | value of the argument |
/// | out one per result | any | | value of the result |
///
/// The prototype names the function, its arguments and its results; their types come from what the
/// block is connected to and from what `needs:` binds to the function. Two callers of one solver
/// have two memories: neither sees the other's warm start.
#[parameters(aliases("call"))]
pub struct FunctionCaller {
    /// The call as text: `"f = solve(problem)"`, `"[x, y] = g(u, v)"`.
    pub prototype: String,
}

/// Ports, and what each is on the other side of the call.
pub struct Plan {
    function: Function,
    arguments: Vec<(In<Any>, Argument<Any>)>,
    results: Vec<(ResultOf<Any>, Out<Any>)>,
}

impl FunctionCaller {
    /// Name, arguments and results of the prototype.
    fn parts(&self) -> Option<(&str, Vec<&str>, Vec<&str>)> {
        let (results, call) = self.prototype.split_once('=')?;
        let (name, arguments) = call.trim().split_once('(')?;
        let arguments = names(arguments.strip_suffix(')')?)?;
        let results = results.trim();
        let results = match results.strip_prefix('[') {
            Some(list) => names(list.strip_suffix(']')?)?,
            None => names(results)?,
        };
        let name = name.trim();
        (is_name(name) && !results.is_empty()).then_some((name, arguments, results))
    }
}

fn is_name(text: &str) -> bool {
    let letters = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(letters) && text.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

/// Different names between commas.
fn names(list: &str) -> Option<Vec<&str>> {
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    let good = |(i, name): (usize, &&str)| is_name(name) && !names[..i].contains(name);
    names.iter().enumerate().all(good).then_some(names)
}

#[block]
impl Block for FunctionCaller {
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let Some((name, arguments, results)) = self.parts() else {
            let message =
                format!("expected a call with different names, found `{}`", self.prototype);
            return Err(Invalid::parameter("prototype", message)
                .hint("write \"f = solve(problem)\" or \"[x, y] = g(u, v)\""));
        };
        let function = ports.function(name);
        let mut plan = Plan { function, arguments: Vec::new(), results: Vec::new() };
        for name in arguments {
            let (ty, unit) = (Any::var(ports.var()), ports.var());
            let input = ports.input(name.to_owned(), &ty);
            ports.note_in(input).same_unit(unit);
            let argument = ports.argument(function, name.to_owned(), &ty);
            ports.note_argument(argument).same_unit(unit).may_be_infinite();
            plan.arguments.push((input, argument));
        }
        for name in results {
            let (ty, unit) = (Any::var(ports.var()), ports.var());
            let result = ports.result(function, name.to_owned(), &ty);
            ports.note_result(result).same_unit(unit);
            let output = ports.output(name.to_owned(), &ty);
            ports.note_out(output).same_unit(unit);
            plan.results.push((result, output));
        }
        Ok(plan)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let mut call = cx.functions.of(plan.function);
        for &(input, argument) in &plan.arguments {
            call.copy(argument, &cx.inputs, input);
        }
        let results = call.run()?;
        for &(result, output) in &plan.results {
            for leaf in 0..results.leaf_count(result) {
                cx.outputs.leaf(output, leaf).copy_from_slice(results.leaf(result, leaf));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::refusal;

    #[test]
    fn a_prototype_names_function_arguments_and_results() {
        let parts = |prototype: &str| {
            let caller = FunctionCaller { prototype: prototype.to_owned() };
            caller.parts().map(|(name, arguments, results)| {
                format!("{name}: {} -> {}", arguments.join(" "), results.join(" "))
            })
        };
        assert_eq!(parts("f = solve(problem)").as_deref(), Some("solve: problem -> f"));
        assert_eq!(parts("[x, y]=g( u , v )").as_deref(), Some("g: u v -> x y"));
        assert_eq!(parts("y = now()").as_deref(), Some("now:  -> y"));
        for bad in [
            "",
            "f(u)",
            "= f(u)",
            "[] = f(u)",
            "y = f(u",
            "y = (u)",
            "[y, y] = f(u)",
            "y = f(u,)",
            "1y = f(u)",
            "y == f(u)",
        ] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_prototype_that_is_none_is_refused() {
        let message = refusal(FunctionCaller { prototype: "f(u)".into() }, &[]);
        assert!(message.contains("`f(u)`"), "{message}");
    }
}
