//! The samples of one signal, bounded: what is old is thinned, and no spike is lost.

use std::borrow::Cow;

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

/// Rows that are taken out of a store; copies if they had to be thinned.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Rows<'s> {
    pub(crate) t: Cow<'s, [f64]>,
    /// Row by row.
    pub(crate) values: Cow<'s, [f64]>,
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
    pub(crate) fn rows(&self, t: f64, including: bool, most: usize) -> Rows<'_> {
        let from = self.t.partition_point(|known| *known < t || (!including && *known == t));
        let (times, values) = (&self.t[from..], &self.values[from * self.leaves..]);
        let width = self.leaves + 1;
        if times.len() * width <= most {
            let (t, values) = (times.into(), values.into());
            return Rows { t, values, thinned: self.thinned };
        }
        let (mut t, mut values) = (times.to_vec(), values.to_vec());
        let (rows, buckets) = (t.len(), most / (2 * width));
        thin(&mut t, &mut values, self.leaves, rows, buckets);
        Rows { t: t.into(), values: values.into(), thinned: true }
    }

    /// Thins the older half to a quarter.
    fn shrink(&mut self) {
        let half = self.t.len() / 2;
        thin(&mut self.t, &mut self.values, self.leaves, half, half / 8);
        self.thinned = true;
    }
}

/// Puts two rows in place of each of so many stretches of the first `rows`, at its first and last
/// time: of each number the least and the largest value, in the order in which they came. A value
/// that is no number is kept before all others. The last of these rows stays as it is.
pub(crate) fn thin(
    t: &mut Vec<f64>,
    values: &mut Vec<f64>,
    leaves: usize,
    rows: usize,
    buckets: usize,
) {
    let body = rows.saturating_sub(1);
    let size = body.div_ceil(buckets.max(1)).max(1);
    let (mut first, mut second) = (vec![0.0; leaves], vec![0.0; leaves]);
    let mut kept = 0;
    for from in (0..body).step_by(size) {
        let to = (from + size).min(body);
        let (at, stretch) = (kept * leaves, from * leaves..to * leaves);
        if to - from <= 2 {
            t.copy_within(from..to, kept);
            values.copy_within(stretch, at);
            kept += to - from;
        } else {
            let stretch = &values[stretch];
            let mut leaf = 0;
            while leaf < leaves {
                leaf += match leaves - leaf {
                    ..LANES => extremes::<1>(stretch, leaf, &mut first, &mut second),
                    _ => extremes::<LANES>(stretch, leaf, &mut first, &mut second),
                };
            }
            (t[kept], t[kept + 1]) = (t[from], t[to - 1]);
            values[at..at + leaves].copy_from_slice(&first);
            values[at + leaves..at + 2 * leaves].copy_from_slice(&second);
            kept += 2;
        }
    }
    t.drain(kept..body);
    values.drain(kept * leaves..body * leaves);
}

/// Numbers of a row that are compared at once.
const LANES: usize = 4;

/// The least and the largest value of the numbers from `leaf` on, in order, over rows as long as
/// `first`. How many numbers that are: `N`.
fn extremes<const N: usize>(
    rows: &[f64],
    leaf: usize,
    first: &mut [f64],
    second: &mut [f64],
) -> usize {
    let leaves = first.len();
    let lanes = |row: &[f64]| std::array::from_fn::<f64, N, _>(|i| row[i]);
    let start = lanes(&rows[leaf..leaf + N]);
    let (mut least, mut largest, mut falls) = (start, start, [false; N]);
    let mut strange = false;
    for row in rows[leaf..].chunks(leaves) {
        let row = lanes(&row[..N]);
        for i in 0..N {
            let (below, above) = (row[i] < least[i], row[i] > largest[i]);
            least[i] = if below { row[i] } else { least[i] };
            largest[i] = if above { row[i] } else { largest[i] };
            falls[i] = (falls[i] | below) & !above;
            strange |= row[i].is_nan();
        }
    }
    for i in 0..N {
        let at = leaf + i;
        (first[at], second[at]) = match falls[i] {
            true => (largest[i], least[i]),
            false => (least[i], largest[i]),
        };
        if strange && rows[at..].iter().step_by(leaves).any(|value| value.is_nan()) {
            (first[at], second[at]) = (before_nan(&rows[at..], leaves), f64::NAN);
        }
    }
    N
}

/// Of every `leaves`-th value, before the first that is no number, the first extreme; that one if
/// there is none before it.
fn before_nan(values: &[f64], leaves: usize) -> f64 {
    let numbers = || values.iter().step_by(leaves).copied().take_while(|value| !value.is_nan());
    let least = numbers().fold(f64::INFINITY, f64::min);
    let largest = numbers().fold(f64::NEG_INFINITY, f64::max);
    numbers().find(|value| *value == least || *value == largest).unwrap_or(f64::NAN)
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
        let mut t: Vec<f64> = (0..100).map(f64::from).collect();
        let mut thinned = values;
        thin(&mut t, &mut thinned, 1, 100, 5);
        assert_eq!(thinned.iter().filter(|value| value.is_nan()).count(), 1, "{thinned:?}");
    }

    /// Each number of each stretch by itself, value by value.
    #[test]
    fn the_extremes_of_a_stretch_are_kept_in_their_order() {
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            match seed >> 60 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                value => value as f64,
            }
        };
        for leaves in [1, 3, 4, 6, 12] {
            let (rows, tail, size) = (91, 7, 9);
            let all: Vec<f64> = (0..(rows + tail) * leaves).map(|_| random()).collect();
            let (mut t, mut values) =
                ((0..rows + tail).map(|row| row as f64).collect::<Vec<_>>(), all.clone());
            thin(&mut t, &mut values, leaves, rows, 10);
            let times = (0..10).flat_map(|i| [i * size, (i + 1) * size - 1]).chain(90..98);
            assert_eq!(t, times.map(|row| row as f64).collect::<Vec<_>>());
            for leaf in 0..leaves {
                let column = |row: usize| all[row * leaves + leaf];
                let kept = |row: usize| values[row * leaves + leaf].to_bits();
                for stretch in 0..10 {
                    let range = stretch * size..(stretch + 1) * size;
                    let mut found = range.clone().map(column).collect::<Vec<_>>();
                    let nan = found.iter().position(|value| value.is_nan());
                    found.truncate(nan.map_or(size, |nan| nan + 1));
                    let mut order: Vec<usize> = (0..nan.unwrap_or(size)).collect();
                    order.sort_by(|&a, &b| found[a].total_cmp(&found[b]).then(a.cmp(&b)));
                    let low = order.first().copied().unwrap_or(0);
                    // Of equal values the first.
                    let largest = order.last().map_or(f64::NAN, |&at| found[at]);
                    let high = order.iter().copied().find(|&at| found[at] == largest);
                    let high = high.unwrap_or(low);
                    let expected = match nan {
                        Some(nan) => (found[low.min(high)], found[nan]),
                        None => (found[low.min(high)], found[low.max(high)]),
                    };
                    let expected = (expected.0.to_bits(), expected.1.to_bits());
                    assert_eq!((kept(2 * stretch), kept(2 * stretch + 1)), expected);
                }
                for (row, from) in (90..98).enumerate() {
                    assert_eq!(kept(20 + row), column(from).to_bits());
                }
            }
        }
    }

    #[test]
    fn a_run_that_goes_back_takes_its_rows_back() {
        let mut store = store(10, |row| [row as f64; 2]);
        store.push(4.0, std::iter::once(&[-4.0, -4.0][..]));
        assert_eq!((store.len(), store.last()), (5, Some(4.0)));
        let rows = store.rows(3.0, false, 100);
        assert_eq!(
            rows,
            Rows { t: [4.0][..].into(), values: [-4.0; 2][..].into(), thinned: false }
        );
        let mut late = Store::new(2);
        late.push(4.0, std::iter::once(&[9.0, 9.0][..]));
        late.prepend(store);
        assert_eq!((late.len(), &*late.rows(4.0, true, 9).values), (5, &[9.0, 9.0][..]));
    }
}
