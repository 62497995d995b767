//! Mutations of a text, from a seed.

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not zero.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Tokens as byte strings: words, numbers, pieces of blanks, comments, single characters. What
/// is in quotes is split too, so that paths and expressions are mutated inside.
fn tokens(text: &[u8]) -> Vec<Vec<u8>> {
    let class = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => 1,
        b'0'..=b'9' => 2,
        b' ' | b'\n' | b'\t' => 3,
        _ => 0,
    };
    let mut tokens: Vec<Vec<u8>> = Vec::new();
    let mut last = 0;
    for &byte in text {
        let now = class(byte);
        let goes_on = now != 0 && (now == last || (last == 1 && now == 2));
        match tokens.last_mut() {
            Some(token) if goes_on => token.push(byte),
            _ => {
                tokens.push(vec![byte]);
                last = now;
            }
        }
    }
    tokens
}

const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-0.0",
    "0.5",
    "1e-300",
    "1e308",
    "-1e308",
    "1e999",
    "NaN",
    "inf",
    "-inf",
    "1e18",
    "999999999999999999999",
    "0x10",
    "1_000",
];

const WORDS: [&str; 41] = [
    "Constant",
    "Gain",
    "UnitDelay",
    "ForEach",
    "Mask",
    "Use",
    "Subsystem",
    "Sum",
    "Integrator",
    "Array",
    "Stack",
    "Concat",
    "Bus",
    "Vector",
    "Matrix",
    "Real",
    "blocks",
    "params",
    "robots",
    "variants",
    "buses",
    "run",
    "log",
    "checks",
    "in",
    "out",
    "every",
    "needs",
    "of",
    "over",
    "body",
    "collect",
    "ports",
    "y",
    "u",
    "u1",
    "t",
    "true",
    "None",
    "len",
    "variants.x",
];

const GARBAGE: [&str; 24] = [
    "\"", "(", ")", "[", "]", "{", "}", ",", ":", "=", "^", ".", "..", "/*", "//", "\u{0}", "é",
    "\u{feff}", "\\", "'", "r#\"", "b\"", "Some(", "\"=1/0\"",
];

/// A text with one to four mutations.
pub(crate) fn mutate(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut tokens = tokens(text);
    for _ in 0..=random.below(4) {
        if tokens.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        let other = random.below(tokens.len());
        let of_class = |tokens: &[Vec<u8>], random: &mut Random, digit: bool| {
            let fits: Vec<usize> = (0..tokens.len())
                .filter(|&i| match tokens[i][0] {
                    byte if digit => byte.is_ascii_digit(),
                    byte => byte.is_ascii_alphabetic(),
                })
                .collect();
            if fits.is_empty() { at } else { *random.pick(&fits) }
        };
        match random.below(14) {
            0 => tokens.truncate(at),
            1 => {
                tokens.remove(at);
            }
            2 => tokens.insert(at, tokens[at].clone()),
            3 => tokens.swap(at, other),
            4 | 5 => {
                let number = of_class(&tokens, random, true);
                tokens[number] = random.pick(&NUMBERS).as_bytes().to_vec();
            }
            6 => {
                let word = of_class(&tokens, random, false);
                tokens[word] = random.pick(&WORDS).as_bytes().to_vec();
            }
            // Another name of the same text: the mutation that gets furthest.
            7..=9 => {
                let (from, to) =
                    (of_class(&tokens, random, false), of_class(&tokens, random, false));
                tokens[to] = tokens[from].clone();
            }
            10 => tokens.insert(at, random.pick(&GARBAGE).as_bytes().to_vec()),
            11 => {
                let bytes = (0..1 + random.below(4)).map(|_| random.next() as u8).collect();
                tokens.insert(at, bytes);
            }
            12 => {
                let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 60));
                tokens.drain(from..to);
            }
            _ => {
                // Twice the same piece, such as a block.
                let end = (at + 1 + random.below(60)).min(tokens.len());
                let piece: Vec<Vec<u8>> = tokens[at..end].to_vec();
                tokens.splice(other..other, piece);
            }
        }
    }
    tokens.concat()
}
