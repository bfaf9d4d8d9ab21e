use columnar::prelude::*;

flow! { pub struct M0 { source x; column a(x.latest) = prompt("Sum up."); } }
flow! { pub struct M1 { source x; use M0 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M2 { source x; use M1 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M3 { source x; use M2 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M4 { source x; use M3 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M5 { source x; use M4 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M6 { source x; use M5 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M7 { source x; use M6 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M8 { source x; use M7 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M9 { source x; use M8 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M10 { source x; use M9 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M11 { source x; use M10 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M12 { source x; use M11 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M13 { source x; use M12 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M14 { source x; use M13 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M15 { source x; use M14 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }
flow! { pub struct M16 { source x; use M15 { x: x } as m; column a(x.latest, m.a.latest.as("inner")) = prompt("Sum up."); } }

flow! {
    pub struct Chat {
        source user;
        use M16 { x: user } as debate;
        column verdict(debate.a.latest, user.latest) = prompt("Judge.");
    }
}

fn main() {
    drop(Chat::new());
}
