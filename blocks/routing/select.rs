//! `Select`: some elements of a vector.

use legwork_block::{
    Inputs, Invalid, Outcome, Outputs, Pure, Sizes, Slope, Slopes, Vector, block, parameters, ports,
};

/// Some elements of a vector, in any order: `yᵢ = u[indicesᵢ]`.
///
/// An index may be given more than once. Elements that follow one another need no block: write the
/// path `"block.y[2..5]"`, or `"block.y[2]"` for a number.
#[ports(
    let unit = ports.var();
    in  u: Vector::of(ports.dim()), unit, "the vector", units "any",
        shape "vector of more elements than the greatest index";
    out y: Vector::of(self.indices.len()), unit, "the selected elements", units "that of `u`",
        shape "vector, one element for each index";
)]
#[parameters(aliases("demux", "selector", "index"))]
pub struct Select {
    /// Which elements, counted from 0.
    pub indices: Vec<usize>,
}

#[block]
impl Pure for Select {
    fn check(&self, io: &SelectPorts, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let n = sizes.input(io.u);
        match self.indices.iter().find(|&&index| index >= n) {
            None => Ok(()),
            Some(index) => Err(Invalid::parameter(
                "indices",
                format!("expected indices below the length {n} of `u`, found {index}"),
            )),
        }
    }

    fn output(&self, io: &SelectPorts, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let u = inp.get(io.u);
        for (y, &index) in out.get(io.y).iter_mut().zip(&self.indices) {
            *y = u[index];
        }
        Ok(())
    }

    fn slopes(&self, io: &SelectPorts, _: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let (y, u) = (slopes.rows(io.y, 0), slopes.columns(io.u, 0));
        for (i, index) in self.indices.iter().enumerate() {
            slopes.add((y, i), (u, *index), 1.0);
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn elements_come_in_the_order_of_the_indices() {
        let select: Select = block(json!({ "indices": [2, 0, 2] }));
        let mut bench = Bench::new(select, &[Type::vector(3)]).expect("a selection");
        assert_eq!(bench.y(0.0, &[("u", &[10.0, 11.0, 12.0])]), [12.0, 10.0, 12.0]);
    }

    #[test]
    fn indices_stay_inside_the_input() {
        let select: Select = block(json!({ "indices": [0, 3] }));
        let message = refusal(select, &[Type::vector(3)]);
        assert_eq!(message, "expected indices below the length 3 of `u`, found 3");
    }
}
