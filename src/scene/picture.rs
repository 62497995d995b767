//! Pictures on surfaces: PNG and JPEG.

use std::io::Cursor;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Most pixels of a picture: 50 MB.
pub(crate) const MOST_PIXELS: usize = 1 << 24;

/// A picture in memory.
pub(crate) struct Picture {
    /// How many pixels a row has; not zero.
    width: usize,
    /// Red, green, blue; row by row from the top, at least one.
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads a picture, whose format its first bytes tell.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let (width, pixels) = match bytes {
            [0x89, b'P', b'N', b'G', ..] => png(bytes)?,
            [0xff, 0xd8, ..] => jpeg(bytes)?,
            _ => return Err("expected a picture in PNG or JPEG".to_owned()),
        };
        match width > 0 && pixels.len() >= width {
            true => Ok(Self { width, pixels }),
            false => Err("it has no pixels".to_owned()),
        }
    }

    /// How many pixels it has.
    pub(crate) fn pixels(&self) -> usize {
        self.pixels.len()
    }

    /// The colour at u from the left edge and v from the lower one, both from 0 to 1 and repeated
    /// beyond.
    pub(crate) fn at(&self, [u, v]: [f32; 2]) -> [f64; 3] {
        let height = self.pixels.len() / self.width;
        // A cast of a float saturates, so that each index is one.
        let index = |part: f32, count: usize| {
            (((part - part.floor()) * count as f32) as usize).min(count - 1)
        };
        let row = height - 1 - index(v, height);
        self.pixels[row * self.width + index(u, self.width)].map(|part| f64::from(part) / 255.0)
    }
}

/// Width and pixels.
type Pixels = (usize, Vec<[u8; 3]>);

fn bounded(width: usize, height: usize) -> Result<(), String> {
    match width.saturating_mul(height) > MOST_PIXELS {
        true => Err(format!("{width} × {height} pixels are more than {MOST_PIXELS}")),
        false => Ok(()),
    }
}

fn png(bytes: &[u8]) -> Result<Pixels, String> {
    let limits = png::Limits { bytes: 8 * MOST_PIXELS };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = reader.info().size();
    let (width, height) = (width as usize, height as usize);
    bounded(width, height)?;
    let (color, _) = reader.output_color_type();
    let samples = color.samples();
    let mut all = vec![0; width * height * samples];
    reader.next_frame(&mut all).map_err(|error| error.to_string())?;
    let pixels = all.chunks_exact(samples).map(|pixel| match *pixel {
        [red, green, blue, ..] => [red, green, blue],
        _ => [pixel[0]; 3],
    });
    Ok((width, pixels.collect()))
}

fn jpeg(bytes: &[u8]) -> Result<Pixels, String> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let (width, height) = decoder.dimensions().ok_or("its size is not known")?;
    bounded(width, height)?;
    let all = decoder.decode().map_err(|error| error.to_string())?;
    Ok((width, all.as_chunks::<3>().0.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::Picture;

    /// Red and green above, blue and white below.
    const FOUR: &[u8] = include_bytes!("../../tests/data/pictures/four.png");
    const JPEGS: [&[u8]; 2] = [
        include_bytes!("../../tests/data/pictures/four.jpg"),
        include_bytes!("../../tests/data/pictures/progressive.jpg"),
    ];

    #[test]
    fn rows_begin_at_the_top_and_points_at_the_bottom() {
        let picture = Picture::read(FOUR).expect("a picture");
        let jpegs = JPEGS.map(|bytes| Picture::read(bytes).expect("a picture"));
        for (point, color) in [
            ([0.25, 0.75], [1.0, 0.0, 0.0]),
            ([0.75, 0.75], [0.0, 1.0, 0.0]),
            ([0.25, 0.25], [0.0, 0.0, 1.0]),
            ([0.75, 0.25], [1.0, 1.0, 1.0]),
            // Repeated.
            ([-3.75, 4.75], [1.0, 0.0, 0.0]),
            ([1.0, 1.0], [0.0, 0.0, 1.0]),
            ([f32::NAN, f32::MAX], [0.0, 0.0, 1.0]),
        ] {
            assert_eq!(picture.at(point), color, "{point:?}");
            for jpeg in &jpegs {
                let found = jpeg.at(point);
                let off = found.iter().zip(color).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 0.05, "{point:?}: {found:?}");
            }
        }
    }

    #[test]
    fn what_is_no_picture_is_told() {
        let told = |bytes: &[u8]| Picture::read(bytes).map(|_| ()).expect_err("a mistake");
        assert_eq!(told(b"GIF89a"), "expected a picture in PNG or JPEG");
        assert!(!told(&FOUR[..FOUR.len() / 2]).is_empty());
        assert!(!told(&[0xff, 0xd8, 0xff, 0xe0]).is_empty());
        // A header that announces 2^31 pixels a side.
        let mut huge = FOUR.to_vec();
        huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
        assert!(!told(&huge).is_empty());
    }
}
