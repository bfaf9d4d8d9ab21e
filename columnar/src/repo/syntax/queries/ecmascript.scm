; What JavaScript and TypeScript have in common.

; Imports

(import_statement (import_clause) @text source: (_) @source) @import
(import_statement source: (_) @source) @import
(export_statement [(export_clause) (namespace_export) "*"] @text source: (_) @source) @import
; A variable with a module is no constant.
((variable_declarator name: (_) @text @name value: [
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @source))
    (member_expression object:
      (call_expression function: (identifier) @_require arguments: (arguments . (string) @source)))
  ]) @import @nothing (#eq? @_require "require"))
((assignment_expression left: (_) @text right: [
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @source))
    (member_expression object:
      (call_expression function: (identifier) @_require arguments: (arguments . (string) @source)))
  ]) @import (#eq? @_require "require"))
((expression_statement
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @source))) @import
  (#eq? @_require "require"))

; Definitions

(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(method_definition name: (_) @name) @function
(class_declaration name: (_) @name) @class
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @value) @function
(variable_declarator name: (identifier) @name value: (class) @value) @class
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)
((variable_declarator name: (identifier) @name) @constant (#match? @name "^[^a-z]+$"))
(export_statement value: (class name: (_) @name) @value) @class
(export_statement "default" @name value: (class) @value) @class
(export_statement value: (function_expression name: (_) @name) @value) @function
(export_statement "default" @name
  value: [(arrow_function) (function_expression) (generator_function)] @value) @function

; An assignment to a member is the definition of that in modules of CommonJS.
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (_) @_exports) @name
  right: [(arrow_function) (function_expression) (generator_function)] @value)
  (#eq? @_module "module") (#eq? @_exports "exports")) @function
(expression_statement (assignment_expression
  left: (member_expression property: (_) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @value)) @function
(expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (_) @_exports) @name
  right: (class) @value)
  (#eq? @_module "module") (#eq? @_exports "exports")) @class
(expression_statement (assignment_expression
  left: (member_expression property: (_) @name) right: (class) @value)) @class

(arrow_function) @closure
(function_expression) @closure
(generator_function) @closure

; References

(identifier) @use
(shorthand_property_identifier) @use
(property_identifier) @member
(private_property_identifier) @member

(import_specifier alias: (_) @skip)
(export_specifier alias: (_) @skip)
(namespace_import) @skip
(namespace_export) @skip

; Names that are bound

(shorthand_property_identifier_pattern) @local
(variable_declarator name: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(function_expression name: (_) @local)
(class name: (_) @local)
(for_in_statement left: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(array_pattern (identifier) @local)
(rest_pattern (identifier) @local)
(pair_pattern value: (identifier) @local)
(assignment_pattern left: (identifier) @local)

; Parts of a text that are not shown, or not read

(assignment_pattern right: (_) @long)
(comment) @comment
