//! Derivatives that blocks offer against differences of these blocks.

use legwork_program::Program;

use super::{LinearOptions, Point};
use crate::fault::RunFault;

/// How far the derivative that a block offers is from differences of the block.
#[derive(Debug, Clone, PartialEq)]
pub struct SlopeCheck {
    /// Path of the block.
    pub path: String,
    /// Its kind.
    pub kind: &'static str,
    /// The largest difference between the two over the columns in which the block's differences
    /// are smooth, relative to the largest slope of its row or its column, or 1.
    pub error: f64,
}

/// Checks the derivatives that blocks offer, for who writes blocks: each against differences of the
/// block, over the states and the inputs of a continuous linearisation. The state is that of the
/// run, displaced by about `shift` of the size of each number, another way for each `seed`.
///
/// # Errors
/// A fault on the way, or at the displaced state.
pub fn check_slopes(
    program: &Program,
    options: &LinearOptions,
    (shift, seed): (f64, u32),
) -> Result<Vec<SlopeCheck>, RunFault> {
    let mut point = Point::reach(program, options)?;
    point.begin(false)?;
    let sizes = point.sizes();
    // Fractions of multiples of the golden ratio are spread evenly.
    let spread = |i: usize| (0.618_033_988_75 * (i as f64 + 17.0 * f64::from(seed))).fract();
    let coordinates = point.chart.len();
    let u: Vec<f64> =
        (0..coordinates).map(|i| shift * (1.0 + sizes[i]) * (2.0 * spread(i) - 1.0)).collect();
    let mut x = point.x.clone();
    point.chart.place(&u, &mut x);
    point.chart.centre(&x);
    let opened = point.open(&[]);
    let (origin, mut rates) = (vec![0.0; coordinates], vec![0.0; coordinates]);
    let of_blocks = point.simulation.rate_at(&mut point.chart, (&origin, &x), &mut rates)?;
    let chained = point.simulation.slopes(&point.chart, &opened, &of_blocks, true)?;
    let all = point.program.nodes.iter().zip(chained.errors);
    let checked = all.filter_map(|(node, error)| {
        Some(SlopeCheck { path: node.path.clone(), kind: node.kind, error: error? })
    });
    Ok(checked.collect())
}
