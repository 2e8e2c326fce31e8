import OperationPathKeyGeneration

/// Mistakes in the syntax of a file.
enum ReadingMistakes {
  private static let valid = "me: { state: \"S\" }"

  static let all: [Mistake] = [
    Mistake(
      .unexpectedCharacter,
      "{ paths: { …, \(valid) } }",
      says: "A.json:1:12: error: expected a name, found '…'; remove it"
    ),
    Mistake(
      .expectedName,
      "{\n  paths: { , \(valid) },\n}",
      says:
        "A.json:2:12: error: expected a name, found ','; write a name and its value, or check the commas and brackets"
    ),
    Mistake(
      .expectedColon,
      "{ paths: { user-list: {}, \(valid) } }",
      says: "A.json:1:16: error: expected ':' after 'user', found '-'; write name and value as name: value"
    ),
    Mistake(
      .expectedComma,
      "{\n  access: \"public\"\n  paths: { \(valid) } }",
      says: "A.json:3:3: error: expected ',' or '}', found 'p'; put a comma before it"
    ),
    Mistake(
      .expectedValue,
      "{ paths: { me: { state: } } }",
      says: "A.json:1:25: error: expected a value, found '}'; write an object or a string in quotes"
    ),
    Mistake(
      .expectedValue,
      "{ paths: { me: { state: QueryState } } }",
      says: "A.json:1:25: error: 'QueryState' is not a value; put it in quotes"
    ),
    Mistake(
      .expectedValue,
      " // nothing\n",
      says: "A.json:2:1: error: expected a value, found the end of the file; write an object, such as { paths: { … } }"
    ),
    Mistake(
      .unclosed,
      "{ paths: {\n    \(valid)",
      says: "A.json:1:10: error: '{' is never closed; close it by '}'"
    ),
    Mistake(
      .unclosed,
      "{ paths: { \(valid) } /* to be continued }",
      says: "A.json:1:33: error: the comment is never closed; close it by '*/'"
    ),
    Mistake(
      .unclosed,
      "{ paths: { me: { state: \"S",
      says: "A.json:1:25: error: the string is never closed; close it by \""
    ),
    Mistake(
      .mismatchedBracket,
      "{ paths: { \(valid) ], other: { state: \"S\" } } }",
      says: "A.json:1:31: error: ']' closes no bracket; expected ',' or '}'"
    ),
    Mistake(
      .unclosedString,
      "{ paths: { me: { state: 'S\n} } }",
      says:
        "A.json:1:25: error: the string is not closed on its line; close it by ', or end the line with a backslash to go on"
    ),
    Mistake(
      .invalidEscape,
      #"{ paths: { me: { state: "S\x4" } } }"#,
      says: "A.json:1:27: error: an escape without its 2 digits; write 2 of 0…9, A…F"
    ),
    Mistake(
      .invalidEscape,
      #"{ paths: { me: { state: "S\uD83D!" } } }"#,
      says: "A.json:1:27: error: an escape of half a character; write both halves, or the character"
    ),
    Mistake(
      .invalidEscape,
      #"{ paths: { me: { state: "S\u0007" } } }"#,
      says: "A.json:1:27: error: a control character in a string; remove it"
    ),
    Mistake(
      .invalidEscape,
      #"{ paths: { me: { state: "S\1" } } }"#,
      says: #"A.json:1:27: error: '\1' is not an escape; write '1', or \u and four digits"#
    ),
    Mistake(
      .controlCharacter,
      "{ paths: { me: { state: \"S\u{0}\" } } }",
      says: "A.json:1:27: error: the character U+0000 in a string; remove it"
    ),
    Mistake(
      .invalidNumber,
      "{ paths: { me: { state: 0x } } }",
      says: "A.json:1:25: error: this is not a number; put the value in quotes"
    ),
    Mistake(
      .trailingText,
      "{ paths: { \(valid) } } }",
      says: "A.json:1:35: error: text after the end of the root object; remove it, or check the brackets"
    ),
    Mistake(
      .duplicateName,
      "{ paths: { \(valid),\n  'me': { state: \"T\" } } }",
      says: "A.json:2:3: error: 'me' is defined twice, first at A.json:1:12; remove or rename one"
    ),
    Mistake(
      .duplicateName,
      #"{ paths: { \#(valid) }, "a\nb": 1, "a\nb": 2 }"#,
      says: "A.json:1:34: error: the file has no field 'a b'; "
        + "the fields are 'access', 'imports', 'links', 'paths', 'context'",
      "A.json:1:45: error: 'a b' is defined twice, first at A.json:1:34; remove or rename one"
    ),
    Mistake(
      .expectedColon,
      #"{ paths: { \#(valid), "a\nb" 1 } }"#,
      says: "A.json:1:39: error: expected ':' after 'a b', found '1'; write name and value as name: value"
    ),
    Mistake(
      .tooDeep,
      "{ paths: " + String(repeating: "{ a: ", count: 64) + "1" + String(repeating: " }", count: 64)
        + ", context: { a: { type: 'Int?', default: 1 } } }",
      says:
        "A.json:1:325: error: nested deeper than 64 levels; use fewer namespaces",
      "A.json:1:500: error: 'default' is a number; expected a string"
    ),
  ]
}
