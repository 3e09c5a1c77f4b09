#!/usr/bin/env python3
"""Checks the English of documents, comments and messages by docs/contributing/style.md, whose table of words it reads.

    prose.py [--wrap] [FILE ...]

Without files: README.md, docs, bench/results, the other pages beside README.md, COMMENT ON in sql, texts in src, comments
of all code, first sentences of documented functions, and commit messages.
With --wrap, it first breaks the lines of paragraphs again where one is too long.
"""

import pathlib
import re
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
STYLE = REPOSITORY / "docs/contributing/style.md"
PAGES = ["*.md", "docs/**/*.md", "bench/results/*.md", "bench/results/compare/**/*.md", "core/README.md", "examples/*/README.md"]
LONGEST = 120
LONGEST_SENTENCE = 35
MOST_COLUMNS = 3

# Folders whose comments are read, and what a line of a comment begins with.
CODE = ["src", "core", "pg_test", "sql", "bench", "examples"]
# Folders in which each sentence of a comment has a subject.
WITH_SUBJECTS = ("src/", "core/src/", "core/tests/", "pg_test/", "bench/")
MARKS = {
    ".rs": r"//[/!]?", ".sql": r"--", ".sh": r"#", ".py": r"#", ".awk": r"#", ".spec": r"#", ".toml": r"#",
    "Makefile": r"#",
}
# Generated, or written by others.
NOT_OURS = re.compile(r"/(?:target|node_modules|\.venv)/|/sql/pg_mint--|/pg_test/drivers/pagila/.*\.sql$")

FUNCTION = re.compile(r'(?:pub(?:\([^)]*\))? )?(?:const )?(?:async )?(?:unsafe )?(?:extern "[^"]*" )?fn ')
VERB = re.compile(r"(?!(?:As|Is|Its|This|Ids|Bits|Rows|Lanes|Ticks|Nodes|Columns|Errors|Functions|Statements) )[A-Z][a-z]+s\b")

# Commits after this one have a short subject and a body; a shallow clone, or a tree without git, lacks it.
BEFORE_BODIES = "d710e00"
LONGEST_SUBJECT = 72

# Roles, to which "may" gives permission.
ROLE = r"(?:roles?|superusers?|users?|owners?|members?|callers?|anyone|everyone|applications?|servers?|PUBLIC|pg_monitor)"
PERMISSION = re.compile(ROLE + r"(?:\W+\w+){0,8}?\W+may\b", re.I)
CONTRACTION = re.compile(r"\b(?:\w+n't|it's|that's|there's|you're|we're|they're|you'll|we'll|let's)\b", re.I)
RELATIVE = re.compile(r"(?:Who|Whoever|Whatever|Whatsoever|What)\b")
# A comment's sentence that has no subject, or a clause for one. "As" and "Where" can begin a clause before a comma.
SUBJECTLESS = re.compile(
    r"(?:What|Who|How|Whether|Whatever|Whoever|However much|Of|That of|Those|By(?! default)|One that|Such(?! an? )|Not|Nor"
    r"|None|Else|And|Or|The same(?: as| when|[.:])|(?:As|Where)\b(?=[^,]*$))(?=\W)"
)
# PostgreSQL's own words for functions of types and operators, and a verb, which an origin can precede.
OF_FUNCTION = re.compile(
    r"I/O$|hash$|sort support$|less-equal-greater$|(?:smaller|larger) of two$|implementation of |Internal: planner support for "
    r"|[A-Z][a-z]+s |(?:Internal|As [\w-]+): [a-z]+s "
)


def words():
    """Returns each pattern of the table of words, and what to write instead."""
    table = STYLE.read_text().split("## Words", 1)[1]
    rules = []
    for row in re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.M):
        instead, write = row
        for phrase in re.findall(r"`([^`]+)`", instead):
            # Names in capitals are themselves; all else is matched in any case.
            flags = 0 if phrase[:2].isupper() else re.I
            pattern = r"(?<![\w-])" + r"\s+".join(map(re.escape, phrase.split())) + r"(?![\w-])"
            rules.append((re.compile(pattern, flags), f'"{phrase}": {write}'))
    assert len(rules) > 20, "docs/contributing/style.md has no table of words"
    return rules


def plain(text):
    """Returns prose without code, targets of links, comments and tags, with its line breaks."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"``.+?``|`[^`]*`", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", "URL", text)
    return re.sub(r"<[^>\n]+>", "", text)


def paragraphs(text):
    """Yields the number of the first line and the text of each paragraph, list item, heading and table row."""
    kept, first, is_code = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if re.match(r"\s*(```|~~~)", line):
            is_code = not is_code
            line = ""
        elif is_code or re.match(r"(?:    |\t)\S", line) and not kept:
            continue
        begins = re.match(r"\s*(?:[-*] |\d+\. |#+ |\|)", line)
        if (not line.strip() or begins) and kept:
            yield first, "\n".join(kept)
            kept = []
        if line.strip():
            if not kept:
                first = number
            kept.append(line)


def findings_of_prose(text, rules, subjectless=None):
    """Yields what is wrong with one paragraph, whose sentences do not begin as `subjectless` says."""
    prose = plain(text)
    is_title = bool(re.fullmatch(r"\s*- \[[^\]]*\]\([^)]*\)\s*", text))
    is_table, is_heading = prose.lstrip().startswith("|"), prose.startswith("#")
    for pattern, advice in rules:
        if pattern.search(prose):
            yield advice
    for match in CONTRACTION.finditer(prose):
        yield f'"{match.group()}": no contractions'
    allowed = {match.end() for match in PERMISSION.finditer(prose)}
    for match in re.finditer(r"\bmay\b", prose):
        if match.end() not in allowed:
            yield '"may" without a role that has permission: can or might'
    if not (is_table or is_heading or is_title) and subjectless:
        sentences = re.split(r"(?<=[.!?:;])\s+", re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", prose).replace("**", ""))
        for sentence in sentences:
            if subjectless.match(sentence) and not sentence.rstrip().endswith("?"):
                yield f'"{sentence.split(chr(10))[0][:40]}...": name the subject'


def is_free(line):
    """Returns whether a line can have any length: of a table, a heading, a comment, a picture, a signature or a quotation."""
    return bool(re.match(r"\s*(?:\||#|<|!|>|- `.*` → )", line))


def has_any_length(path):
    """Returns whether lines can have any length: the bench writes a paragraph as one, and a change is one of CHANGELOG.md."""
    return "results" in path.parts or path.name == "CHANGELOG.md"


def wrap(path):
    """Breaks the lines of paragraphs that have a line that is too long. Code and links stay whole."""
    lines = path.read_text().splitlines()
    for first, paragraph in reversed(list(paragraphs("\n".join(lines)))):
        old = paragraph.splitlines()
        if is_free(old[0]) or all(length(line) <= LONGEST for line in old):
            continue
        begin = re.match(r"\s*(?:[-*] |\d+\. )?", old[0]).group()
        words = re.findall(r"(?:``.+?``|`[^`]+`|!?\[[^\]]*\]\([^)]*\)|\S)+", "\n".join(old)[len(begin):])
        new, line = [], begin
        for word in (" ".join(word.split()) for word in words):
            # A line that begins like a list item would be one.
            is_marker = re.match(r"(?:\d+[.)]|[-+*#>|]+)$", word)
            if length(line + word) > LONGEST and line != begin and line.strip() and not is_marker:
                new.append(line.rstrip())
                line = " " * len(begin)
            line += word + " "
        lines[first - 1:first - 1 + len(old)] = [*new, line.rstrip()]
    path.write_text("\n".join(lines) + "\n")


def length(line):
    """Returns the length of a line as it is read, without the targets of links."""
    return len(re.sub(r"\]\([^)]*\)", "]", line.rstrip()))


def is_for_users(path):
    """Returns whether a page is read by people who do not read code."""
    name = path.relative_to(REPOSITORY).as_posix()
    return name.startswith("docs/") and not name.startswith("docs/contributing/") or name == "README.md"


def long_sentences(paragraph):
    """Yields the length of each sentence of a paragraph, or of a cell of a table, that is too long."""
    prose = plain(paragraph).replace("**", "")
    parts = prose.split("|") if prose.lstrip().startswith("|") else [prose]
    for sentence in (sentence for part in parts for sentence in re.split(r"(?<=[.!?:;])\s+", part)):
        if len(sentence.split()) > LONGEST_SENTENCE:
            yield f"a sentence of {len(sentence.split())} words; at most {LONGEST_SENTENCE}"


def findings_of_page(path, rules):
    text = path.read_text()
    # The rules name the words that they forbid.
    if path == STYLE:
        text = re.sub(r"^\| `.*$|^Example: .*$|.*\"who\".*|.*\"whoever\".*|.*\*May\*.*", "", text, flags=re.M)
    for first, paragraph in paragraphs(text):
        for finding in findings_of_prose(paragraph, rules, RELATIVE):
            yield first, finding
        for finding in long_sentences(paragraph) if is_for_users(path) else []:
            yield first, finding
        for shift, line in enumerate([] if has_any_length(path) else paragraph.splitlines()):
            if length(line) > LONGEST and not is_free(line):
                yield first + shift, f"{length(line)} characters; at most {LONGEST}"
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        is_header = re.match(r"\|[-| :]+\|$", line) and lines[number - 2].startswith("|")
        if is_header and re.search(r"\|\s*\|", lines[number - 2]):
            yield number - 1, "an empty cell in the header of a table"
        if is_header and line.count("|") > MOST_COLUMNS + 1 and is_for_users(path) and path.name != "README.md":
            yield number - 1, f"a table of {line.count('|') - 1} columns; at most {MOST_COLUMNS}, as phones show"


def findings_of_sql(path, rules):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = re.match(r"COMMENT ON .* IS '(.*)';", line)
        if not comment:
            continue
        text = comment.group(1).replace("''", "'")
        for finding in findings_of_prose(text, rules):
            yield number, finding
        if re.search(r"\.(?: |$)", text):
            yield number, "a comment is one sentence, without a full stop"
        if re.match(r"COMMENT ON (?:FUNCTION|PROCEDURE) ", line) and not OF_FUNCTION.match(text):
            yield number, "a comment on a function begins with a verb in the third person: Returns, Generates"


def findings_of_code(path, rules):
    """Texts of two words and more: messages, details, hints and descriptions of settings."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("//"):
            continue
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            if " " in text and not re.search(r"SELECT |pg_catalog\.", text):
                for finding in findings_of_prose(text, rules):
                    yield number, finding


def comments(path):
    """Yields the number of the first line and the text of each comment that has its lines for itself."""
    begin = re.compile(r"\s*(" + MARKS[path.suffix or path.name] + r")(?![/!])(?: (.*)|$)")
    kept, first, last_mark = [], 0, None
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        match = begin.match(line)
        mark = match and match.group(1)
        if mark != last_mark and kept:
            yield first, "\n".join(kept)
            kept = []
        if match:
            if not kept:
                first = number
            kept.append(match.group(2) or "")
        last_mark = mark


def findings_of_comments(path, rules):
    subjectless = SUBJECTLESS if path.relative_to(REPOSITORY).as_posix().startswith(WITH_SUBJECTS) else None
    for first, comment in comments(path):
        for shift, paragraph in paragraphs(comment):
            for finding in findings_of_prose(paragraph, rules, subjectless):
                yield first + shift - 1, finding


def findings_of_functions(path, _rules):
    """Documented functions of the extension and of core, tests aside."""
    sentence, number, depth, is_test = None, 0, 0, False
    for place, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if line.startswith("///"):
            if sentence is None:
                sentence, number, is_test = line[3:].strip(), place, False
        elif sentence is not None and (line.startswith("#[") or depth > 0):
            depth += len(re.findall(r"[\[(]", line)) - len(re.findall(r"[\])]", line))
            is_test = is_test or line in ("#[test]", "#[pg_test]")
        else:
            is_heading = not sentence or sentence.startswith("#")
            if FUNCTION.match(line) and not (is_heading or is_test or VERB.match(sentence)):
                yield number, "a function begins with a verb in the third person: Returns, Reads"
            sentence = None


def findings_of_commits():
    """Lengths only, as words of a commit cannot be corrected later."""
    log = ["git", "log", "--no-merges", "--format=%h%x00%s%x00%b%x01", f"{BEFORE_BODIES}..HEAD"]
    try:
        done = subprocess.run(log, cwd=REPOSITORY, capture_output=True, text=True)
    except FileNotFoundError:
        done = None
    if not done or done.returncode:
        print("prose: commits are not read, as git has none after", BEFORE_BODIES)
        return
    for commit in done.stdout.split("\x01")[:-1]:
        name, subject, body = commit.strip().split("\0")
        if len(subject) > LONGEST_SUBJECT:
            yield f"commit {name}: a subject of {len(subject)} characters; at most {LONGEST_SUBJECT}"
        if not body.strip():
            yield f"commit {name}: no body that says why"


def main(files):
    rules = words()
    is_wrapping = "--wrap" in files
    files = [file for file in files if file != "--wrap"]
    if files:
        paths = [pathlib.Path(file).resolve() for file in files]
        pages = [path for path in paths if path.suffix == ".md"]
        sql = [path for path in paths if path.suffix == ".sql"]
        code = [path for path in paths if path.suffix == ".rs"]
        commented = [path for path in paths if path.suffix in MARKS]
    else:
        pages = sorted({page for pattern in PAGES for page in REPOSITORY.glob(pattern)})
        sql = sorted((REPOSITORY / "sql").glob("**/*.sql"))
        code = sorted([*(REPOSITORY / "src").glob("**/*.rs"), *(REPOSITORY / "core/src").glob("**/*.rs")])
        commented = [path for folder in CODE for path in (REPOSITORY / folder).glob("**/*") if path.suffix in MARKS]
        commented = [path for path in sorted(commented) if not NOT_OURS.search(str(path))] + [REPOSITORY / "Makefile"]
    if is_wrapping:
        for page in pages:
            if not has_any_length(page):
                wrap(page)
    count = 0
    checks = [
        (pages, findings_of_page), (sql, findings_of_sql), (code, findings_of_code),
        (commented, findings_of_comments), (code, findings_of_functions),
    ]
    for paths, check in checks:
        for path in paths:
            for number, finding in check(path, rules):
                print(f"{path.relative_to(REPOSITORY)}:{number}: {finding}")
                count += 1
    for finding in [] if files else findings_of_commits():
        print(finding)
        count += 1
    if count:
        sys.exit(f"prose: {count} findings; see docs/contributing/style.md")
    print(f"prose: no finding in {len(pages)} pages and {len(commented)} files of code")


main(sys.argv[1:])
