//! The rules of requests from paths, one by one. The name of a test begins with its row of `tests/LOOM.md`.

use columnar::budget::{Budget, Strategy};
use columnar::cache::CachePolicy;
use columnar::loom::{
    Agent, Assembled, Author, Aware, Edge, LoomError, Mark, Memory, Mode, NodeId, Path, Tree,
};
use columnar::rendering::Rendering;
use columnar::tokens::Counter;
use serde_json::{Value as Json, json};

use super::long::dice;

/// A tree whose nodes alternate, or have the authors of a list.
struct Talk {
    tree: Tree,
    dice: Box<dyn FnMut() -> u64>,
    nodes: Vec<NodeId>,
}

impl Talk {
    fn new(mode: Mode) -> Self {
        Self { tree: Tree::new(mode), dice: Box::new(dice(5)), nodes: Vec::new() }
    }

    fn of(mode: Mode, turns: &[(Author, &str)]) -> Self {
        let mut talk = Self::new(mode);
        turns.iter().for_each(|(author, text)| talk.say(*author, text));
        talk
    }

    fn say(&mut self, author: Author, text: &str) {
        let from = self.nodes.last().map_or_else(Edge::root, Edge::from);
        self.say_from(from, author, text);
    }

    fn say_from(&mut self, from: Edge, author: Author, text: &str) {
        let node = self.tree.append(&mut self.dice, from, author, text).unwrap();
        self.nodes.push(node);
    }

    fn aside(&mut self, text: &str) -> NodeId {
        self.tree.aside(&mut self.dice, Human, text).unwrap()
    }

    fn path(&self) -> Path<'_> {
        self.tree.path(self.nodes.last().unwrap(), &[]).unwrap()
    }

    fn dialogue(&self, agent: &Agent) -> Assembled {
        self.path().dialogue(agent).unwrap()
    }
}

use Author::{Human, Model};

fn messages(asked: &Assembled) -> Json {
    serde_json::to_value(asked.messages()).unwrap()
}

fn budget(tokens: usize) -> Budget {
    Budget::of(tokens).token_buffer(0)
}

/// Ten turns of ten tokens each, with the separator.
fn ten(mode: Mode) -> Talk {
    let mut talk = Talk::new(mode);
    for turn in 0..10 {
        let author = if turn % 2 == 0 { Human } else { Model };
        talk.say(author, &format!("{turn:036}"));
    }
    talk
}

#[test]
fn l05_the_system_text_is_that_of_the_agent_the_tree_and_the_instructions() {
    let mut talk = Talk::of(Mode::Dialogue, &[(Human, "Why?"), (Model, "So.")]);
    let agent = Agent::new(" You are kind.\n");
    assert_eq!(talk.dialogue(&Agent::new(" \n")).system(), None);
    assert_eq!(talk.dialogue(&agent).system(), Some("You are kind."));
    talk.tree.set_system(Some("\nIt is night.  ")).unwrap();
    let (first, blank, second) = (talk.aside("Be brief. "), talk.aside(" "), talk.aside("No, be long."));
    let from = Edge::from(talk.nodes.last().unwrap()).instruction(&first).instruction(&blank);
    talk.say_from(from, Human, "And?");
    let last = Edge::from(talk.nodes.last().unwrap()).instruction(&second);
    let asked = talk.tree.path(last, &[]).unwrap().dialogue(&agent).unwrap();
    assert_eq!(asked.system(), Some("You are kind.\n\nIt is night.\n\nBe brief.\n\nNo, be long."));
    assert_eq!(asked.request(&agent).system.as_ref(), asked.system().unwrap());
    assert!(!messages(&asked).to_string().contains("brief"));
    // The request before the second instruction had the first alone.
    assert_eq!(talk.dialogue(&agent).system(), Some("You are kind.\n\nIt is night.\n\nBe brief."));
}

#[test]
fn l06_a_provider_without_a_system_field_gets_it_as_its_convention_demands() {
    let talk = Talk::of(Mode::Dialogue, &[(Human, "Why?")]);
    let agent = Agent::new("Be kind.");
    let asked = talk.dialogue(&agent);
    let rendering = Rendering::new(asked.system().unwrap(), asked.messages());
    let first = json!({ "role": "system", "content": "Be kind." });
    assert_eq!(rendering.merged(), json!([first, { "role": "user", "content": "Why?" }]));
    assert_eq!(rendering.alternating(), json!([{ "role": "user", "content": "Be kind.\n\nWhy?" }]));
    assert_eq!(rendering.anthropic()["system"][0]["text"], "Be kind.");
    let of = asked.request(&agent);
    let policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5");
    assert_eq!(Rendering::of(&of, policy).anthropic()["messages"][0]["content"][0]["text"], "Why?");
    let agent = agent.max_tokens(70).temperature(0.5).stop(["\n"]).model("openai/gpt-4o-mini");
    let of = asked.request(&agent);
    assert_eq!(
        (of.max_tokens, of.settings.temperature, &*of.settings.stop),
        (70, Some(0.5), &["\n".to_owned()][..])
    );
}

#[test]
fn l07_context_stands_before_the_primary_source_as_text_of_the_user() {
    let mut talk = Talk::of(Mode::Dialogue, &[(Human, "Who is it?")]);
    let (photo, letter) = (talk.aside("<photo> & co"), talk.aside("A letter."));
    talk.say_from(Edge::from(&talk.nodes[0]).context(&photo).context(&letter), Model, "Ada.");
    let asked = talk.dialogue(&Agent::new(""));
    let expected = json!([
        { "role": "user", "content": "<photo> & co\n\nA letter.\n\nWho is it?" },
        { "role": "assistant", "content": "Ada." },
    ]);
    assert_eq!(messages(&asked), expected);
    // Before a reply it is a turn of the user, never words of the model.
    let after = Edge::from(&talk.nodes[1]).context(&letter);
    let asked = talk.tree.path(after, &[]).unwrap().dialogue(&Agent::new("")).unwrap();
    assert_eq!(
        messages(&asked),
        json!([
            { "role": "user", "content": "<photo> & co\n\nA letter.\n\nWho is it?\n\nA letter." },
            { "role": "assistant", "content": "Ada." },
        ])
    );
    let parts: Vec<&str> =
        asked.messages().parts().map(|part| asked.node(&part.origin().unwrap()).unwrap().as_str()).collect();
    let ids: Vec<&str> = asked.nodes().map(NodeId::as_str).collect();
    assert_eq!(parts, ids);
    assert_eq!(ids.len(), 5);
}

#[test]
fn l08_blank_nodes_are_skipped_and_neighbours_of_one_author_are_one_message() {
    let turns = [(Human, "a"), (Human, " \n"), (Model, ""), (Human, "b "), (Model, "c"), (Model, "d")];
    let mut talk = Talk::of(Mode::Dialogue, &turns);
    let expected = json!([
        { "role": "user", "content": "a\n\nb " },
        { "role": "assistant", "content": "c\n\nd" },
    ]);
    assert_eq!(messages(&talk.dialogue(&Agent::new(""))), expected);
    // After nodes dropped out.
    talk.say(Human, "e");
    for dropped in [4, 5] {
        talk.tree.mark(&talk.nodes[dropped], Mark::Excluded, true).unwrap();
    }
    assert_eq!(
        messages(&talk.dialogue(&Agent::new(""))),
        json!([{ "role": "user", "content": "a\n\nb \n\ne" }])
    );
}

#[test]
fn l09_messages_that_would_begin_with_the_assistant_are_led() {
    let mut talk = Talk::of(Mode::Dialogue, &[(Model, "Welcome."), (Human, "Hi.")]);
    let lead = json!({ "role": "user", "content": "<elided/>" });
    let expected = json!([
        lead,
        { "role": "assistant", "content": "Welcome." },
        { "role": "user", "content": "Hi." },
    ]);
    assert_eq!(messages(&talk.dialogue(&Agent::new(""))), expected);
    for node in talk.nodes.clone() {
        talk.tree.mark(&node, Mark::Excluded, true).unwrap();
    }
    let error = talk.path().dialogue(&Agent::new("")).unwrap_err();
    assert!(matches!(&error, LoomError::Empty { node: Some(node) } if *node == talk.nodes[1]), "{error}");
    // A document has no roles.
    talk.tree.mark(&talk.nodes[0], Mark::Excluded, false).unwrap();
    let asked = talk.path().buffer("", &Agent::new("")).unwrap();
    assert_eq!(messages(&asked), json!([{ "role": "user", "content": "Welcome." }]));
}

#[test]
fn l10_a_buffer_is_one_text_with_nothing_between() {
    let turns = [(Human, "Once "), (Model, ""), (Model, "there\n"), (Human, "\n was")];
    let mut talk = Talk::of(Mode::Buffer, &turns);
    let agent = Agent::new("You write.");
    let before = talk.path().buffer(" a fox </b>", &agent).unwrap();
    assert_eq!(before.text(), "Once there\n\n was a fox </b>");
    assert_eq!(messages(&before), json!([{ "role": "user", "content": before.text() }]));
    assert_eq!(before.nodes().count(), 4);
    talk.say(Human, " a fox </b>");
    let after = talk.path().buffer("", &agent).unwrap();
    assert_eq!(
        (messages(&after), after.messages().tokens()),
        (messages(&before), before.messages().tokens())
    );
    let empty = Tree::new(Mode::Buffer);
    let path = empty.path(Edge::root(), &[]).unwrap();
    assert_eq!(path.buffer("Once", &agent).unwrap().text(), "Once");
    assert!(matches!(path.buffer("", &agent), Err(LoomError::Empty { node: None })));
}

#[test]
fn l11_a_buffer_has_no_system_text_unless_the_tree_says_so() {
    let mut talk = Talk::of(Mode::Buffer, &[(Human, "Once")]);
    talk.tree.set_system(Some("In old English.")).unwrap();
    let rule = talk.aside("Short words.");
    let edge = Edge::from(&talk.nodes[0]).instruction(&rule);
    let agent = Agent::new("You write.");
    let asked = |tree: &Tree| {
        let asked = tree.path(&edge, &[]).unwrap().buffer(" upon", &agent).unwrap();
        assert_eq!(asked.text(), "Once upon");
        [asked.system(), asked.unsent_system()].map(|text| text.map(ToOwned::to_owned))
    };
    // The texts of the agent and of the tree were left out without a word.
    let whole = Some("You write.\n\nIn old English.\n\nShort words.".to_owned());
    assert_eq!(asked(&talk.tree), [None, whole.clone()]);
    let path = talk.tree.path(&talk.nodes[0], &[]).unwrap();
    let unsent = path.buffer("", &agent).unwrap();
    assert!(format!("{unsent:?}").contains("unsent_system: 27"), "{unsent:?}");
    assert_eq!(path.dialogue(&agent).unwrap().unsent_system(), None);
    talk.tree.set_system_in_buffer(true).unwrap();
    assert_eq!(asked(&talk.tree), [whole, None]);
    talk.tree.set_system_in_buffer(false).unwrap();
    talk.tree.set_system(None).unwrap();
    let asked = talk.tree.path(&talk.nodes[0], &[]).unwrap().buffer("", &Agent::new(" ")).unwrap();
    assert_eq!(asked.unsent_system(), None);
}

/// One token for each character.
struct Characters;

impl Counter for Characters {
    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }
}

#[test]
fn l12_an_estimate_is_a_token_for_four_bytes() {
    let talk = Talk::of(Mode::Dialogue, &[(Human, "héllo"), (Model, "four")]);
    let asked = talk.dialogue(&Agent::new(""));
    let tokens: Vec<usize> = asked.messages().parts().map(|part| part.tokens()).collect();
    // Each with the separator.
    assert_eq!(tokens, [2 + 1, 1 + 1]);
    assert_eq!(asked.messages().tokens(), 5);
    assert_eq!(talk.dialogue(&Agent::new("").counter(Characters)).messages().tokens(), 5 + 2 + 4 + 2);
    assert_eq!(talk.path().buffer("", &Agent::new("")).unwrap().messages().tokens(), 2 + 1);
}

#[test]
fn l13_the_system_text_is_never_cut() {
    let talk = ten(Mode::Dialogue);
    let agent = Agent::new("x".repeat(400)).budget(budget(145));
    let asked = talk.dialogue(&agent);
    // 100 tokens of system text leave 45 for messages.
    assert_eq!((asked.report().unwrap().limit, asked.system().unwrap().len()), (45, 400));
    assert!(asked.messages().tokens() <= 45);
    let error = talk.path().dialogue(&agent.clone().budget(budget(100))).unwrap_err();
    assert!(matches!(error, LoomError::NoRoom { .. }));
    let text = error.to_string();
    assert!(text.contains("100 tokens") && text.contains("raise the budget to at least 101"), "{text}");
    // The reserve for the reply is 1,024 by default.
    let error = talk.path().dialogue(&Agent::new("").budget(Budget::of(1_024))).unwrap_err().to_string();
    assert!(error.contains("1024 are reserved for the reply"), "{error}");
    let instruction = Talk::of(Mode::Dialogue, &[(Human, "a")]);
    let mut tree = instruction.tree.clone();
    let rule = tree.aside(&mut dice(9), Human, "y".repeat(400)).unwrap();
    let edge = Edge::from(&instruction.nodes[0]).instruction(&rule);
    let error = tree.path(edge, &[]).unwrap().dialogue(&Agent::new("").budget(budget(90))).unwrap_err();
    assert!(matches!(error, LoomError::NoRoom { .. }), "{error}");
}

#[test]
fn l14_turns_are_cut_before_they_are_joined_and_one_stays() {
    let mut talk = Talk::new(Mode::Dialogue);
    for turn in 0..10 {
        talk.say(Human, &format!("{turn:036}"));
    }
    let agent = Agent::new("").budget(budget(35).rolling_window());
    let asked = talk.dialogue(&agent);
    // Three of ten turns of one message.
    assert_eq!(asked.nodes().count(), 3);
    assert_eq!(messages(&asked).as_array().unwrap().len(), 1);
    let tiny = talk.dialogue(&Agent::new("").budget(budget(2).rolling_window()));
    assert_eq!((tiny.nodes().count(), tiny.report().unwrap().is_over_limit()), (1, true));
}

#[test]
fn l15_the_middle_is_cut_by_default() {
    let talk = ten(Mode::Dialogue);
    let asked = talk.dialogue(&Agent::new("").budget(budget(75)));
    // Four newest turns, then the oldest and the next newest, with the marker of 9 to 10 tokens.
    let kept: Vec<&NodeId> = asked.nodes().collect();
    assert_eq!(kept, [0, 5, 6, 7, 8, 9].map(|at| &talk.nodes[at]));
    assert_eq!(asked.elided().collect::<Vec<_>>(), [1, 2, 3, 4].map(|at| &talk.nodes[at]));
    let json = messages(&asked);
    let first = json[0]["content"].as_str().unwrap();
    assert!(first.ends_with("\n\n<elided>4 turns, about 40 tokens</elided>"), "{first}");
    let report = asked.report().unwrap();
    assert_eq!((report.strategy, report.turns, report.before), (Strategy::TruncateMiddle, 4, 100));
    let buffer = talk.path().buffer("", &Agent::new("").budget(budget(70))).unwrap();
    assert!(buffer.text().contains("0<elided>"), "{}", buffer.text());
    assert!(buffer.messages().tokens() <= 70);
}

#[test]
fn l16_a_rolling_window_has_the_newest_turns_alone() {
    let talk = ten(Mode::Dialogue);
    let asked = talk.dialogue(&Agent::new("").budget(budget(45).rolling_window()));
    assert_eq!(asked.nodes().collect::<Vec<_>>(), [6, 7, 8, 9].map(|at| &talk.nodes[at]));
    assert!(!messages(&asked).to_string().contains("elided>4"));
}

#[test]
fn l17_stopping_at_the_limit_names_the_largest_nodes() {
    let mut talk = ten(Mode::Dialogue);
    talk.say(Human, &"long ".repeat(100));
    let error = talk.path().dialogue(&Agent::new("").budget(budget(200).stop_at_limit())).unwrap_err();
    let LoomError::OverLimit { tokens: 226, limit: 200, contributors, others: 0 } = &error else {
        panic!("{error}")
    };
    assert_eq!((&contributors[0], contributors.len()), (&(talk.nodes[10].clone(), 126), 11));
    let name = format!("the largest nodes are `{}` with 126", talk.nodes[10]);
    assert!(error.to_string().contains(&name) && !error.to_string().contains("long"), "{error}");
    talk.dialogue(&Agent::new("").budget(budget(226).stop_at_limit()));
}

/// The separators of turns and the working text belonged to nobody, so the nodes were up to a third short of the sum.
#[test]
fn l17_the_contributors_add_up() {
    for mode in [Mode::Dialogue, Mode::Buffer] {
        let talk = ten(mode);
        let agent = Agent::new("").budget(budget(20).stop_at_limit());
        let path = talk.path();
        let is_dialogue = mode == Mode::Dialogue;
        let asked = if is_dialogue { path.dialogue(&agent) } else { path.buffer(&"word ".repeat(8), &agent) };
        let error = asked.unwrap_err();
        let LoomError::OverLimit { tokens, contributors, others, .. } = &error else { panic!("{error}") };
        assert_eq!(*others, if is_dialogue { 0 } else { 10 });
        assert_eq!(contributors.iter().map(|(_, tokens)| tokens).sum::<usize>() + others, *tokens);
    }
}

#[test]
fn l18_fewer_recent_turns_stay_if_they_do_not_fit() {
    let talk = ten(Mode::Dialogue);
    let asked = talk.dialogue(&Agent::new("").budget(budget(32)));
    let report = asked.report().unwrap();
    assert!(report.kept_fewer && !report.is_over_limit(), "{report}");
    assert_eq!(asked.nodes().count(), 2);
    let asked = talk.dialogue(&Agent::new("").budget(budget(5)));
    let report = asked.report().unwrap();
    assert!(report.is_over_limit() && report.kept_fewer, "{report}");
    assert_eq!(asked.nodes().collect::<Vec<_>>(), [&talk.nodes[9]]);
}

#[test]
fn l19_each_result_has_a_report() {
    let talk = ten(Mode::Dialogue);
    assert!(talk.dialogue(&Agent::new("")).report().is_none());
    let whole = talk.dialogue(&Agent::new("").budget(budget(1_000)));
    let report = whole.report().unwrap();
    assert_eq!((report.is_truncated(), report.before, report.after, report.limit), (false, 100, 100, 1_000));
    assert_eq!(whole.elided().count(), 0);
    let cut = talk.dialogue(&Agent::new("").budget(budget(60)));
    let report = cut.report().unwrap();
    assert_eq!((report.turns, cut.elided().count()), (10 - cut.nodes().count(), 10 - cut.nodes().count()));
    assert_eq!(report.after, cut.messages().tokens());
    let parts: usize = cut.messages().parts().map(|part| part.tokens()).sum();
    assert_eq!(parts, report.after);
    let breakdown = cut.messages().breakdown(cut.system().unwrap_or_default());
    assert_eq!(breakdown.tokens, report.after);
}

#[test]
fn l20_with_a_low_water_mark_a_cut_stays_along_the_path() {
    let mut talk = Talk::new(Mode::Dialogue);
    let agent = Agent::new("").budget(budget(100).rolling_window().low_water(0.5));
    let mut first: Vec<NodeId> = Vec::new();
    for turn in 0..60 {
        talk.say(if turn % 2 == 0 { Human } else { Model }, &format!("{turn:036}"));
        if turn % 2 == 0 {
            first.push(talk.dialogue(&agent).nodes().next().unwrap().clone());
        }
    }
    let moves = first.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Each cut leaves 50 tokens, and holds for the next 50, which are five turns.
    assert!((9..=12).contains(&moves), "{moves} of {}", first.len());
    // The request of the past is the same now.
    for (at, first) in first.iter().enumerate() {
        let path = talk.tree.path(&talk.nodes[2 * at], &[]).unwrap();
        assert_eq!(path.dialogue(&agent).unwrap().nodes().next(), Some(first));
    }
}

#[test]
fn l21_settings_come_from_the_agent_then_the_tree() {
    let mut talk = ten(Mode::Dialogue);
    talk.tree.set_budget(budget(45).rolling_window()).unwrap();
    assert_eq!(talk.dialogue(&Agent::new("")).nodes().count(), 4);
    // Field by field.
    let asked = talk.dialogue(&Agent::new("").budget(Budget::of(75)));
    assert_eq!((asked.nodes().count(), asked.report().unwrap().strategy), (7, Strategy::RollingWindow));
    let asked = talk.dialogue(&Agent::new("").budget(Budget::new().truncate_middle().minimum_recent(1)));
    assert_eq!(asked.nodes().next(), Some(&talk.nodes[0]));
    // A request of the past has the budget of its time.
    talk.say(Model, "Yes.");
    talk.tree.set_budget(Budget::new()).unwrap();
    let past = talk.tree.asked(&talk.nodes[10], &[]).unwrap().dialogue(&Agent::new("")).unwrap();
    assert_eq!(past.nodes().count(), 4);
    assert_eq!(talk.dialogue(&Agent::new("")).nodes().count(), 11);
}

#[test]
fn l22_headers_stay_where_turns_are_joined() {
    let mut talk = Talk::of(Mode::Dialogue, &[(Human, "a"), (Human, "b"), (Model, "c")]);
    let [a, b, c] = [0, 1, 2].map(|at| talk.nodes[at].clone());
    talk.tree.annotate(&mut dice(8), &b, Human, "note").unwrap();
    talk.tree.annotate(&mut dice(10), &b, Model, "note").unwrap();
    talk.tree.mark(&b, Mark::Bookmarked, true).unwrap();
    let age = std::time::Duration::from_secs;
    let (first, second) = (a.clone(), b.clone());
    let aware = Aware::new("T").ages(move |node| match node {
        node if *node == first => Some(age(7_300)),
        node if *node == second => Some(age(59)),
        _ => None,
    });
    let asked = talk.dialogue(&Agent::new("").aware(aware.clone()));
    let json = messages(&asked);
    let expected = format!(
        "[{a}] human · 2h ago\n1 continuation\n---\na\n\n[{b}] human · 59s ago\n1 continuation · 2 annotations · \
         bookmarked\n---\nb"
    );
    assert_eq!(json[0]["content"], expected);
    assert_eq!(json[1]["content"], format!("[{c}] model\n---\nc"));
    // The same nodes and ages lead to the same text.
    assert_eq!(messages(&talk.dialogue(&Agent::new("").aware(aware))), json);
    assert_eq!(asked.node(&asked.messages().parts().next().unwrap().origin().unwrap()), Some(&a));
}

#[test]
fn l23_the_position_is_before_the_newest_turn_and_memory_ends_the_system_text() {
    let mut talk = Talk::new(Mode::Dialogue);
    for turn in 0..7 {
        talk.say(if turn % 2 == 0 { Human } else { Model }, &format!("turn {turn}"));
    }
    talk.tree.set_system(Some("It is night.")).unwrap();
    let pinned = talk.nodes[1].clone();
    talk.tree.mark(&pinned, Mark::Pruned, true).unwrap();
    talk.tree.mark(&talk.nodes[2], Mark::Pruned, false).unwrap();
    for node in &talk.nodes[2..] {
        talk.tree.prune_one(node, false).unwrap();
    }
    let memory = Memory::new()
        .pin(&pinned)
        .stash("key", "under the stone")
        .stash("name", "Ada")
        .recall("name")
        .action("viewed a")
        .action("annotated b");
    let aware = Aware::new("House \"A\"")
        .permissions(["read", "write"])
        .other("Human active at [c4m2]")
        .memory(memory);
    let agent = Agent::new("You are kind.").aware(aware);
    let asked = talk.dialogue(&agent);
    let id = |at: usize| talk.nodes[at].as_str();
    let block = format!(
        "=== Loom Context ===\nTree: \"House \\\"A\\\"\" (dialogue mode)\n7 nodes · 1 branch · depth: 6\nPosition: \
         ... → [{}] → [{}] → [{}] → [{}]*\nPermissions: read, write\nHuman active at [c4m2]\n===\n\n[{}] human\n---\nturn 6",
        id(3),
        id(4),
        id(5),
        id(6),
        id(6)
    );
    assert_eq!(asked.text(), block);
    assert!(!messages(&asked).to_string().contains("turn 1"));
    let system = asked.system().unwrap();
    let order =
        ["You are kind.", "Your permissions: read, write.", "It is night.", "=== Operational Memory ==="];
    let at: Vec<usize> = order.iter().map(|text| system.find(text).unwrap()).collect();
    assert!(at.is_sorted(), "{system}");
    let memory = format!(
        "Pinned:\n  [{pinned}] \"turn 1\"\nRecalled:\n  \"name\": \"Ada\"\nRecent actions:\n  viewed a · annotated \
         b\nStashed (not in context): \"key\"\n==="
    );
    assert!(system.ends_with(&memory), "{system}");
    // The newest turn is never cut, so the block is not either.
    let tiny = talk.dialogue(&agent.clone().budget(budget(system.len() / 4 + 20)));
    assert!(tiny.text().ends_with(&block), "{}", tiny.text());
    // After a reply it is a turn of its own.
    talk.say(Model, "turn 7");
    let asked = talk.dialogue(&agent);
    assert!(asked.text().starts_with("=== Loom Context ===") && asked.text().ends_with("\n==="));
    assert_eq!(asked.nodes().last(), talk.nodes.last());
}

/// It was empty.
#[test]
fn the_text_of_a_path_that_ends_with_a_model_is_that_of_the_model() {
    let (mut tree, mut dice) = (Tree::new(Mode::Dialogue), dice(8));
    let question = tree.append(&mut dice, Edge::root(), Human, "Why?").unwrap();
    let answer = tree.append(&mut dice, &question, Model, "Because.").unwrap();
    let more = tree.append(&mut dice, &answer, Model, "And so on.").unwrap();
    let asked = tree.path(&more, &[]).unwrap().dialogue(&Agent::new("")).unwrap();
    assert_eq!(asked.text(), "Because.\n\nAnd so on.");
}

/// A request is the same before its reply exists, and afterwards.
#[test]
fn l22_the_blocks_of_a_past_request_are_those_of_its_time() {
    let mut talk = Talk::of(Mode::Dialogue, &[(Human, "a"), (Model, "b"), (Human, "c")]);
    let memory = Memory::new().pin_text("x\n===\ny", "text").action("one\ntwo");
    let aware = Aware::new("T").permissions(["read\n==="]).other("Ada\rBob").memory(memory);
    let agent = Agent::new("").aware(aware);
    let before = talk.dialogue(&agent);
    assert!(before.text().contains("Permissions: read ===\nAda Bob\n==="), "{}", before.text());
    assert!(before.system().unwrap().contains("  x === y: \"text\"\nRecent actions:\n  one two\n==="));
    talk.say(Model, "d");
    let reply = talk.nodes[3].clone();
    talk.say(Human, "e");
    talk.tree.mark(&talk.nodes[0], Mark::Bookmarked, true).unwrap();
    talk.tree.annotate(&mut dice(11), &talk.nodes[1], Human, "note").unwrap();
    let after = talk.tree.asked(&reply, &[]).unwrap().dialogue(&agent).unwrap();
    assert_eq!((messages(&after), after.system()), (messages(&before), before.system()));
}
