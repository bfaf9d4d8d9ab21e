//! The entries of the map.

use super::folder::Folder;

/// One file of each language, and one that uses it.
const FILES: [(&str, &str); 14] = [
    (
        "rs/shape.rs",
        "use std::fmt;\n\npub struct Circle(f64);\n\nimpl Circle {\n    pub fn area(&self) -> f64 { 3.0 }\n}\n\nimpl fmt::Display for Circle {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }\n}\n\nconst PI: f64 = 3.0;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_round() {}\n}\n",
    ),
    (
        "rs/user.rs",
        "use crate::shape::Circle;\npub fn double(circle: &Circle) -> f64 { 2.0 * circle.area() }\n",
    ),
    (
        "py/shape.py",
        "import math\n\nclass Circle(Base):\n    def area(self, scale=1):\n        return math.pi\n\ndef unit() -> Circle:\n    return Circle()\n",
    ),
    ("py/user.py", "from shape import Circle\n\ndef double(circle: Circle):\n    return Circle()\n"),
    (
        "js/shape.js",
        "import { pi } from './math';\nexport class Circle extends Base { area() { return pi; } }\nexport const unit = (scale) => new Circle();\n",
    ),
    (
        "js/user.js",
        "import { Circle } from './shape';\nexport default function double() { return new Circle(); }\n",
    ),
    (
        "ts/shape.ts",
        "export interface Shape { area(): number }\nexport class Circle implements Shape { area(): number { return 3; } }\nexport type Unit = Circle;\n",
    ),
    (
        "ts/user.ts",
        "import { Circle } from './shape';\nexport function double(circle: Circle): number { return 2 * circle.area(); }\n",
    ),
    (
        "c/shape.h",
        "#include <math.h>\nstruct circle { double radius; };\ndouble area_of(struct circle *c);\n",
    ),
    ("c/user.c", "#include \"shape.h\"\ndouble twice(struct circle *c) { return 2 * area_of(c); }\n"),
    (
        "cpp/shape.hpp",
        "#include <cmath>\nnamespace shapes {\nclass Circle : public Base {\npublic:\n  double area() const;\n};\n}\n",
    ),
    (
        "cpp/user.cpp",
        "#include \"shape.hpp\"\ndouble twice(const shapes::Circle &c) { return 2 * c.area(); }\n",
    ),
    (
        "go/shape.go",
        "package shape\n\nimport \"math\"\n\ntype Circle struct { Radius float64 }\n\nfunc (c Circle) Area() float64 { return math.Pi }\n\nfunc Unit(scale int) Circle { return Circle{} }\n",
    ),
    ("go/user.go", "package shape\n\nfunc Double() Circle { return Unit(2) }\n"),
];

const ENTRIES: &str = "\
rs/shape.rs
← 1 file
i std::fmt
c Circle(f64) ← user.rs
I Circle
 f area(&self) -> f64
I fmt::Display for Circle
k PI: f64 = 3.0

py/shape.py
← 1 file
i math
c Circle(Base) ← user.py
 f area(self, scale=1)
f unit() -> Circle

js/shape.js
← 1 file
i ./math: { pi }
c Circle extends Base ← user.js
 f area()
f unit(scale)

ts/shape.ts
← 1 file
t Shape
 f area(): number
c Circle implements Shape ← user.ts
 f area(): number
y Unit = Circle

c/shape.h
← 1 file
i <math.h>
c circle ← user.c
f area_of(struct circle *c) -> double ← user.c

cpp/shape.hpp
← 1 file
i <cmath>
m shapes
 c Circle: public Base ← user.cpp
  f area() const -> double

go/shape.go
← 1 file
i math
c Circle ← user.go
f Area() float64 on Circle
f Unit(scale int) Circle ← user.go
";

#[test]
fn t25_an_entry_has_imports_symbols_and_references() {
    let mut folder = Folder::of(&FILES);
    folder.scan();
    let defining = FILES.iter().step_by(2);
    let entries = defining.map(|(path, _)| format!("{path}\n{}\n", folder.entry(path).unwrap()));
    assert_eq!(entries.collect::<Vec<_>>().join("\n"), ENTRIES);
    assert_eq!(
        folder.entry("rs/user.rs").unwrap(),
        "i crate::shape::Circle\nf double(circle: &Circle) -> f64 → shape.rs"
    );
}

#[test]
fn t25_long_lists_are_cut() {
    let mut folder = Folder::of(&[]);
    let imports = (0..20).map(|n| format!("use std::m{n:02};"));
    let functions = (0..100).map(|n| format!("pub fn f{n}() {{}}"));
    folder.write("src/many.rs", imports.chain(functions).collect::<Vec<_>>().join("\n"));
    for n in 0..30 {
        folder.write(&format!("src/user_{n:02}.rs"), "use crate::many::f0;\n");
        folder.write(&format!("tests/test_{n:02}.rs"), "use crate::many::f0;\n");
    }
    folder.scan();
    let entry = folder.entry("src/many.rs").unwrap();
    let lines: Vec<&str> = entry.lines().collect();
    assert_eq!(lines[0], "← 30+ files, 30+ tests");
    assert!(lines[1].ends_with("std::m07 +10+"), "{}", lines[1]);
    assert_eq!(lines[2], "f f0() ← user_00.rs, user_01.rs +20+");
    assert_eq!((lines.len(), lines[lines.len() - 1]), (2 + 40 + 1, "+60"));
}

#[test]
fn t25_private_names_are_shown_if_other_files_use_them() {
    let mut folder = Folder::of(&[
        (
            "a.py",
            "def _helper():\n    pass\n\ndef _used():\n    pass\n\nclass A:\n    def __init__(self, n):\n        pass\n\n    def _own(self):\n        pass\n",
        ),
        ("b.py", "from a import _used\n"),
    ]);
    folder.scan();
    assert_eq!(folder.entry("a.py").unwrap(), "← 1 file\nf _used() ← b.py\nc A\n f __init__(self, n)");
}

/// A call of `flatten`, which the standard library has, was a reference to the only file with a function of that name.
#[test]
fn t25_a_name_refers_to_a_file_that_the_text_names() {
    let mut folder = Folder::of(&[
        ("a/tools.rs", "pub fn flatten() {}\npub fn shared() {}\n"),
        ("b/other.rs", "pub fn shared() {}\n"),
        ("b/call.rs", "fn call(list: List) { list.flatten() }\n"),
        ("b/path.rs", "fn path() { crate::a::tools::flatten() }\n"),
        ("b/import.rs", "use crate::b::other::shared;\nfn import() { shared() }\n"),
        ("src/lib.rs", "use tests::helper;\nfn library() { helper() }\n"),
        ("tests/helper.rs", "pub fn helper() {}\n"),
    ]);
    folder.scan();
    let entry = |path: &str| folder.entry(path).unwrap().lines().last().unwrap();
    assert_eq!(entry("b/call.rs"), "f call(list: List)");
    assert_eq!(entry("b/path.rs"), "f path() → a/tools.rs");
    assert_eq!(entry("b/import.rs"), "f import() → other.rs");
    // No library uses its tests.
    assert_eq!(entry("src/lib.rs"), "f library()");
}

/// The import of `fmt` from the standard library referred to the only folder `fmt` of the repository.
#[test]
fn t25_a_path_of_go_refers_to_its_folder() {
    let user =
        |import: &str| format!("package user\n\nimport \"{import}\"\n\nfunc Use() {{ fmt.Print() }}\n");
    let mut folder = Folder::of(&[
        ("go.mod", "module example.org/app\n"),
        ("tpl/fmt/fmt.go", "package fmt\n\nfunc Print() {}\n"),
        ("standard/a.go", &user("fmt")),
        ("foreign/a.go", &user("example.org/other/fmt")),
        ("own/a.go", &user("example.org/app/tpl/fmt")),
    ]);
    folder.scan();
    let entry = |path: &str| folder.entry(path).unwrap().lines().last().unwrap();
    assert_eq!(entry("standard/a.go"), "f Use()");
    assert_eq!(entry("foreign/a.go"), "f Use()");
    assert_eq!(entry("own/a.go"), "f Use() → tpl/fmt/fmt.go");
    assert_eq!(folder.entry("tpl/fmt/fmt.go").unwrap(), "← 1 file\nf Print() ← own/a.go");
}

/// A module of `CommonJS` that only exports another one had no entry, and a class with a macro before its name was a list of
/// functions without a class.
#[test]
fn t25_exports_by_require_and_by_macros_are_read() {
    let mut folder = Folder::of(&[
        (
            "index.js",
            "'use strict'\n\nmodule.exports = require('./lib/app');\nexports.tool = require('./tool');\n",
        ),
        (
            "view.h",
            "class LIB_EXPORT View : public Base {\n public:\n  View(const View&);\n  void show(int n);\n};\n",
        ),
        ("list.h", "#define LIST(a, \\\n             b) a b\n"),
    ]);
    folder.scan();
    assert_eq!(folder.entry("index.js").unwrap(), "i ./lib/app: module.exports, ./tool: exports.tool");
    assert_eq!(folder.entry("view.h").unwrap(), "c View: public Base\n f View(const View&)\n f show(int n)");
    assert_eq!(folder.entry("list.h").unwrap(), "M LIST(a, b)");
}

#[test]
fn t26_files_with_errors_of_syntax_have_the_symbols_that_are_found() {
    let mut folder = Folder::of(&[
        ("half.rs", "fn whole() {}\nstruct Half {\n    a: u8,\nfn next() {}\n"),
        ("half.py", "def whole():\n    pass\n\nclass Half(:\n"),
        ("half.js", "function whole() {}\nclass Half {\n"),
        ("half.ts", "function whole(): void {}\ninterface Half {\n"),
        ("half.c", "int whole(void) { return 1; }\nstruct half {\n"),
        ("half.cpp", "int whole() { return 1; }\nclass Half {\n"),
        ("half.go", "package half\n\nfunc whole() {}\n\ntype Half struct {\n"),
        ("prose.rs", "This is a letter, and not a program. It has no symbols."),
        ("empty.py", ""),
        ("deep.js", &format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000))),
    ]);
    folder.scan();
    for path in ["half.rs", "half.py", "half.js", "half.ts", "half.c", "half.cpp", "half.go"] {
        assert!(folder.entry(path).is_some_and(|entry| entry.contains("f whole(")), "{path}");
    }
    for path in ["prose.rs", "empty.py", "deep.js"] {
        assert_eq!(folder.entry(path), None);
        assert!(folder.documents.tree().unwrap().contains(path));
    }
}
