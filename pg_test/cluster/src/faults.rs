//! Lists of faults: an enum of them, each of them once, and the words by which reports name it.

/// Defines such an enum: `faults! { /// What befalls a server. Fault { Restart: "it restarts", } }`.
macro_rules! faults {
    ($(#[$about:meta])* $name:ident { $($fault:ident: $words:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($fault,)+
        }

        impl $name {
            /// Each once.
            pub const ALL: &[Self] = &[$(Self::$fault,)+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(match self {
                    $(Self::$fault => $words,)+
                })
            }
        }
    };
}

pub(crate) use faults;
