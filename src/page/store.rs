//! The samples of one signal, bounded: what is old is thinned, and no spike is lost.

/// Numbers of a store, times included, from which its older half is thinned.
const MOST_NUMBERS: usize = 1 << 20;

/// Rows in ascending time: a time [s] and so many numbers each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Store {
    leaves: usize,
    t: Vec<f64>,
    values: Vec<f64>,
    thinned: bool,
}

/// Rows that are taken out of a store.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Rows {
    pub(crate) t: Vec<f64>,
    /// Row by row.
    pub(crate) values: Vec<f64>,
    pub(crate) thinned: bool,
}

impl Store {
    pub(crate) fn new(leaves: usize) -> Self {
        Self { leaves, ..Self::default() }
    }

    pub(crate) fn leaves(&self) -> usize {
        self.leaves
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.t.len()
    }

    pub(crate) fn first(&self) -> Option<f64> {
        self.t.first().copied()
    }

    pub(crate) fn last(&self) -> Option<f64> {
        self.t.last().copied()
    }

    /// Appends a row, in place of those that are not before it.
    pub(crate) fn push<'a>(&mut self, t: f64, leaves: impl Iterator<Item = &'a [f64]>) {
        if self.last().is_some_and(|last| last >= t) {
            self.cut(t);
        }
        self.t.push(t);
        leaves.for_each(|leaf| self.values.extend_from_slice(leaf));
        if self.t.len() * (self.leaves + 1) > MOST_NUMBERS {
            self.shrink();
        }
    }

    /// Takes back the rows at and after `t`.
    pub(crate) fn cut(&mut self, t: f64) {
        let len = self.t.partition_point(|known| *known < t);
        self.t.truncate(len);
        self.values.truncate(len * self.leaves);
    }

    /// Puts rows in front; those that are not before its own are left out.
    pub(crate) fn prepend(&mut self, mut past: Self) {
        if let Some(first) = self.first() {
            past.cut(first);
        }
        past.t.append(&mut self.t);
        past.values.append(&mut self.values);
        past.thinned |= self.thinned;
        *self = past;
        if self.t.len() * (self.leaves + 1) > MOST_NUMBERS {
            self.shrink();
        }
    }

    /// The rows from `t` on, or after it, thinned to at most about `most` numbers.
    pub(crate) fn rows(&self, t: f64, including: bool, most: usize) -> Rows {
        let from = self.t.partition_point(|known| *known < t || (!including && *known == t));
        let (times, values) = (&self.t[from..], &self.values[from * self.leaves..]);
        let width = self.leaves + 1;
        if times.len() * width <= most {
            return Rows { t: times.to_vec(), values: values.to_vec(), thinned: self.thinned };
        }
        let buckets = (most / (2 * width)).max(1);
        let (t, values) = thin(times, values, self.leaves, buckets);
        Rows { t, values, thinned: true }
    }

    /// Thins the older half to a quarter.
    fn shrink(&mut self) {
        let half = self.t.len() / 2;
        let (old, rest) = self.values.split_at(half * self.leaves);
        let (mut t, mut values) = thin(&self.t[..half], old, self.leaves, (half / 8).max(1));
        t.extend_from_slice(&self.t[half..]);
        values.extend_from_slice(rest);
        (self.t, self.values, self.thinned) = (t, values, true);
    }
}

/// Two rows for each of so many stretches, at its first and last time: of each number the least and
/// the largest value, in the order in which they came. A value that is no number is kept before all
/// others. The last row stays as it is.
pub(crate) fn thin(
    t: &[f64],
    values: &[f64],
    leaves: usize,
    buckets: usize,
) -> (Vec<f64>, Vec<f64>) {
    let body = t.len().saturating_sub(1);
    let size = body.div_ceil(buckets).max(1);
    let (mut times, mut out) = (Vec::new(), Vec::new());
    let mut from = 0;
    while from < body {
        let to = (from + size).min(body);
        if to - from <= 2 {
            times.extend_from_slice(&t[from..to]);
            out.extend_from_slice(&values[from * leaves..to * leaves]);
        } else {
            times.extend([t[from], t[to - 1]]);
            let at = out.len();
            out.resize(at + 2 * leaves, 0.0);
            for leaf in 0..leaves {
                let value = |row: usize| values[row * leaves + leaf];
                let (first, second) = extremes(from..to, value);
                out[at + leaf] = value(first);
                out[at + leaves + leaf] = value(second);
            }
        }
        from = to;
    }
    if body < t.len() {
        times.push(t[body]);
        out.extend_from_slice(&values[body * leaves..]);
    }
    (times, out)
}

/// The rows of the least and of the largest value, in order; a NaN is either.
fn extremes(rows: std::ops::Range<usize>, value: impl Fn(usize) -> f64) -> (usize, usize) {
    let (mut least, mut largest) = (rows.start, rows.start);
    for row in rows {
        let new = value(row);
        if new.is_nan() {
            return (least.min(largest).min(row), row);
        }
        if new < value(least) {
            least = row;
        }
        if new > value(largest) {
            largest = row;
        }
    }
    (least.min(largest), least.max(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(rows: usize, value: impl Fn(usize) -> [f64; 2]) -> Store {
        let mut store = Store::new(2);
        for row in 0..rows {
            store.push(row as f64, std::iter::once(&value(row)[..]));
        }
        store
    }

    #[test]
    fn a_store_keeps_its_bound_and_every_spike() {
        let rows = 3_000_000;
        let spike =
            |row: usize| if row == 1234 { [-7.0, 0.0] } else { [0.0, f64::from(row == 99)] };
        let store = store(rows, spike);
        assert!(store.len() * 3 <= MOST_NUMBERS, "{}", store.len());
        assert_eq!((store.first(), store.last()), (Some(0.0), Some((rows - 1) as f64)));
        let rows = store.rows(0.0, true, 1000);
        assert!(rows.thinned && rows.t.len() * 3 <= 1003, "{}", rows.t.len());
        let least = rows.values.iter().step_by(2).copied().fold(f64::INFINITY, f64::min);
        let largest = rows.values.iter().skip(1).step_by(2).copied().fold(0.0, f64::max);
        assert_eq!((least, largest), (-7.0, 1.0));
        assert!(rows.t.is_sorted());
    }

    #[test]
    fn a_value_that_is_no_number_is_kept() {
        let values: Vec<f64> = (0..100).map(|i| if i == 41 { f64::NAN } else { 1.0 }).collect();
        let t: Vec<f64> = (0..100).map(f64::from).collect();
        let (_, thinned) = thin(&t, &values, 1, 5);
        assert_eq!(thinned.iter().filter(|value| value.is_nan()).count(), 1, "{thinned:?}");
    }

    #[test]
    fn a_run_that_goes_back_takes_its_rows_back() {
        let mut store = store(10, |row| [row as f64; 2]);
        store.push(4.0, std::iter::once(&[-4.0, -4.0][..]));
        assert_eq!((store.len(), store.last()), (5, Some(4.0)));
        let rows = store.rows(3.0, false, 100);
        assert_eq!((rows.t, rows.values, rows.thinned), (vec![4.0], vec![-4.0, -4.0], false));
        let mut late = Store::new(2);
        late.push(4.0, std::iter::once(&[9.0, 9.0][..]));
        late.prepend(store);
        assert_eq!((late.len(), late.rows(4.0, true, 9).values), (5, vec![9.0, 9.0]));
    }
}
