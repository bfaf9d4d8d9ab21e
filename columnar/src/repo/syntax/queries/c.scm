; Definitions. The name of a declarator is inside of any number of other declarators.

(preproc_function_def name: (_) @name parameters: (_) @from @to) @macro
; A macro without a value guards a header, or is a flag for the preprocessor.
(preproc_def name: (_) @name value: (_)) @constant
(function_definition declarator: (_) @declarator) @function
; Variables whose type is defined in the same place leave the place to the type.
(declaration type: (_ name: (_) body: (_)) declarator: (_) @declarator) @nothing
(declaration declarator: (_) @declarator) @constant
; A type without a name has the name of the definition. A type with the same name is the definition.
((type_definition type: (_ name: (_) @_tag body: (_)) declarator: (_) @declarator) @nothing
  (#eq? @_tag @declarator))
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @enum
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @class
(type_definition declarator: (_) @declarator) @type
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @enum

; Imports

(preproc_include path: (_) @text) @import

; References

(identifier) @use
(type_identifier) @use
(field_identifier) @member

(preproc_ifdef name: (_) @skip)
(preproc_defined) @skip
(preproc_params) @skip
(enumerator name: (_) @skip)
(attribute_specifier) @skip
(type_definition declarator: (type_identifier) @skip)

; Names that are bound

(parameter_declaration declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(function_declarator declarator: (identifier) @local)

; Parts of a text that are not shown, or not read

(comment) @comment
