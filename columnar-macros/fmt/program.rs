//! The program, as cargo starts it.
