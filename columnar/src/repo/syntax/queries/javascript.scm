; What only JavaScript has: TypeScript has other fields.

(field_definition property: (_) @name value: [(arrow_function) (function_expression)] @value) @function
((field_definition "static" property: (_) @name) @constant (#match? @name "^[^a-z]+$"))
(formal_parameters (identifier) @local)
