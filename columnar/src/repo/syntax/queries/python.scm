; Definitions

(class_definition name: (_) @name) @class
(function_definition name: (_) @name) @function
(decorated_definition definition: (_) @inner) @around
; Only names in capitals are constants. A call may make a type.
((assignment left: (identifier) @name) @constant (#match? @name "^_*[A-Z][A-Z0-9_]+$"))
((assignment left: (identifier) @name type: (type (identifier) @_type)) @type (#eq? @_type "TypeAlias"))
((assignment left: (identifier) @name right: (call function: [
    (identifier) @_maker
    (attribute attribute: (identifier) @_maker)
  ])) @type (#any-of? @_maker "NamedTuple" "NewType" "TypeVar" "TypedDict" "namedtuple"))
(type_alias_statement left: (_) @name) @type

(lambda) @closure

; Imports

(import_statement name: (_) @text) @import
(import_from_statement module_name: (_) @source (wildcard_import) @text) @import
(import_from_statement module_name: (_) @source name: (_) @text) @import
(future_import_statement "__future__" @source name: (_) @text) @import

; References

(identifier) @use

(aliased_import alias: (_) @skip)
(keyword_argument name: (_) @skip)
(global_statement) @skip
(nonlocal_statement) @skip

; Names that are bound

(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(typed_parameter (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(assignment left: (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(named_expression name: (identifier) @local)
(as_pattern_target (identifier) @local)
(pattern_list (identifier) @local)
(tuple_pattern (identifier) @local)
(list_pattern (identifier) @local)

; Parts of a text that are not shown, or not read

(default_parameter value: (_) @long)
(typed_default_parameter value: (_) @long)
(keyword_argument value: (_) @long)
(comment) @comment
