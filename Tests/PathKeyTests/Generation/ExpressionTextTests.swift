import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct ExpressionTextTests {
  private func file(_ expression: String) -> String {
    let written = expression.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    return "{ context: { a: { type: 'Int', default: '\(written)' } } }"
  }

  @Test(arguments: [
    "1", "URLSession.shared", "[:]", "[1, 2]", ".init(a: 1, b: { $0; $1 })", "{ let x = 1; return x }()", #""a, b; c""#,
    #""}""#, #""\"}""#, #""\(f("}")) is it""#, ##"#"a "b" \(c)"#"##, ##"#"\#(f(1))"#"##, "a == b", "a <= b",
    "a != b ? 1 : 2",
    "try! f()", "x as? Int ?? 5", "a / b", #""""#, #""//""#, "#file", "-1",
    #"/a"b/"#, #"f(/[)"]/, 2)"#, ##"#/a"(b/#"##, ##"#/a/b"/#"##, #"/\/"/"#, "a / (b) / c", "{ $0.contains(/\"/) }",
    "(a) / \"b\".count",
  ])
  func `An expression is used as it is written`(expression: String) throws {
    let code = try PathKeyGenerator.generate(from: sources([self.file(expression)]), importing: "OperationCore")
    #expect(code.contains("static let defaultValue: Int = \(expression) }\n"))
  }

  @Test(arguments: [
    ("", 0, "nothing"),
    ("(1", 0, "'(' is never closed"),
    ("f([1)", 4, "')' does not close '['"),
    ("1)", 1, "')' closes no bracket"),
    ("1 } enum A {", 2, "'}' closes no bracket"),
    ("1; print()", 1, "';' outside brackets"),
    ("1, b: Int = 2", 1, "',' outside brackets"),
    ("x = 5", 2, "an assignment"),
    ("1 // rest", 2, "a comment"),
    ("1 /* rest", 2, "a comment"),
    ("\"abc", 0, "a string that is never closed"),
    ("/abc", 0, "a regular expression that is never closed"),
    ("#/abc/", 1, "a regular expression that is never closed"),
    ("\"\"\"a\"\"", 0, "a string that is never closed"),
    ("\"\\(a\"", 4, "a string that is never closed"),
    ("\"\\(a]\"", 4, "']' does not close '('"),
    ("#\"abc\"", 1, "a string that is never closed"),
  ])
  func `A text that would not end as an expression is refused`(expression: String, offset: Int, message: String) {
    let found = diagnostics(sources([self.file(expression)]))
    expect(found.map(\.code), equals: [.malformedExpression])
    expect(found.first?.message.hasPrefix("\(message) in the expression"), equals: true)
    // Each backslash is written as two.
    let backslashes = expression.prefix(offset).filter { $0 == "\\" }.count
    expect(found.first?.column, equals: 42 + offset + backslashes)
  }

  @Test
  func `A line that ends outside brackets is refused`() {
    expect(messages(#"{ context: { a: { type: 'Int', default: '1\nlet b = 2' } } }"#).count, equals: 1)
    #expect(messages(#"{ context: { a: { type: 'Int', default: '[1,\n2]' } } }"#).isEmpty)
  }

  @Test
  func `Deep expressions end in a message`() {
    for part in ["(", "{", "\"\\("] {
      let found = diagnostics(sources([self.file(String(repeating: part, count: 100_000))]))
      expect(found.map(\.code), equals: [.malformedExpression])
    }
  }
}
