//! States as bytes for snapshots on disk: [postcard](https://postcard.jamesmunns.com/wire-format),
//! in which a double is its eight bytes, so that NaN and negative zero come back as they were.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault::Fault;

/// The bytes of a state.
///
/// # Errors
/// If the state's `Serialize` fails.
pub(crate) fn encode<T: Serialize>(state: &T) -> Result<Vec<u8>, Box<Fault>> {
    postcard::to_stdvec(state).map_err(|error| unwritable(&error))
}

/// The state of these bytes.
///
/// # Errors
/// If they are not the bytes of a `T`, to the last one.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Box<Fault>> {
    match postcard::take_from_bytes(bytes) {
        Ok((state, [])) => Ok(state),
        Ok((_, rest)) => Err(too_long(bytes, rest)),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unwritable(error: &postcard::Error) -> Box<Fault> {
    Fault::new(format!("the state cannot be written as bytes: {error}"))
}

fn too_long(bytes: &[u8], rest: &[u8]) -> Box<Fault> {
    let (length, found) = (bytes.len() - rest.len(), bytes.len());
    Fault::new(format!("expected a state of {length} bytes, found {found}"))
}

fn unreadable(error: &postcard::Error) -> Box<Fault> {
    Fault::new(format!("the state cannot be read from bytes: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics where it fails")]
    use super::*;

    #[test]
    fn every_bit_of_a_double_comes_back() {
        for bits in [0, 1 << 63, f64::NAN.to_bits(), 0x7ff0_0000_0000_0001, 0xfff8_dead_beef_0001] {
            let state = (vec![f64::from_bits(bits)], Some(f64::from_bits(bits)), 3u64);
            let back: (Vec<f64>, Option<f64>, u64) = decode(&encode(&state).unwrap()).unwrap();
            assert_eq!((back.0[0].to_bits(), back.1.unwrap().to_bits(), back.2), (bits, bits, 3));
        }
    }

    #[test]
    fn bytes_too_few_and_too_many_are_refused() {
        let bytes = encode(&vec![1.0, 2.0]).unwrap();
        assert!(decode::<Vec<f64>>(&bytes[..bytes.len() - 1]).is_err());
        let message = decode::<Vec<f64>>(&[&bytes[..], &[0]].concat()).unwrap_err().message;
        assert_eq!(message, "expected a state of 17 bytes, found 18");
    }
}
