//! The functions of the catalog, values of the types of their arguments, and which ordinary calls are refused.

use mint_cluster::{Server, Session, count};

/// A function, with its schema.
pub struct Function {
    pub name: String,
    pub is_procedure: bool,
    pub arguments: Vec<Argument>,
    /// The number of the last arguments that can be left out.
    pub defaults: usize,
}

pub struct Argument {
    pub name: String,
    /// The type, with its schema.
    pub of: String,
}

/// Ordinary values: the first line counts whose function, argument and type fit. An empty one fits all; a function fits by the
/// begin of its name. `$place` is the schema of the relations.
#[rustfmt::skip]
const ORDINARY: &[(&str, &str, &str, &str)] = &[
    ("ticket_", "", "regclass", "$place.ticket"), ("user_", "", "regclass", "$place.family"),
    ("", "parent", "regclass", "$place.parts"), ("", "relation", "regclass", "$place.plain"), ("", "", "regclass", "$place.tag"),
    ("id_", "bits", "int4", "63"), ("ticket_", "bits", "int4", "64"), ("", "modulus", "int4", "4"), ("", "range_bits", "int4", "64"),
    ("", "servers", "int4", "2"), ("", "shard_bits", "int4", "5"), ("", "size", "int4", "21"), ("", "", "int4", "1"),
    ("ticket_", "above", "int8", "10000"), ("", "taken", "int8", "NULL"), ("user_", "step", "int8", "10"), ("", "", "int8", "1"),
    ("", "kind", "oid", "20"), ("", "owner", "oid", "10"), ("", "schema", "oid", "11"), ("", "", "oid", "1259"),
    ("", "", "bool", "t"), ("", "", "numeric", "1"), ("", "", "pg_node_tree", "NULL"), ("", "", "jsonb", "{}"),
    ("objectid_", "", "bytea", r"\x507f1f77bcf86cd799439011"), ("", "", "bytea", r"\x000102030405060708090a0b0c0d0e0f"),
    ("", "", "date", "2026-01-01"), ("", "", "timestamp", "2026-01-01 00:00"), ("", "", "timestamptz", "2026-01-01 00:00Z"),
    ("", "every", "interval", "1 month"), ("", "keep", "interval", "1 year"), ("", "", "interval", "10 s"),
    ("uuid_v1_", "", "uuid", "c232ab00-9414-11ec-b3c8-9f6bdeced846"),
    ("uuid_v6_", "", "uuid", "1ec9414c-232a-6b00-b3c8-9f6bdeced846"), ("", "", "uuid", "01890f0c-7e4a-7cc3-98c4-dc0c0c07398f"), ("", "", "objectid", "507f1f77bcf86cd799439011"),
    ("", "", "snowflake_layout", "instagram"), ("", "parts", "_int4", "{1}"), ("", "", "_int4", "{1,2}"), ("", "", "_int8", "{3,1}"),
    ("objectid_", "", "cstring", "507f1f77bcf86cd799439011"), ("", "", "cstring", "instagram"),
    ("segment_", "name", "text", "$place.made_segment"), ("ticket_", "name", "text", "$place.made_ticket"),
    ("user_", "name", "text", "$place.made_family"), ("sequence_", "name", "text", "seq_1_to_5"), ("", "source", "text", "NULL"),
    ("", "source_sequence", "text", "NULL"), ("id_from", "id", "text", "4jgmnx8Js8A"), ("ulid_", "id", "text", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("typeid", "id", "text", "user_01h455vb4pex5vsknk084sn02q"), ("uuid_from", "id", "text", "1bHGAXWWp4nyyPjqh9idcZ"),
    ("", "id", "text", "01890f0c-7e4a-7cc3-98c4-dc0c0c07398f"), ("", "key", "text", "1428076403798048768"),
    ("", "addresses", "text", "00:16:3e:00:00:01"), ("", "alphabet", "text", "abcdef"), ("", "code", "text", "22023"),
    ("", "column_name", "text", "id"), ("", "domain", "text", "person"), ("", "encoding", "text", "base58"),
    ("", "namespace", "text", "dns"), ("", "new_default", "text", "snowflake_next_id(5)"), ("", "prefix", "text", "user"),
    ("", "text", "text", "instagram"), ("", "zone", "text", "Europe/Berlin"), ("", "", "text", "x"),
];

/// The ends of each type, with a bar between them.
#[rustfmt::skip]
const ENDS: &[(&str, &str)] = &[
    ("int4", "1|0|-1|2|16|63|64|65|2147483647|-2147483648"),
    ("int8", "1|0|-1|63|64|1024|4294967296|9007199254740993|9223372036854775807|9223372036854775806|-9223372036854775808"),
    ("oid", "0|4294967295|1259|2950"),
    ("bool", "f"),
    ("numeric", "0|-1|NaN|1e131071|-1e131071|9223372036854775808|0.5"),
    ("text", TEXTS),
    ("cstring", TEXTS),
    ("jsonb", r#"null|[]|1e131071|"x"|{"protocol": 1, "holder": "x", "width": 13, "clock": 0, "demand": {"grant": 1}}|{"protocol": -1}"#),
    ("pg_node_tree", "NULL"),
    ("bytea", r"|\x00|\xffffffffffffffffffffffff|\xffffffffffffffffffffffffffffffff"),
    ("timestamptz", "infinity|-infinity|epoch|4713-01-01 00:00Z BC|294276-12-31 23:59:59.999999Z|1582-10-14 23:59Z\
        |2106-02-07 06:28:16Z|10889-08-02 05:31:50.655Z"),
    ("timestamp", "infinity|-infinity|epoch|4713-01-01 00:00 BC|294276-12-31 23:59:59.999999"),
    ("date", "infinity|-infinity|4713-01-01 BC|5874897-12-31"),
    ("interval", "0|-1 s|1 us|178000000 years|-178000000 years|2147483647 days|-2562047788 hours|infinity|1 month"),
    ("uuid", "00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff|c232ab00-9414-11ec-b3c8-9f6bdeced846\
        |000003e8-cbb9-21ea-b201-00045a86c8a1"),
    ("objectid", "000000000000000000000000|ffffffffffffffffffffffff|7fffffff0000000000000000|80000000ffffffffffffffff"),
    ("snowflake_layout", "sonyflake|time:1 shard:0 seq:1 unit:1us epoch:2020-01-01T00:00:00Z\
        |time:62 shard:0 seq:1 unit:1us epoch:1970-01-01T00:00:00Z|time:63 shard:0 seq:0 unit:1us epoch:2020-01-01T00:00:00Z\
        |time:20 shard:20 seq:20 unit:1000000000s epoch:0001-01-01T00:00:00Z|time:1 shard:62 seq:0 unit:1s epoch:9999-12-31T23:59:59Z\
        |time:41 shard:10 seq:12 unit:1ms epoch:99999999999999999999|time:-1|"),
    ("regclass", "plain|counter|tag|ticket|family|parts|pg_class|0|4294967295|pg_class_oid_index|pg_stats|down|mint.time_ceiling\
        |nothing.like.this|short"),
    ("_int4", "{}|{NULL}|{1}|{{1,2},{3,4}}|[-5:-4]={7,8}|[2147483646:2147483647]={1,2}|{2147483647,-2147483648}|{1,2,3}"),
    ("_int8", "{1}|{}|{NULL}|{{1,2},{3,4}}|[-5:-3]={7,7,8}|[2147483646:2147483646]={1}|{9223372036854775807,-9223372036854775808}"),
];
const TEXTS: &str = "base58|dns|x|| |%s%n%m|\"|a.b.c.d|pg_class|\u{10ffff}é|-1|9223372036854775808\
    |00000000-0000-0000-0000-000000000000|srv";

/// The parameters of a statement that have long values of a type; see `long.rs`. A text is cast to the types of a schema's own.
#[rustfmt::skip]
const LONG: &[(&str, &str)] = &[
    ("text", "$1"), ("bytea", "$2"), ("_int4", "$3"), ("_int8", "$4"), ("jsonb", "$5"), ("snowflake_layout", "$1"), ("objectid", "$1"),
];

/// The functions whose ordinary call is refused, and the code; of relations in one schema, or in all. All others succeed.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, &str)] = &[
    ("", "refuse", "22023"), ("", "registry_request", "22023"), ("of_bob", "registry_create", "42501"),
];

/// Returns the functions that SQL can call for which a condition is true; those that generate are the first, and those that drop
/// something the last.
pub fn functions(session: &mut Session, which: &str) -> Vec<Function> {
    let all: Vec<String> = session.column(&format!(
        "SELECT concat_ws('|', p.prokind, pronargdefaults, format('%I.%I', n.nspname, proname),
             (SELECT string_agg(concat(proargnames[a.place], '@', s.nspname, '.', t.typname), '|' ORDER BY a.place)
              FROM unnest(proargtypes::oid[]) WITH ORDINALITY a(type, place) JOIN pg_type t ON t.oid = a.type JOIN pg_namespace s ON s.oid = typnamespace))
         FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
         JOIN pg_depend d ON d.classid = 'pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'e'
         JOIN pg_extension e ON e.oid = d.refobjid AND extname = 'pg_mint'
         WHERE prorettype::regtype NOT IN ('trigger'::regtype, 'internal'::regtype) AND 'internal'::regtype::oid <> ALL (proargtypes::oid[]) AND {which}
         ORDER BY proname LIKE '%drop', proname NOT LIKE '%next%', 1"
    ));
    let function = |line: &String| {
        let mut parts = line.split('|');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        let (kind, defaults, name) = (next(), next(), next());
        let argument = |part: &str| {
            let (name, of) = part.split_once('@').expect("a name and a type");
            let [name, of] = [name, of].map(str::to_owned);
            Argument { name, of }
        };
        Function {
            name,
            is_procedure: kind == "p",
            arguments: parts.map(argument).collect(),
            defaults: defaults.parse().expect("a number"),
        }
    };
    all.iter().map(function).collect()
}

/// Returns a literal of a type, or NULL.
fn literal(text: &str, of: &str) -> String {
    match text {
        "NULL" => format!("NULL::{of}"),
        _ => format!("'{text}'::{of}"),
    }
}

fn bare_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

impl Function {
    fn call(&self, list: &[impl AsRef<str>]) -> String {
        let list: Vec<&str> = list.iter().map(AsRef::as_ref).collect();
        format!("{}({})", self.name, list.join(", "))
    }

    /// Returns a statement that runs a call.
    pub fn statement(&self, call: &str) -> String {
        if self.is_procedure {
            format!("CALL {call}")
        } else {
            format!("SELECT * FROM (SELECT {call}) AS called")
        }
    }

    fn ordinary_value(&self, argument: &Argument, place: &str) -> String {
        let Argument { name, of } = argument;
        let fits = |(function, of_name, kind, _): &&(&str, &str, &str, &str)| {
            bare_name(&self.name).starts_with(function)
                && (of_name.is_empty() || of_name == name)
                && *kind == bare_name(of)
        };
        let found = ORDINARY.iter().find(fits);
        let (.., text) = found.unwrap_or_else(|| panic!("no value of type {of}"));
        literal(&text.replace("$place", place), of)
    }

    /// Returns the call with ordinary values, of relations in a schema.
    pub fn ordinary_call(&self, place: &str) -> String {
        self.with(place, |_| None).remove(0)
    }

    /// Returns calls with each of the given expressions for some arguments, and ordinary values for the others.
    pub fn with(
        &self,
        place: &str,
        given: impl Fn(&Argument) -> Option<Vec<String>>,
    ) -> Vec<String> {
        let mut lists: Vec<Vec<String>> = vec![Vec::new()];
        for argument in &self.arguments {
            let choices = given(argument).map_or_else(
                || vec![self.ordinary_value(argument, place)],
                |given| {
                    given
                        .iter()
                        .map(|one| format!("{one}::{}", argument.of))
                        .collect()
                },
            );
            let longer = |list: &Vec<String>| {
                let one =
                    |choice: &String| [list.as_slice(), std::slice::from_ref(choice)].concat();
                choices.iter().map(one).collect::<Vec<_>>()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        lists.iter().map(|list| self.call(list)).collect()
    }

    /// Returns the ordinary calls without the last arguments, which have defaults.
    pub fn shorter(&self, place: &str) -> Vec<String> {
        let value = |argument| self.ordinary_value(argument, place);
        let all: Vec<String> = self.arguments.iter().map(value).collect();
        let least = all.len() - self.defaults;
        (least..all.len())
            .map(|many| self.call(&all[..many]))
            .collect()
    }

    /// Returns a call for each argument that can be long, which has a parameter there.
    pub fn long(&self) -> Vec<String> {
        let value = |argument| self.ordinary_value(argument, "public");
        let list: Vec<String> = self.arguments.iter().map(value).collect();
        let mut calls = Vec::new();
        for (at, Argument { of, .. }) in self.arguments.iter().enumerate() {
            if let Some((_, parameter)) = LONG.iter().find(|(kind, _)| *kind == bare_name(of)) {
                let mut list = list.clone();
                list[at] = format!("{parameter}::{of}");
                calls.push(self.call(&list));
            }
        }
        calls
    }

    /// Returns calls with all ends of one argument and ordinary others, and with all pairs of the first two arguments.
    pub fn ends(&self) -> Vec<String> {
        let choices = self.arguments.iter().map(|argument| {
            let mut all = vec![self.ordinary_value(argument, "public")];
            all.extend(ends(&argument.of));
            all
        });
        let choices: Vec<Vec<String>> = choices.collect();
        let plain: Vec<&str> = choices.iter().map(|of| of[0].as_str()).collect();
        let mut lists: Vec<Vec<&str>> = vec![plain.clone()];
        for (place, of) in choices.iter().enumerate() {
            for end in of {
                let mut list = plain.clone();
                list[place] = end;
                lists.push(list);
            }
        }
        if let [first, second, ..] = choices.as_slice() {
            for one in first {
                for other in second {
                    // These take long, and are tried separately.
                    if [one, other].iter().any(|value| value.starts_with("repeat")) {
                        continue;
                    }
                    let mut list = plain.clone();
                    (list[0], list[1]) = (one, other);
                    lists.push(list);
                }
            }
            for pick in [0, 1, 2] {
                let end = |of: &'_ Vec<String>| of.len().saturating_sub(1 + pick);
                lists.push(choices.iter().map(|of| of[end(of)].as_str()).collect());
            }
        }
        lists.sort_unstable();
        lists.dedup();
        lists.iter().map(|list| self.call(list)).collect()
    }
}

/// Returns the ends of a type.
fn ends(of: &str) -> Vec<String> {
    let found = ENDS.iter().find(|(name, _)| *name == bare_name(of));
    let (_, texts) = found.unwrap_or_else(|| panic!("no ends of type {of}"));
    let mut all: Vec<String> = texts.split('|').map(|text| literal(text, of)).collect();
    all.push(literal("NULL", of));
    match bare_name(of) {
        "text" | "cstring" => {
            all.push(format!("(E'\\x01\\x7f'::text)::{of}"));
            let long =
                ["x", "9", "é", "\"", "a."].map(|part| format!("repeat('{part}', 10485760)::{of}"));
            all.extend(long.into_iter().take(count(5, 1)));
        }
        "bytea" => all.push("convert_to(repeat('x', 10485760), 'UTF8')".to_owned()),
        _ => {}
    }
    all
}

/// Returns whether a code stands for an internal error, a lost connection, or a broken server.
pub fn is_bad(code: &str) -> bool {
    code.is_empty()
        || ["XX", "57P", "53200"]
            .iter()
            .any(|class| code.starts_with(class))
}

/// Returns statements that create the relations of ordinary calls. The extension is in schema `home`.
pub fn relations(home: &str, place: &str) -> Vec<String> {
    let text = |name: &str| format!("'{place}.{name}'::pg_catalog.text");
    let layout = format!("'instagram'::{home}.snowflake_layout");
    let id = format!(
        "id pg_catalog.int8 PRIMARY KEY DEFAULT {home}.snowflake_next_id(5::pg_catalog.int4, {layout})"
    );
    vec![
        format!("CREATE TABLE {place}.plain ({id})"),
        format!("CREATE TABLE {place}.parts ({id}) PARTITION BY RANGE (id)"),
        format!(
            "SELECT {home}.segment_create({}, 10::pg_catalog.int8, 1::pg_catalog.int8, NULL::pg_catalog.text, NULL::pg_catalog.text)",
            text("tag")
        ),
        format!(
            "SELECT {home}.ticket_create({}, 1::pg_catalog.int4, 1::pg_catalog.int4, 64::pg_catalog.int4, 0::pg_catalog.numeric, 10::pg_catalog.int8)",
            text("ticket")
        ),
        format!(
            "SELECT {home}.user_sequence_create({}, 3::pg_catalog.int4, 100::pg_catalog.int8, 0::pg_catalog.int8)",
            text("family")
        ),
    ]
}

pub fn set_up(server: &Server) {
    let mut session = server.connect("postgres");
    session.run(&relations("public", "public").join(";\n"));
    session.run(
        "CREATE SEQUENCE counter; CREATE SEQUENCE short AS smallint MAXVALUE 3 CACHE 5;
         CREATE SEQUENCE down INCREMENT -9223372036854775808 MINVALUE -9223372036854775808 MAXVALUE -1 CYCLE",
    );
}

/// Asserts that the ordinary calls do what is expected, of relations that the session's role has in `place`.
#[track_caller]
pub fn assert_expected(
    session: &mut Session,
    all: &[Function],
    place: &str,
    mut after_each: impl FnMut(&str),
) {
    let mut other = Vec::new();
    for function in all {
        let statement = function.statement(&function.ordinary_call(place));
        let code = session.try_run(&statement).err();
        let is_named = |(of, name, _): &&(&str, &str, &str)| {
            (of.is_empty() || *of == place) && *name == bare_name(&function.name)
        };
        let expected = REFUSED.iter().find(is_named).map(|(.., code)| *code);
        if code.as_ref().map(|refusal| refusal.code.as_str()) != expected {
            other.push(format!("{statement}: {code:?}"));
        }
        after_each(&statement);
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
}
