; What TypeScript adds to the query of JavaScript.

(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @trait
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)] @value) @function
((public_field_definition "static" name: (_) @name) @constant (#match? @name "^[^a-z]+$"))

(import_statement (import_require_clause (identifier) @text source: (_) @source)) @import
(import_alias (identifier) @text (_) @source) @import

(type_identifier) @use
(internal_module name: (_) @skip)
(module name: (_) @skip)
(type_predicate name: (_) @skip)
(index_signature name: (_) @skip)

(required_parameter name: (identifier) @local)
(required_parameter pattern: (identifier) @local)
(optional_parameter name: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_parameter name: (_) @local)
(mapped_type_clause name: (_) @local)

(required_parameter value: (_) @long)
(optional_parameter value: (_) @long)
