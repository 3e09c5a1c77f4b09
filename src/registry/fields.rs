//! The fields of a request, read one by one: so each error names its field, in the words of this extension.

use serde_json::{Map, Value};

/// Returns two integers.
fn pair(value: &Value) -> Option<(i64, i64)> {
    match value.as_array().map(Vec::as_slice) {
        Some([first, last]) => first.as_i64().zip(last.as_i64()),
        _ => None,
    }
}

/// The fields of an object, and its path in the message.
pub struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    /// Returns the fields of a message.
    pub fn of(message: &'a Value) -> Result<Self, String> {
        let object = message.as_object();
        let object = object.ok_or("the request must be an object")?;
        let path = String::new();
        Ok(Self { object, path })
    }

    /// Returns the error of a field, in which `what` follows its name.
    pub fn refusal(&self, name: &str, what: &str) -> String {
        format!("field \"{}{name}\" {what}", self.path)
    }

    /// Returns a field, if it is there and not null.
    fn optional(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn required<T>(
        &self,
        name: &str,
        kind: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, String> {
        let value = self.optional(name);
        let value = value.ok_or_else(|| self.refusal(name, "is missing"))?;
        read(value).ok_or_else(|| self.refusal(name, &format!("must be {kind}")))
    }

    /// Returns a number.
    pub fn integer<T: TryFrom<i64>>(&self, name: &str) -> Result<T, String> {
        let number = self.required(name, "an integer", Value::as_i64)?;
        T::try_from(number).map_err(|_| self.refusal(name, "is out of range"))
    }

    /// Returns a text.
    pub fn text(&self, name: &str) -> Result<&'a str, String> {
        self.required(name, "a string", Value::as_str)
    }

    /// Returns a number, if there is one.
    pub fn optional_integer(&self, name: &str) -> Result<Option<i64>, String> {
        self.optional(name).map(|_| self.integer(name)).transpose()
    }

    /// Returns the first and the last of a range, if there is one.
    pub fn range(&self, name: &str) -> Result<Option<(i64, i64)>, String> {
        let Some(value) = self.optional(name) else {
            return Ok(None);
        };
        let range = pair(value);
        let range = range.ok_or_else(|| self.refusal(name, "must be an array of two integers"));
        range.map(Some)
    }

    /// Returns the first and the last of each of some ranges, at most so many.
    pub fn ranges(&self, name: &str, most: usize) -> Result<Vec<(i64, i64)>, String> {
        let Some(value) = self.optional(name) else {
            return Ok(Vec::new());
        };
        let all = value.as_array().filter(|all| all.len() <= most);
        let ranges = all.and_then(|all| all.iter().map(pair).collect());
        ranges.ok_or_else(|| {
            let what = format!("must be an array of at most {most} arrays of two integers");
            self.refusal(name, &what)
        })
    }

    /// Returns an object, if there is one.
    pub fn object(&self, name: &str) -> Result<Option<Self>, String> {
        let Some(value) = self.optional(name) else {
            return Ok(None);
        };
        let object = value.as_object();
        let object = object.ok_or_else(|| self.refusal(name, "must be an object"))?;
        let path = format!("{}{name}.", self.path);
        Ok(Some(Self { object, path }))
    }
}
