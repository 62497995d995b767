//! Random numbers as a function of a key and a counter.
//!
//! Philox4x32-10: ten rounds that mix a counter of 128 bits under a key of 64 bits. The number of
//! sample k is computed from k alone, so a snapshot holds no more than k, and streams of different
//! keys do not meet.
//!
//! Reference: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, *Parallel random numbers: as easy
//! as 1, 2, 3* (2011), section 4.3.

use std::f64::consts::TAU;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// Four random words of a counter under a key.
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let [a, b] =
            [(0, 0), (1, 2)].map(|(m, c)| u64::from(MULTIPLIERS[m]) * u64::from(counter[c]));
        let (high_a, low_a) = ((a >> 32) as u32, a as u32);
        let (high_b, low_b) = ((b >> 32) as u32, b as u32);
        counter = [high_b ^ counter[1] ^ key[0], low_b, high_a ^ counter[3] ^ key[1], low_a];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// One stream of random numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    key: [u32; 2],
}

impl Stream {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { key: [seed as u32, (seed >> 32) as u32] }
    }

    /// Two random words of 64 bits for element `element` of sample `sample`.
    fn words(self, sample: u64, element: usize) -> [u64; 2] {
        let element = element as u64;
        let counter =
            [sample as u32, (sample >> 32) as u32, element as u32, (element >> 32) as u32];
        let [a, b, c, d] = philox(counter, self.key).map(u64::from);
        [a | b << 32, c | d << 32]
    }

    /// A number from 0 up to 1, never 1, in steps of 2⁻⁵³.
    pub(crate) fn uniform(self, sample: u64, element: usize) -> f64 {
        unit(self.words(sample, element)[0])
    }

    /// A number of the normal distribution of mean 0 and variance 1, by G. E. P. Box and
    /// M. E. Muller, *A note on the generation of random normal deviates* (1958).
    pub(crate) fn normal(self, sample: u64, element: usize) -> f64 {
        let [a, b] = self.words(sample, element);
        // 1 − u is in (0, 1]: its logarithm is finite.
        libm::sqrt(-2.0 * libm::log(1.0 - unit(a))) * libm::cos(TAU * unit(b))
    }
}

/// The upper 53 bits as a number from 0 up to 1.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of Random123, file `kat_vectors`, lines `philox4x32 10`.
    #[test]
    fn the_words_are_those_of_random123() {
        for (counter, key, words) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ] {
            assert_eq!(philox(counter, key), words);
        }
    }

    /// Of n numbers the sample moments scatter by multiples of 1/√n: four of them are allowed.
    #[test]
    fn moments_are_those_of_the_distributions() {
        let (stream, n) = (Stream::new(7), 200_000_u32);
        let mean = |f: &dyn Fn(u64) -> f64| (0..u64::from(n)).map(f).sum::<f64>() / f64::from(n);
        let scatter = 4.0 / libm::sqrt(f64::from(n));
        let near = |found: f64, exact: f64, deviation: f64| {
            assert!((found - exact).abs() < scatter * deviation, "{found} against {exact}");
        };
        let uniform = |k: u64| stream.uniform(k, 0);
        near(mean(&uniform), 0.5, libm::sqrt(1.0 / 12.0));
        near(mean(&|k| uniform(k) * uniform(k)), 1.0 / 3.0, libm::sqrt(4.0 / 45.0));
        let normal = |k: u64| stream.normal(k, 1);
        near(mean(&normal), 0.0, 1.0);
        near(mean(&|k| normal(k) * normal(k)), 1.0, libm::sqrt(2.0));
        near(mean(&|k| normal(k).powi(4)), 3.0, libm::sqrt(96.0));
        near(mean(&|k| normal(k) * normal(k + 1)), 0.0, 1.0);
        near(mean(&|k| normal(k) * stream.normal(k, 2)), 0.0, 1.0);
    }
}
