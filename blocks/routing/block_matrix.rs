//! `BlockMatrix`: a matrix made of matrices.

use legwork_block::{
    Any, Block, Dim, Invalid, Outcome, OutputCx, Ports, Sizes, Type, block, parameters, ports,
};

/// A matrix made of matrices, as it is written on paper.
///
/// `layout: [["M", "-J'"], ["J", "0"]]` has two rows of blocks.
///
/// | written | block |
/// |---|---|
/// | `"J"` | the input `J` |
/// | `"J'"` | its transpose |
/// | `"-J"`, `"-J'"` | the negative of these |
/// | `"1"`, `"-1"` | the identity, of as many rows as columns |
/// | `"0"` | zeros |
///
/// Blocks beside one another have as many rows, blocks below one another as many columns. An input
/// may be written several times.
#[ports(
    |blocks: &[(String, Type)], whole: Type|
    in  blocks[(name, ty) in blocks]: Any(ty.clone()), _, "the blocks",
        named "as in `layout`", shape "matrix", units "any, not kept";
    out y: Any(whole), _, "the matrix", shape "matrix of all rows and columns", units "not kept";
)]
#[parameters(aliases("matrix concatenate", "hstack", "vstack", "horzcat", "vertcat", "blkdiag"))]
pub struct BlockMatrix {
    /// The blocks, row by row: names of inputs, with `-` in front and `'` behind, `"1"`, `"0"`.
    pub layout: Vec<Vec<String>>,
}

/// What stands in a place of the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Zero,
    Identity,
    /// Which input, and whether it is transposed.
    Input(usize, bool),
}

/// A place of the layout: its row and column, and what stands there with which sign.
#[derive(Debug, Clone, Copy)]
struct Cell {
    row: usize,
    column: usize,
    source: Source,
    sign: f64,
}

/// Ports and places of a [`BlockMatrix`].
pub struct Plan {
    io: BlockMatrixPorts,
    cells: Vec<Cell>,
    heights: Vec<Dim>,
    widths: Vec<Dim>,
}

/// Where the rows and columns of blocks begin, and at last where they end.
pub struct Scratch {
    rows: Vec<usize>,
    columns: Vec<usize>,
}

/// The names of the inputs, in the order in which they are first written, and the cells.
fn read(layout: &[Vec<String>]) -> Result<(Vec<String>, Vec<Cell>), String> {
    let width = layout.first().map_or(0, Vec::len);
    if width == 0 {
        return Err("expected rows of blocks, found none".to_owned());
    }
    let (mut names, mut cells): (Vec<String>, Vec<Cell>) = (Vec::new(), Vec::new());
    for (row, blocks) in layout.iter().enumerate() {
        if blocks.len() != width {
            let count = blocks.len();
            return Err(format!(
                "expected {width} blocks in row {row}, as in row 0, found {count}"
            ));
        }
        for (column, written) in blocks.iter().enumerate() {
            let (sign, rest) = match written.strip_prefix('-') {
                Some(rest) => (-1.0, rest),
                None => (1.0, written.as_str()),
            };
            let (name, transposed) = match rest.strip_suffix('\'') {
                Some(name) => (name, true),
                None => (rest, false),
            };
            let source = match rest {
                "0" => Source::Zero,
                "1" => Source::Identity,
                _ if is_name(name) => {
                    let known = names.iter().position(|known| known == name);
                    let input = known.unwrap_or_else(|| {
                        names.push(name.to_owned());
                        names.len() - 1
                    });
                    Source::Input(input, transposed)
                }
                _ => {
                    return Err(format!(
                        "expected a name as in `J`, `J'`, `-J`, or `1`, `0`, found `{written}`"
                    ));
                }
            };
            cells.push(Cell { row, column, source, sign });
        }
    }
    Ok((names, cells))
}

/// Whether `text` is a letter and then letters, digits and _.
fn is_name(text: &str) -> bool {
    text.starts_with(char::is_alphabetic) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// For each of the heights and then the widths of a layout: the first that is equal to it.
fn equal_sizes(heights: usize, widths: usize, cells: &[Cell], inputs: usize) -> Vec<usize> {
    let mut class: Vec<usize> = (0..heights + widths).collect();
    let mut join = |a: usize, b: usize| {
        let (a, b) = (class[a].min(class[b]), class[a].max(class[b]));
        class.iter_mut().filter(|of| **of == b).for_each(|of| *of = a);
    };
    let mut known: Vec<Option<(usize, usize)>> = vec![None; inputs];
    for cell in cells {
        let (height, width) = (cell.row, heights + cell.column);
        match cell.source {
            Source::Zero => {}
            Source::Identity => join(height, width),
            Source::Input(input, transposed) => {
                let size = if transposed { (width, height) } else { (height, width) };
                let first = *known[input].get_or_insert(size);
                join(first.0, size.0);
                join(first.1, size.1);
            }
        }
    }
    class
}

#[block]
impl Block for BlockMatrix {
    type Plan = Plan;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let invalid = |message| Invalid::parameter("layout", message);
        let (names, cells) = read(&self.layout).map_err(invalid)?;
        let rows = self.layout.len();
        let class = equal_sizes(rows, self.layout[0].len(), &cells, names.len());
        let mut has_size = vec![false; class.len()];
        let mut blocks: Vec<Option<(usize, usize)>> = vec![None; names.len()];
        for cell in &cells {
            if let Source::Input(input, transposed) = cell.source {
                let (height, width) = (class[cell.row], class[rows + cell.column]);
                (has_size[height], has_size[width]) = (true, true);
                let size = if transposed { (width, height) } else { (height, width) };
                blocks[input].get_or_insert(size);
            }
        }
        if let Some(open) = class.iter().position(|&class| !has_size[class]) {
            let what = if open < rows { ("row", open) } else { ("column", open - rows) };
            let message = format!("expected an input in {} {}, whose size is open", what.0, what.1);
            return Err(invalid(message));
        }
        let dims: Vec<Dim> = class.iter().map(|_| ports.dim()).collect();
        let sizes: Vec<Dim> = class.iter().map(|&class| dims[class].clone()).collect();
        let blocks: Vec<(String, Type)> = names
            .into_iter()
            .zip(blocks.into_iter().flatten())
            .map(|(name, (height, width))| (name, Type::matrix(&dims[height], &dims[width])))
            .collect();
        let (heights, widths) = sizes.split_at(rows);
        let total =
            |sizes: &[Dim]| sizes.iter().fold(Dim::fixed(0), |sum, size| sum + size.clone());
        let whole = Type::matrix(total(heights), total(widths));
        let io = self.declare(ports, &blocks, whole);
        Ok(Plan { io, cells, heights: heights.to_vec(), widths: widths.to_vec() })
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let starts = |dims: &[Dim]| {
            let mut starts = vec![0];
            for dim in dims {
                starts.push(starts[starts.len() - 1] + sizes.dim(dim));
            }
            starts
        };
        Scratch { rows: starts(&plan.heights), columns: starts(&plan.widths) }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { rows, columns } = cx.scratch;
        let stride = rows[rows.len() - 1];
        let y = cx.outputs.get(plan.io.y);
        for cell in &plan.cells {
            let (top, height) = (rows[cell.row], rows[cell.row + 1] - rows[cell.row]);
            let left = columns[cell.column];
            let width = columns[cell.column + 1] - left;
            let input = match cell.source {
                Source::Input(input, _) => cx.inputs.get(plan.io.blocks[input]).leaf(0),
                _ => &[],
            };
            for j in 0..width {
                let to = &mut y[(left + j) * stride + top..][..height];
                match cell.source {
                    Source::Zero => to.fill(0.0),
                    Source::Identity => {
                        to.fill(0.0);
                        to[j] = cell.sign;
                    }
                    Source::Input(_, true) => {
                        for (i, to) in to.iter_mut().enumerate() {
                            *to = cell.sign * input[i * width + j];
                        }
                    }
                    Source::Input(_, false) => {
                        let from = &input[j * height..(j + 1) * height];
                        for (to, from) in to.iter_mut().zip(from) {
                            *to = cell.sign * from;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn of(layout: &Value) -> BlockMatrix {
        block(json!({ "layout": layout }))
    }

    /// M = [1 2; 3 4], J = [5 6]: [M −Jᵀ 0; J 0 1], column by column.
    #[test]
    fn blocks_stand_where_they_are_written() {
        let matrix = of(&json!([["M", "-J'", "0"], ["J", "0", "1"]]));
        let mut bench =
            Bench::new(matrix, &[Type::matrix(2, 2), Type::matrix(1, 2)]).expect("a matrix");
        let y = bench.y(0.0, &[("M", &[1.0, 3.0, 2.0, 4.0]), ("J", &[5.0, 6.0])]);
        let columns = [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0], [-5.0, -6.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(y, columns.concat());
    }

    /// Rows and columns are found from the inputs, wherever these stand.
    #[test]
    fn sizes_follow_from_the_inputs() {
        let diagonal = of(&json!([["A", "0"], ["0", "B"]]));
        let bench =
            Bench::new(diagonal, &[Type::matrix(2, 1), Type::matrix(1, 3)]).expect("a matrix");
        assert_eq!(bench.declaration.outputs[0].ty.to_string(), "Matrix(?0 + ?1, ?2 + ?3)");
        // A matrix beside its transpose is square, and so is the identity above it.
        let square = Bench::new(of(&json!([["1"], ["A"], ["-A'"]])), &[Type::matrix(2, 2)]);
        let y = square.expect("a matrix").y(0.0, &[("A", &[1.0, 3.0, 2.0, 4.0])]);
        assert_eq!(y, [1.0, 0.0, 1.0, 3.0, -1.0, -2.0, 0.0, 1.0, 2.0, 4.0, -3.0, -4.0]);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let refused = |layout: Value| refusal(of(&layout), &[]);
        assert_eq!(refused(json!([])), "expected rows of blocks, found none");
        assert_eq!(
            refused(json!([["A", "B"], ["C"]])),
            "expected 2 blocks in row 1, as in row 0, found 1"
        );
        assert_eq!(
            refused(json!([["2"]])),
            "expected a name as in `J`, `J'`, `-J`, or `1`, `0`, found `2`"
        );
        assert_eq!(
            refused(json!([["A", "0"], ["0", "0"]])),
            "expected an input in row 1, whose size is open"
        );
    }
}
