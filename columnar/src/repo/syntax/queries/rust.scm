; Definitions

(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(mod_item name: (_) @name) @module
(trait_item name: (_) @name) @trait
(union_item name: (_) @name) @class
(enum_item name: (_) @name) @enum
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @constant
; Most structs with fields in parentheses wrap one value, whose type says more than a name of a field would.
(struct_item name: (_) @name body: (ordered_field_declaration_list) @to) @class
(struct_item name: (_) @name) @class
(impl_item trait: (_) @from type: (_) @name) @impl
(impl_item type: (_) @name @from) @impl
(macro_definition name: (_) @name . (macro_rule left: (_) @from @to)) @macro
(macro_definition name: (_) @name) @macro

(closure_expression) @closure

; Imports

(use_declaration argument: (_) @text) @import
(extern_crate_declaration name: (_) @text) @import

; References

(identifier) @use
(type_identifier) @use
(field_identifier) @member

; Of `use a::b::{c, d::e as f}`, the names `c` and `e` are imported.
(use_declaration argument: (scoped_identifier path: (_) @skip))
(use_list (scoped_identifier path: (_) @skip))
(use_as_clause path: (scoped_identifier path: (_) @skip))
(use_as_clause alias: (_) @skip)
(scoped_use_list path: (_) @skip)
(attribute arguments: (_) @skip)
(enum_variant name: (_) @skip)
(macro_rule left: (_) @skip)
(visibility_modifier) @skip
(lifetime) @skip
(label) @skip

; Names that are bound. In a pattern, a name with a capital is a constant.

(let_declaration pattern: (identifier) @local) @after
(parameter pattern: (identifier) @local)
(closure_parameters (identifier) @local)
(for_expression pattern: (identifier) @local)
((match_pattern . (identifier) @local) (#match? @local "^[^A-Z]"))
((tuple_struct_pattern type: (_) (identifier) @local) (#match? @local "^[^A-Z]"))
((tuple_pattern (identifier) @local) (#match? @local "^[^A-Z]"))
((slice_pattern (identifier) @local) (#match? @local "^[^A-Z]"))
((or_pattern (identifier) @local) (#match? @local "^[^A-Z]"))
((field_pattern pattern: (identifier) @local) (#match? @local "^[^A-Z]"))
(field_pattern name: (shorthand_field_identifier) @local)
(captured_pattern . (identifier) @local)
(reference_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(mut_pattern (identifier) @local)
(type_parameter name: (_) @local)
(const_parameter name: (_) @local)

; Parts of a text that are not shown, or not read.

(line_comment) @comment
(block_comment) @comment
