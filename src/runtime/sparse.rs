//! Sparse rows of slopes: of one number, over the columns of a linearisation.

/// Slopes over columns, in the order of the columns; those that are left out are zero.
pub(crate) type Row = Vec<(u32, f64)>;

/// A sum of rows, each times a factor.
pub(crate) struct RowSum {
    /// The sum, column by column.
    values: Vec<f64>,
    is_there: Vec<bool>,
    /// The columns that are there.
    columns: Vec<u32>,
}

impl RowSum {
    /// Nothing, of so many columns.
    pub(crate) fn new(columns: usize) -> Self {
        Self { values: vec![0.0; columns], is_there: vec![false; columns], columns: Vec::new() }
    }

    /// Adds a slope over one column.
    pub(crate) fn add_one(&mut self, column: u32, slope: f64) {
        let place = column as usize;
        if !self.is_there[place] {
            self.is_there[place] = true;
            self.columns.push(column);
        }
        self.values[place] += slope;
    }

    /// Adds `factor` times a row.
    pub(crate) fn add(&mut self, row: &Row, factor: f64) {
        for (column, slope) in row {
            self.add_one(*column, factor * slope);
        }
    }

    /// The sum as a row; then it is nothing again.
    pub(crate) fn take(&mut self) -> Row {
        self.columns.sort_unstable();
        let mut row = Vec::with_capacity(self.columns.len());
        for column in self.columns.drain(..) {
            let place = column as usize;
            let slope = std::mem::take(&mut self.values[place]);
            self.is_there[place] = false;
            if slope != 0.0 {
                row.push((column, slope));
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_holds_what_is_not_zero_in_the_order_of_columns() {
        let mut sum = RowSum::new(4);
        sum.add(&vec![(1, 2.0), (3, 1.0)], 2.0);
        sum.add(&vec![(0, 1.0), (3, 1.0)], -2.0);
        assert_eq!(sum.take(), [(0, -2.0), (1, 4.0)]);
        assert_eq!(sum.take(), []);
    }
}
