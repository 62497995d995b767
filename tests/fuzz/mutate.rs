//! Random damage to texts and bytes.

/// Random numbers: SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The stream of input `index` of a seed: each input can be made again by itself.
    pub(crate) fn of(seed: u64, index: u64) -> Self {
        let mut random = Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 if there is none.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// One of some.
    pub(crate) fn pick<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len())]
    }

    /// Whether one of `of` times.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

/// Numbers at which programs break.
const NUMBERS: [&str; 30] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "0.5",
    "1e-3",
    "1e-12",
    "1e-308",
    "5e-324",
    "1e308",
    "1e400",
    "-1e308",
    "inf",
    "-inf",
    "NaN",
    "100",
    "1000",
    "65535",
    "65536",
    "1000000",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551616",
    "0x7fffffff",
    "1_000",
    "1e5",
    "-7",
];

/// A damaged copy of a text: pieces of it and of another are moved, numbers and words replaced.
pub(crate) fn text(random: &mut Random, of: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut tokens: Vec<&[u8]> = tokens(of);
    let others: Vec<&[u8]> = self::tokens(other);
    for _ in 0..1 + random.below(6) {
        let at = random.below(tokens.len());
        let len = match random.below(4) {
            0 => random.below(40),
            _ => random.below(4),
        };
        let end = tokens.len().min(at + len);
        match random.below(9) {
            0 => drop(tokens.drain(at..end)),
            1 => {
                let copy = tokens[at..end].to_vec();
                let to = random.below(tokens.len());
                tokens.splice(to..to, copy);
            }
            2 if !tokens.is_empty() => {
                let to = random.below(tokens.len());
                tokens.swap(at, to);
            }
            3 => {
                let from = random.below(others.len());
                let piece = &others[from..others.len().min(from + len)];
                tokens.splice(at..end, piece.iter().copied());
            }
            4 | 5 => {
                let number = |token: &&[u8]| token.first().is_some_and(u8::is_ascii_digit);
                if let Some(place) = tokens[at..].iter().position(number) {
                    tokens[at + place] = random.pick(&NUMBERS).as_bytes();
                }
            }
            6 | 7 => {
                let word = |token: &&[u8]| token.first().is_some_and(u8::is_ascii_alphabetic);
                let own = random.below(tokens.len());
                let own = tokens[own..].iter().find(|token| word(token)).copied();
                if let Some(place) = tokens[at..].iter().position(word) {
                    // Another name of the same text gets furthest.
                    let other = own.filter(|_| random.once_in(2));
                    tokens[at + place] = other.unwrap_or_else(|| random.pick(words).as_bytes());
                }
            }
            _ => tokens.insert(at, random.pick(words).as_bytes()),
        }
    }
    let mut bytes = tokens.concat();
    if random.once_in(12) {
        bytes = self::bytes(random, &bytes, other);
    }
    bytes
}

/// Words, numbers, blanks, and everything else byte by byte.
fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let class = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => 1,
        b'0'..=b'9' | b'.' => 2,
        b' ' | b'\n' | b'\t' => 3,
        _ => 0,
    };
    text.chunk_by(|a, b| class(*a) != 0 && class(*a) == class(*b)).collect()
}

/// A damaged copy of bytes: flipped, overwritten, cut, doubled, mixed with others.
pub(crate) fn bytes(random: &mut Random, of: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = of.to_vec();
    for _ in 0..1 + random.below(5) {
        let at = random.below(bytes.len());
        let end = bytes.len().min(at + random.below(24));
        match random.below(7) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => {
                let value = [0, 0xff, 0x7f, 0x80, 1][random.below(5)];
                bytes[at..end].fill(value);
            }
            3 => drop(bytes.drain(at..end)),
            4 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => {
                let from = random.below(other.len());
                let piece = &other[from..other.len().min(from + random.below(64))];
                bytes.splice(at..end, piece.iter().copied());
            }
            _ if random.once_in(4) => bytes.truncate(at),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.next() as u8;
                }
            }
        }
    }
    bytes
}
