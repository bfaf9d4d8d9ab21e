; What C++ adds to the query of C.

(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @trait
(field_declaration [(storage_class_specifier) (type_qualifier)] @_word declarator: (_) @declarator
  (#any-of? @_word "static" "constexpr")) @constant
(field_declaration declarator: (_) @declarator) @function
(template_declaration parameters: (_) @prefix [
    (alias_declaration) (class_specifier) (concept_definition) (declaration) (function_definition) (struct_specifier)
    (union_specifier)
  ] @inner) @around

(lambda_expression) @closure

(namespace_identifier) @use
(attribute_declaration) @skip
(namespace_definition name: (_) @skip)

(reference_declarator (identifier) @local)
(structured_binding_declarator (identifier) @local)
(optional_parameter_declaration declarator: (identifier) @local)
(variadic_declarator (identifier) @local)
(for_range_loop declarator: (identifier) @local)
(type_parameter_declaration (type_identifier) @local)
(variadic_type_parameter_declaration (type_identifier) @local)
(optional_type_parameter_declaration name: (type_identifier) @local)

(optional_parameter_declaration default_value: (_) @long)
