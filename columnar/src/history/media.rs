//! The attachments that a model takes, and their tokens.

use super::attachment::Attachment;
use super::tokens::Estimate;

/// The media that a model takes beside text, the number of tokens that these have, and the limits, with source and date.
///
/// ```
/// use columnar::model::MediaRules;
///
/// let claude = MediaRules::by_model("anthropic/claude-sonnet-4-5").expect("it is known");
/// assert_eq!((claude.takes("image/png"), claude.takes("image/tiff")), (true, false));
/// assert_eq!(MediaRules::by_model("somebody/something"), None); // a model without rules gets everything
/// ```
#[derive(Debug, PartialEq)]
pub struct MediaRules {
    /// Prefixes of the names of models, with the provider, between spaces.
    pub(crate) prefixes: &'static str,
    pub(crate) images: Option<ImageRules>,
    pub(crate) pdf: Option<PdfRules>,
    /// Whether plain text is taken as a document.
    pub(crate) takes_text: bool,
    /// The most attachments of a request.
    pub(crate) most: usize,
    /// The most bytes of all attachments of a request, before they are encoded.
    pub(crate) most_bytes: usize,
    /// The page with the rules; empty for models without a row.
    pub(crate) source: &'static str,
    /// A day on which the page is known to have had these rules, as `YYYY-MM-DD`.
    pub(crate) date: &'static str,
}

/// The images that a model takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImageRules {
    /// The media types after `image/`, between spaces.
    pub(crate) types: &'static str,
    pub(crate) tokens: ImageTokens,
    /// The most bytes of an image.
    pub(crate) most_bytes: usize,
    /// The most pixels of an edge.
    pub(crate) most_edge: u32,
    /// The number of images above which edges have another limit, and this limit.
    pub(crate) many: Option<(usize, u32)>,
}

/// The PDF documents that a model takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PdfRules {
    /// The tokens of a page.
    pub(crate) page: usize,
    /// The most pages of a request.
    pub(crate) most_pages: usize,
    /// The most bytes of a document.
    pub(crate) most_bytes: usize,
}

/// The rule by which a provider counts the tokens of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ImageTokens {
    /// The same number for each image.
    Each(usize),
    /// A token for each square with an edge of `pixels`, after the image is scaled down to the largest size that has at most
    /// `most` squares and, padded to whole squares, at most `edge` pixels at each edge.
    Squares { pixels: usize, edge: usize, most: usize },
    /// Squares with edges of 512 pixels, of the image that is scaled down to 2048 pixels, and then to 768 pixels of the
    /// shorter edge.
    Tiles { base: usize, tile: usize },
    /// Squares with edges of 32 pixels, of the image that is scaled down to `edge` pixels, and then so that one of the sides
    /// has whole squares and there are at most `most`. A square counts `thousandths` of a token.
    Patches { edge: usize, most: usize, thousandths: usize },
    /// The tokens of a small image, and of each crop of a larger image.
    Crops(usize),
}

impl MediaRules {
    /// The rules of an unknown model: everything is taken, and an image counts as for the newest models of Anthropic.
    pub(crate) const ANY: Self = Self {
        prefixes: "",
        images: Some(ImageRules {
            types: "",
            tokens: ImageTokens::Squares { pixels: 28, edge: 2576, most: 4784 },
            most_bytes: usize::MAX,
            most_edge: u32::MAX,
            many: None,
        }),
        pdf: Some(PdfRules { page: 3000, most_pages: usize::MAX, most_bytes: usize::MAX }),
        takes_text: true,
        most: usize::MAX,
        most_bytes: usize::MAX,
        source: "",
        date: "",
    };

    /// The rules where nothing but text is sent: attachments are words.
    pub(crate) const WORDS: Self = Self { images: None, pdf: None, takes_text: false, ..Self::ANY };

    /// Whether the model takes attachments of this type, such as `image/png`.
    pub fn takes(&self, media_type: &str) -> bool {
        match media_type.split_once('/') {
            Some(("image", kind)) => {
                let types = self.images.map(|images| images.types);
                types.is_some_and(|types| types.is_empty() || types.split(' ').any(|it| it == kind))
            }
            _ if media_type == "application/pdf" => self.pdf.is_some(),
            Some(("text", _)) => self.takes_text,
            _ => self.prefixes.is_empty() && self.takes_text,
        }
    }

    /// The tokens of an attachment by the rule of the provider; of the alternative text, if the model does not take such
    /// media.
    ///
    /// ```
    /// use columnar::Attachment;
    /// use columnar::model::MediaRules;
    ///
    /// let note = Attachment::new("Launch on Monday.")?;
    /// let claude = MediaRules::by_model("anthropic/claude-sonnet-4-5").expect("it is known");
    /// assert_eq!(claude.tokens(&note), 5); // a quarter of the bytes
    /// # Ok::<(), columnar::AttachmentError>(())
    /// ```
    pub fn tokens(&self, attachment: &Attachment) -> usize {
        let media_type = attachment.media_type();
        if self.refusal(attachment).is_some() {
            return attachment.in_words().len().div_ceil(Estimate::BYTES_PER_TOKEN);
        }
        match (media_type, attachment.size(), self.images, self.pdf) {
            (_, Some((width, height)), Some(images), _) => images.tokens.of(width, height),
            // The size of some types of images is not read.
            (_, None, Some(images), _) if media_type.starts_with("image/") => images.tokens.of(2000, 2000),
            ("application/pdf", _, _, Some(pdf)) => pdf.page.saturating_mul(attachment.pages()),
            _ => attachment.len().div_ceil(Estimate::BYTES_PER_TOKEN),
        }
    }

    /// The advice for a type that is not taken.
    pub(crate) fn not_taken() -> String {
        "choose a model that takes this type, or send the alternative text with `lenient` or no attachments with \
         `.text_only()`"
            .to_owned()
    }

    /// The reason why the model does not take an attachment, if it does not.
    pub(crate) fn refusal(&self, attachment: &Attachment) -> Option<String> {
        const SMALLER: &str = "attach a smaller one, or send the alternative text with `lenient`";
        if !self.takes(attachment.media_type()) {
            return Some(Self::not_taken());
        }
        let most_bytes = self.pdf.filter(|_| attachment.is_pdf()).map(|pdf| pdf.most_bytes);
        let most_bytes =
            most_bytes.or(self.images.filter(|_| attachment.is_image()).map(|images| images.most_bytes));
        if let Some(most) = most_bytes.filter(|most| attachment.len() > *most) {
            return Some(format!("it has at most {most} bytes; {SMALLER}"));
        }
        let images = self.images.filter(|_| attachment.is_image())?;
        if attachment.edge() > images.most_edge {
            return Some(format!("an image has at most {} pixels at each edge; {SMALLER}", images.most_edge));
        }
        None
    }

    /// The tokens of some attachments.
    pub(crate) fn tokens_of(&self, attachments: &[Attachment]) -> usize {
        attachments.iter().map(|attachment| self.tokens(attachment)).sum()
    }

    /// The page with the rules.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// A day on which the page is known to have had these rules, as `YYYY-MM-DD`.
    pub fn date(&self) -> &'static str {
        self.date
    }
}

impl ImageTokens {
    /// The tokens of an image of this size.
    pub(crate) fn of(self, width: u32, height: u32) -> usize {
        let size = [width, height].map(|edge| edge as usize);
        match self {
            Self::Each(tokens) => tokens,
            Self::Squares { pixels, edge, most } => {
                let largest = largest(size, |size| {
                    size.iter().all(|side| side.div_ceil(pixels) * pixels <= edge)
                        && squares(size, pixels) <= most
                });
                squares(largest, pixels)
            }
            Self::Tiles { base, tile } => {
                let [longer, shorter] = [size[0].max(size[1]), size[0].min(size[1])].map(to_float);
                base + tile * squares(scaled(size, (2048.0 / longer).min(768.0 / shorter)), 512)
            }
            Self::Patches { edge, most, thousandths } => {
                let size = to_edge(size, edge);
                let patches = squares(with_most_patches(size, most), PATCH);
                patches.saturating_mul(thousandths).div_ceil(1000)
            }
            Self::Crops(tokens) => match size {
                [0..=384, 0..=384] => tokens,
                [width, height] => tokens * squares(size, (width.min(height) * 2 / 3).max(1)),
            },
        }
    }
}

/// The edge of a patch in pixels.
const PATCH: usize = 32;

/// The number of squares with this edge that cover an image.
fn squares(size: [usize; 2], pixels: usize) -> usize {
    let [across, down] = size.map(|edge| edge.div_ceil(pixels).max(1));
    across.saturating_mul(down)
}

/// The largest size of an image that fits, in whole pixels of the longer edge.
fn largest(size: [usize; 2], fits: impl Fn([usize; 2]) -> bool) -> [usize; 2] {
    if fits(size) {
        return size;
    }
    let longer = size[0].max(size[1]);
    let mut fitting = 1;
    let mut too_large = longer;
    while fitting + 1 < too_large {
        let middle = fitting.midpoint(too_large);
        if fits(to_edge(size, middle)) { fitting = middle } else { too_large = middle }
    }
    to_edge(size, fitting)
}

/// An image with so many pixels of the longer edge.
fn to_edge(size: [usize; 2], edge: usize) -> [usize; 2] {
    rounded(size, to_float(edge) / to_float(size[0].max(size[1])))
}

/// An image that is scaled down, never up, to whole pixels.
fn scaled(size: [usize; 2], scale: f64) -> [usize; 2] {
    // A product such as 768 may be a little below the whole number.
    if scale >= 1.0 { size } else { size.map(|edge| to_pixels(to_float(edge) * scale + 1e-6)) }
}

/// An image that is scaled down, never up, to the nearest pixels.
fn rounded(size: [usize; 2], scale: f64) -> [usize; 2] {
    if scale >= 1.0 {
        size
    } else {
        size.map(|edge| to_pixels((to_float(edge) * scale).round_ties_even()).max(1))
    }
}

/// An image that has at most so many patches: scaled down to their area, and then until one of the sides has whole patches.
fn with_most_patches(size: [usize; 2], most: usize) -> [usize; 2] {
    if squares(size, PATCH) <= most {
        return size;
    }
    let [width, height] = size.map(to_float);
    let patch = to_float(PATCH);
    let scale = patch * (to_float(most) / width / height).sqrt();
    let [across, down] = [width, height].map(|edge| edge * scale / patch);
    scaled(size, scale * (across.floor() / across).min(down.floor() / down))
}

#[expect(clippy::cast_precision_loss, reason = "an image has fewer pixels than 2^53")]
const fn to_float(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, reason = "a larger number saturates")]
#[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
const fn to_pixels(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::ImageTokens::{Crops, Each, Patches, Squares, Tiles};

    /// The figures that the providers publish, and the figures of their reference implementations.
    #[test]
    fn published_figures_are_met() {
        let standard = Squares { pixels: 28, edge: 1568, most: 1568 };
        let high = Squares { pixels: 28, edge: 2576, most: 4784 };
        for (width, height, [less, more]) in [
            (200, 200, [64, 64]),
            (1000, 1000, [1296, 1296]),
            (1092, 1092, [1521, 1521]),
            (1920, 1080, [1560, 2691]),
            (2000, 1500, [1564, 3888]),
            (3840, 2160, [1560, 4784]),
            (1075, 1520, [1551, 2145]),
            (2048, 4096, [1568, 4232]),
            (8000, 200, [112, 276]),
            (100, 8000, [56, 184]),
            (1, 1, [1, 1]),
        ] {
            assert_eq!(
                [standard, high].map(|rule| rule.of(width, height)),
                [less, more],
                "{width} × {height}"
            );
        }
        for (width, height, [high, original, earlier]) in [
            (1024, 1024, [1229, 1229, 1229]),
            (2048, 2048, [3000, 4916, 4916]),
            (2560, 1440, [2765, 4320, 2765]),
            (4032, 3024, [2942, 11_868, 3687]),
            (2048, 4096, [2458, 9831, 2458]),
            (8000, 200, [154, 1128, 154]),
            (1, 1, [2, 2, 2]),
        ] {
            let rules = [(2048, 2500), (6000, 10_000), (2048, 6144)];
            let rules = rules.map(|(edge, most)| Patches { edge, most, thousandths: 1200 });
            assert_eq!(
                rules.map(|rule| rule.of(width, height)),
                [high, original, earlier],
                "{width} × {height}"
            );
        }
        let capped = Patches { edge: usize::MAX, most: 1536, thousandths: 1000 };
        assert_eq!([capped.of(1024, 1024), capped.of(1800, 2400)], [1024, 1452]);
        let tiles = Tiles { base: 85, tile: 170 };
        let sizes = [(512, 512), (768, 768), (1024, 1024), (2048, 4096), (1280, 720), (1075, 1520)];
        assert_eq!(sizes.map(|(width, height)| tiles.of(width, height)), [255, 765, 765, 1105, 1105, 1105]);
        assert_eq!([Crops(258).of(384, 384), Crops(258).of(960, 540)], [258, 6 * 258]);
        assert_eq!(Each(1120).of(60_000, 1), 1120);
        let mistral = Squares { pixels: 28, edge: 1540, most: usize::MAX };
        assert_eq!((mistral.of(1540, 1540), mistral.of(9000, 9000)), (3025, 3025));
    }

    /// The heads of images say any size.
    #[test]
    fn no_size_overflows() {
        let edges = [1, 2, 31, 383, 385, 65_535, u32::MAX];
        for (width, height) in edges.iter().flat_map(|width| edges.map(|height| (*width, height))) {
            for rule in [
                Squares { pixels: 28, edge: 2576, most: 4784 },
                Tiles { base: 85, tile: 170 },
                Patches { edge: 65_535, most: usize::MAX, thousandths: 1200 },
                Patches { edge: usize::MAX, most: 1536, thousandths: 2460 },
                Crops(258),
            ] {
                assert!(rule.of(width, height) > 0, "{rule:?} of {width} × {height}");
            }
        }
    }
}
