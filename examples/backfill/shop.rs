//! The messages of the customers: any number, and always the same.

const OPENINGS: [&str; 4] = ["Hello,", "Good morning.", "Dear team,", "Hi there!"];
const THINGS: [&str; 5] = ["coffee grinder", "desk lamp", "rain jacket", "travel mug", "wool blanket"];
const TROUBLES: [&str; 7] = [
    "arrived with a broken handle and loose screws",
    "has not arrived after three weeks of waiting",
    "stopped working after two days of normal use",
    "is not the colour shown on the product page",
    "was charged twice on my credit card statement",
    "smells of plastic even after careful cleaning",
    "is a present, and the gift card is missing",
];
const WISHES: [&str; 3] =
    ["Please send a replacement.", "I would like my money back.", "What can you do about it?"];

/// The message with this number. Every fourth one names no order.
pub(crate) fn message(number: usize) -> String {
    let pick = |texts: &[&'static str]| texts.get(number % texts.len()).copied().unwrap_or_default();
    // The numbers of texts are coprime, so the same four meet only in every 420th message.
    let (opening, thing, trouble, wish) = (pick(&OPENINGS), pick(&THINGS), pick(&TROUBLES), pick(&WISHES));
    let order = if number % 4 == 3 { String::new() } else { format!(" from order #{}", 70_000 + number) };
    format!("{opening} my {thing}{order} {trouble}. {wish}")
}

/// The number of the order that a message names.
pub(crate) fn order(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once('#')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end).filter(|order| !order.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_messages_of_four_name_their_order() {
        assert_eq!(order(&message(0)), Some("70000"));
        assert_eq!((0..1000).filter(|&number| order(&message(number)).is_some()).count(), 750);
        assert_eq!(order("no # here"), None);
    }
}
