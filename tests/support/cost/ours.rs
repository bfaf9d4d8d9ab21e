//! How this library marks its requests.

use columnar::Result;

use super::cache::Marks;
use super::scene::Scene;

/// The marks of each request of a scene, by the plan of its column.
///
/// # Errors
///
/// Those of [`Flow::messages`](columnar::Flow::messages).
pub fn ours(scene: &Scene<'_>) -> Result<Vec<Marks>> {
    scene
        .trace
        .asks
        .iter()
        .map(|ask| {
            let Some(cell) = &ask.cell else { return Ok(Marks::default()) };
            let stable = cell.flow.explain_cache(&cell.column, cell.step)?;
            let (messages, mut bytes, mut place) = (cell.messages()?, 0, 0);
            for (at, part) in messages.parts().enumerate() {
                bytes += part.text().len();
                if bytes <= stable.bytes {
                    place = at + 1;
                }
            }
            Ok(Marks::short([0, place]))
        })
        .collect()
}
