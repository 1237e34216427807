//! Pictures as PNG.

use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use resvg::{tiny_skia, usvg};

/// How many pixels of a PNG a unit of the picture has, unless it would be too large.
const SCALE: f32 = 2.0;

/// The most pixels of a PNG.
const MAX_PIXELS: f64 = 64e6;
/// An SVG picture as PNG, in its light colors. The font is part of the program: the picture is the same everywhere.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, Box<Diagnostic>> {
    let failed = |cause: &dyn std::fmt::Display| {
        let message = format!("cannot draw the graph as PNG: {cause}");
        Box::new(Diagnostic::error(Code::Limit, message).hint("use `--format svg`"))
    };
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans_mono::regular().to_vec());
    fonts.load_font_data(dejavu::sans_mono::bold().to_vec());
    let family = "DejaVu Sans Mono".to_owned();
    fonts.set_monospace_family(&family);
    let options = usvg::Options {
        font_family: family,
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size();
    let area = f64::from(size.width()) * f64::from(size.height());
    let scale = [SCALE, 1.0]
        .into_iter()
        .find(|scale| area * f64::from(scale * scale) <= MAX_PIXELS);
    let scale = scale.ok_or_else(|| failed(&"it would have too many pixels"))?;
    let pixels = size.to_int_size().scale_by(scale);
    let pixmap = pixels.and_then(|pixels| tiny_skia::Pixmap::new(pixels.width(), pixels.height()));
    let mut pixmap = pixmap.ok_or_else(|| failed(&"it would have too many pixels"))?;
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}
