//! A picture as PNG. Its letters are built in, so that it looks the same on a machine without
//! fonts.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// DejaVu Sans, cut to the scripts that pictures use; `fonts/LICENSE` is its licence.
const REGULAR: &[u8] = include_bytes!("fonts/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("fonts/DejaVuSans-Bold.ttf");
const FAMILY: &str = "DejaVu Sans";

/// The picture, a pixel per pixel of the SVG.
///
/// # Errors
/// If the text is no SVG, or the picture does not fit in memory.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let options =
        Options { fontdb: Arc::new(fonts), font_family: FAMILY.to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| format!("no memory for {} x {} pixels", size.width(), size.height()))?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(content: &str) -> Pixmap {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"30\" \
             font-family=\"Helvetica, Arial, sans-serif\"><rect width=\"60\" height=\"30\" \
             fill=\"#ffffff\"/>{content}</svg>"
        );
        let bytes = png(&svg).expect("an SVG");
        Pixmap::decode_png(&bytes).expect("a PNG")
    }

    /// Pixels that are not white.
    fn inked(pixels: &Pixmap) -> usize {
        pixels.pixels().iter().filter(|pixel| pixel.red() < 250).count()
    }

    #[test]
    fn letters_are_drawn_without_the_fonts_of_the_machine() {
        assert_eq!(inked(&picture("")), 0);
        let text = |text: &str, weight: &str| {
            inked(&picture(&format!(
                "<text x=\"4\" y=\"20\" font-size=\"14\" font-weight=\"{weight}\">{text}</text>"
            )))
        };
        let (one, two) = (text("n", "normal"), text("nn", "normal"));
        assert!(one > 20 && two > one + 20, "{one} and {two} pixels");
        assert!(text("n", "bold") > one, "a bold letter is no bolder");
        for letters in ["τ", "Ω", "ν̇", "é", "►", "≤"] {
            let pixels = text(letters, "normal");
            assert!(pixels > 10, "`{letters}` has {pixels} pixels");
        }
    }

    #[test]
    fn what_is_no_svg_is_refused() {
        assert!(png("<svg").is_err());
    }
}
