//! The entries of the map.

use std::fmt::Write as _;

use super::folder::Folder;

/// One file of each language, and one that uses it.
const FILES: [(&str, &str); 14] = [
    ("rs/shape.rs", "use std::fmt;\n\npub struct Circle(f64);\n\nimpl Circle {\n    pub fn area(&self) -> f64 { 3.0 }\n}\n\nimpl fmt::Display for Circle {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { Ok(()) }\n}\n\nconst PI: f64 = 3.0;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_round() {}\n}\n"),
    ("rs/user.rs", "use crate::shape::Circle;\npub fn double(circle: &Circle) -> f64 { 2.0 * circle.area() }\n"),
    ("py/shape.py", "import math\n\nclass Circle(Base):\n    def area(self, scale=1):\n        return math.pi\n\ndef unit() -> Circle:\n    return Circle()\n"),
    ("py/user.py", "from shape import Circle\n\ndef double(circle: Circle):\n    return Circle()\n"),
    ("js/shape.js", "import { pi } from './math';\nexport class Circle extends Base { area() { return pi; } }\nexport const unit = (scale) => new Circle();\n"),
    ("js/user.js", "import { Circle } from './shape';\nexport default function double() { return new Circle(); }\n"),
    ("ts/shape.ts", "export interface Shape { area(): number }\nexport class Circle implements Shape { area(): number { return 3; } }\nexport type Unit = Circle;\n"),
    ("ts/user.ts", "import { Circle } from './shape';\nexport function double(circle: Circle): number { return 2 * circle.area(); }\n"),
    ("c/shape.h", "#include <math.h>\nstruct circle { double radius; };\ndouble area(struct circle *c);\n"),
    ("c/user.c", "#include \"shape.h\"\ndouble twice(struct circle *c) { return 2 * area(c); }\n"),
    ("cpp/shape.hpp", "#include <cmath>\nnamespace shapes {\nclass Circle : public Base {\npublic:\n  double area() const;\n};\n}\n"),
    ("cpp/user.cpp", "#include \"shape.hpp\"\ndouble twice(const shapes::Circle &c) { return 2 * c.area(); }\n"),
    ("go/shape.go", "package shape\n\nimport \"math\"\n\ntype Circle struct { Radius float64 }\n\nfunc (c Circle) Area() float64 { return math.Pi }\n\nfunc Unit(scale int) Circle { return Circle{} }\n"),
    ("go/user.go", "package shape\n\nfunc Double() Circle { return Unit(2) }\n"),
];

#[test]
fn t25_an_entry_has_imports_symbols_and_references() {
    let mut folder = Folder::of(&FILES);
    folder.scan();
    let entries = FILES.iter().step_by(2).map(|(path, _)| format!("{path}\n{}\n", folder.entry(path).unwrap()));
    let entries = entries.collect::<Vec<_>>().join("\n");
    assert_eq!(entries, "");
    assert_eq!(folder.entry("rs/user.rs").unwrap(), "");
}
