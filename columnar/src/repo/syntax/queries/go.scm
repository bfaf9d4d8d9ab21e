; Definitions

(function_declaration name: (_) @name) @function
; The type of the receiver stands after the signature.
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @on)) name: (_) @name) @function
(method_declaration name: (_) @name) @function
(method_elem name: (_) @name) @function
(type_spec name: (_) @name type: (struct_type) @body) @class
(type_spec name: (_) @name type: (interface_type) @body) @trait
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
((const_spec name: (identifier) @name) @constant (#not-eq? @name "_"))
((var_spec name: (identifier) @name) @constant (#not-eq? @name "_"))

(func_literal) @closure

; Imports

(import_spec name: (_)) @import @text
(import_spec !name path: (_) @source) @import

; References

(identifier) @use
(type_identifier) @use
(field_identifier) @member

; The names of fields: a key is a name in all literals, those of maps too.
(keyed_element key: (_) @skip)
(package_clause) @skip

; Names that are bound

(parameter_declaration name: (_) @local)
(variadic_parameter_declaration name: (_) @local)
(type_parameter_declaration name: (_) @local)
(short_var_declaration left: (expression_list (identifier) @local)) @after
(range_clause left: (expression_list (identifier) @local)) @after
(receive_statement left: (expression_list (identifier) @local)) @after
(type_switch_statement alias: (expression_list (identifier) @local))
(var_spec name: (identifier) @local)
(const_spec name: (identifier) @local)

; Parts of a text that are not shown, or not read

(comment) @comment
