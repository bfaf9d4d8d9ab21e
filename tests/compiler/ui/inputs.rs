use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        source files: Documents;
        column assistant(user) = prompt("Answer.");
        column input_context_without_a_type(user.latest) = |cx| async move { cx.step().to_string() }; //~
        column input_of_documents(user.latest, files) = async |files| String::from("files"); //~
        column input_of_the_column_itself(user.latest) = (async |topics, user| topics.to_uppercase()).retry(3); //~
        column input_pattern(user.latest) = async |user.latest| user.to_uppercase(); //~
        column input_unknown_tag(user.latest) = async |cx: Context| cx.input("usr").map_or_else(String::new, |text| text.to_uppercase()); //~
        column input_unknown(user.latest) = async |usr| usr.to_uppercase(); //~
        column input_without_its_type(user.latest) = async |user: | user.to_uppercase(); //~
        column condition_unknown_tag(user.latest) = prompt("List the topics.").when(|cx| cx.input("usr").is_some()); //~
        column setting_of_prompts(user.latest) = (|cx: Context| async move { cx.step().to_string() }).retry(3).model("openai/gpt-5.4-mini"); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.files, &chat.assistant, &chat.input_context_without_a_type, &chat.input_of_documents, &chat.input_of_the_column_itself, &chat.input_pattern, &chat.input_unknown_tag, &chat.input_unknown, &chat.input_without_its_type, &chat.condition_unknown_tag, &chat.setting_of_prompts);
}
