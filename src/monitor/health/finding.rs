//! The outcome of a check, and the names in it.

use pgrx::pg_sys;

/// The outcome of a check, from good to bad.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Ok,
    Warning,
    Critical,
}

impl Status {
    /// Returns this status if a condition holds, and otherwise ok.
    pub fn when(self, is_so: bool) -> Self {
        if is_so { self } else { Self::Ok }
    }
}

/// A row of `mint.health()`, without its name.
pub struct Finding {
    pub status: Status,
    pub detail: String,
    /// The action to take; none if all is well.
    pub hint: Option<String>,
}

impl Finding {
    /// Returns the finding that nothing is wrong.
    pub fn ok(detail: impl Into<String>) -> Self {
        Self::new(Status::Ok, detail, "")
    }

    /// Returns a finding with its status, detail and hint.
    pub fn new(status: Status, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            hint: (status != Status::Ok).then(|| hint.into()),
        }
    }

    /// Joins two findings of a check. A hint of both is there once.
    pub fn and(self, other: Self) -> Self {
        let status = self.status.max(other.status);
        let detail = format!("{} {}", self.detail, other.detail);
        let hint = match (self.hint, other.hint) {
            (Some(all), Some(hint)) if !all.contains(&hint) => Some(format!("{all} {hint}")),
            (one, other) => one.or(other),
        };
        Self::new(status, detail, hint.unwrap_or_default())
    }
}

/// Names what was found, the worst first, each with how many are so: one of each owner, so that no owner hides what is of another.
pub fn one_of_each(found: impl Iterator<Item = (pg_sys::Oid, String, usize)>) -> String {
    const SHOWN: usize = 3;
    let mut owners: Vec<(pg_sys::Oid, String, usize)> = Vec::new();
    for (owner, text, many) in found {
        match owners.iter_mut().find(|(known, ..)| *known == owner) {
            Some((.., further)) => *further += many,
            None => owners.push((owner, text, many - 1)),
        }
    }
    let shown = owners.iter().take(SHOWN);
    let shown = shown.map(|(_, text, further)| match further {
        0 => format!("{text}."),
        further => format!("{text}, and {further} more of this role."),
    });
    let further = owners.len().saturating_sub(SHOWN);
    let further = (further > 0).then(|| format!("{further} more roles are affected."));
    shown.chain(further).collect::<Vec<_>>().join(" ")
}
