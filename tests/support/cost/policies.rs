//! How others mark their requests, as far as a request alone decides it.

use std::collections::HashMap;

use columnar::cache::Lifetime;

use super::cache::Marks;
use super::request::{Request, Speaker};
use super::scene::Scene;

/// A way to mark requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Not at all.
    None,
    /// The provider marks the last block by itself.
    Automatic,
    /// The instruction.
    System,
    /// The instruction and the last block: what most clients do.
    SystemAndLast,
    /// The same, with the long lifetime for the instruction: what is often advised.
    SystemLongAndLast,
    /// The instruction and the last two messages of the user.
    SystemAndTwo,
    /// The four best places for somebody who knows the future.
    Oracle,
}

/// All of them.
pub const POLICIES: [Policy; 7] = [
    Policy::None,
    Policy::Automatic,
    Policy::System,
    Policy::SystemAndLast,
    Policy::SystemLongAndLast,
    Policy::SystemAndTwo,
    Policy::Oracle,
];

impl Policy {
    /// What the tables of results call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Automatic => "automatic",
            Self::System => "system",
            Self::SystemAndLast => "sys+last",
            Self::SystemLongAndLast => "sys1h+last",
            Self::SystemAndTwo => "sys+two",
            Self::Oracle => "oracle-4",
        }
    }

    /// The marks of each request of a scene.
    pub fn marks(self, scene: &Scene<'_>) -> Vec<Marks> {
        let each =
            |mark: fn(&Request) -> Marks| scene.trace.asks.iter().map(|ask| mark(&ask.request)).collect();
        match self {
            Self::None => each(|_| Marks::default()),
            Self::Automatic => each(|_| Marks::automatic()),
            Self::System => each(|request| Marks::short(system(request))),
            Self::SystemAndLast => {
                each(|request| Marks::short(system(request).into_iter().chain(last(request))))
            }
            Self::SystemLongAndLast => {
                let lifetime = scene.rules.long.map_or(Lifetime::Short, |_| Lifetime::Long);
                let mut marks = Self::SystemAndLast.marks(scene);
                for first in marks.iter_mut().filter_map(|marks| marks.explicit.first_mut()) {
                    first.lifetime = if first.at == 0 { lifetime } else { Lifetime::Short };
                }
                marks
            }
            Self::SystemAndTwo => {
                each(|request| Marks::short(system(request).into_iter().chain(last_two(request))))
            }
            Self::Oracle => oracle(scene),
        }
    }
}

fn system(request: &Request) -> Option<usize> {
    request.block(0).filter(|block| block.speaker == Speaker::System).map(|_| 0)
}

fn last(request: &Request) -> Option<usize> {
    request.blocks.len().checked_sub(1)
}

/// Where the last two messages of the user end.
fn last_two(request: &Request) -> impl Iterator<Item = usize> {
    let blocks = request.blocks.iter().enumerate().rev();
    blocks.filter(|(_, block)| block.ends && block.speaker == Speaker::User).map(|(at, _)| at).take(2)
}

/// Each request reads as deep as an earlier one of the last minutes went with it, and is marked there and
/// where later ones will read. Of more than it may carry, the deepest marks are kept.
fn oracle(scene: &Scene<'_>) -> Vec<Marks> {
    let mut places = vec![Vec::new(); scene.trace.asks.len()];
    let mut visits: HashMap<usize, (usize, f64)> = HashMap::new();
    for (which, at, ask) in scene.asks() {
        let is_seen = |prefix: usize| {
            let (writer, then) = *visits.get(&prefix)?;
            let lives = at - then <= scene.rules.short.seconds && at - then >= scene.rules.ready;
            lives.then_some(writer)
        };
        let blocks = ask.request.blocks.iter().enumerate().rev();
        let mut long_enough = blocks.take_while(|(_, block)| block.until >= scene.rules.minimum);
        if let Some((place, writer)) = long_enough.find_map(|(at, block)| Some((at, is_seen(block.prefix)?)))
        {
            for marked in [which, writer] {
                if let Some(places) = places.get_mut(marked) {
                    places.push(place);
                }
            }
        }
        visits.extend(ask.request.blocks.iter().map(|block| (block.prefix, (which, at))));
    }
    let most = scene.rules.most_marks;
    let deepest = |mut places: Vec<usize>| {
        places.sort_unstable();
        places.dedup();
        places.split_off(places.len().saturating_sub(most))
    };
    places.into_iter().map(|places| Marks::short(deepest(places))).collect()
}
