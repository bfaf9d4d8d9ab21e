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
}

/// The rule by which a provider counts the tokens of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ImageTokens {
    /// The same number for each image.
    Each(usize),
    /// A token for so many pixels of the image, which is scaled down to an edge of at most `edge` pixels and to at most
    /// `most` tokens.
    Area { pixels: u32, edge: u32, most: usize },
    /// Squares with edges of 512 pixels, of the image that is scaled down to 2048 pixels, and then to 768 pixels of the
    /// shorter edge.
    Tiles { base: usize, tile: usize },
    /// Squares with edges of 32 pixels, at most so many; each counts so many thousandths of a token.
    Patches { most: usize, thousandths: usize },
}

impl MediaRules {
    /// The rules of an unknown model: everything is taken, and an image counts as at Anthropic.
    pub(crate) const ANY: Self = Self {
        prefixes: "",
        images: Some(ImageRules {
            types: "",
            tokens: ImageTokens::Area { pixels: 750, edge: 1568, most: 1600 },
            most_bytes: usize::MAX,
            most_edge: u32::MAX,
            many: None,
        }),
        pdf: Some(PdfRules { page: 3000, most_pages: usize::MAX }),
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
        if !self.takes(media_type) {
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
        let [width, height] = [width, height].map(f64::from);
        match self {
            Self::Each(tokens) => tokens,
            Self::Area { pixels, edge, most } => {
                let scale = (f64::from(edge) / width.max(height)).min(1.0);
                rounded_up(width * scale * height * scale / f64::from(pixels)).min(most)
            }
            Self::Tiles { base, tile } => {
                let scale = (2048.0 / width.max(height)).min(1.0);
                let scale = scale * (768.0 / (width.min(height) * scale)).min(1.0);
                base + tile * squares([width * scale, height * scale], 512.0)
            }
            Self::Patches { most, thousandths } => {
                let patches = squares([width, height], 32.0).min(most);
                (patches * thousandths).div_ceil(1000)
            }
        }
    }
}

/// The number of squares with this edge that cover a rectangle.
fn squares(size: [f64; 2], edge: f64) -> usize {
    let [across, down] = size.map(|side| rounded_up(side / edge));
    across * down
}

/// A number of pixels or tokens, rounded up. The sides of an image have 32 bits, so that no product overflows.
#[expect(clippy::cast_possible_truncation, reason = "a larger number saturates")]
#[expect(clippy::cast_sign_loss, reason = "sizes are positive")]
fn rounded_up(number: f64) -> usize {
    // A quotient such as 1536 / 512 may be a little above the whole number.
    (number - 1e-6).ceil() as usize
}
