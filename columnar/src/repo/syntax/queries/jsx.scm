; Elements: the name of a component begins with a capital.

(jsx_closing_element) @skip
((jsx_opening_element name: (identifier) @skip) (#match? @skip "^[a-z]"))
((jsx_self_closing_element name: (identifier) @skip) (#match? @skip "^[a-z]"))
