import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct TypeTextTests {
  private func code(for type: String) throws -> String {
    let text = "{ paths: { a: { parameters: { b: '\(type)' }, state: 'S' } } }"
    return try PathKeyGenerator.generate(from: sources([text]), importing: "OperationCore")
  }

  @Test(arguments: [
    "Int", "Int?", "Int??", "[Int]", "[String: [Int]]", "[[Int]]?", "User.ID", "Models.User.ID", "Set<User.ID>",
    "Dictionary<String, Array<Int>>.Index", "(Int, String)", "(id: Int, String)", "()", "(Int)",
    "any Hashable & Sendable",
    "(any Hashable & Sendable)?", "some Hashable & Sendable", "@Sendable (Int, name: String) async throws -> Void",
    "(inout: Int) -> Int", "() throws(MyError) -> [Int]", "InlineArray<3, Int>", "[3 of Int]", "`class`.`default`",
    "été.Größe", "Optional<any P>", "Result<(), any Error>", "A . B", "Int.Type",
    "Range<Int>?", "(Int...) -> Void", "~Copyable", "@Sendable (inout URLRequest) -> Void", "(_ a: inout [Int]) -> Int",
    "(_: A, _b: B) -> Int",
    "@convention(c) (Int) -> Void", "@isolated(any) () -> Void", "@isolated(any) @Sendable () async -> Int",
    "@Sendable(Int) -> Void", "@Sendable() async -> Void", "(isolated (any Actor)?) -> Void",
    "nonisolated(nonsending) (Int) async -> Void", "(nonisolated(nonsending) @escaping () async -> Void) -> Int",
  ])
  func `Any type is used as it is written`(type: String) throws {
    #expect(try self.code(for: type).contains("(b: \(type)) -> OperationPathKey<S>"))
  }

  @Test(arguments: [
    ("", 0, "nothing"),
    ("   ", 0, "nothing"),
    ("Int]", 3, "expected the end of the type, found ']',"),
    ("[Int", 0, "'[' is never closed"),
    ("[Int)", 4, "expected ',' or ']', found ')',"),
    ("Array<Int", 5, "'<' is never closed"),
    ("Array<>", 6, "expected a type, found '>',"),
    ("Array<Int]>", 9, "expected ',' or '>', found ']',"),
    ("(Int, ", 6, "expected a type, found the end,"),
    ("Int, String", 3, "expected the end of the type, found ',',"),
    ("Int = 5", 4, "expected the end of the type, found '=',"),
    ("Int) { } func f(", 3, "expected the end of the type, found ')',"),
    ("Int // all", 4, "expected the end of the type, found '/',"),
    ("Int /* all", 4, "expected the end of the type, found '/',"),
    ("Int; let x: Int", 3, "expected the end of the type, found ';',"),
    ("Int\\nlet x: Int", 3, "expected the end of the type, found a new line,"),
    ("\\\"Int\\\"", 0, "expected a type, found '\"',"),
    ("Int!", 3, "an optional is written with '?', found '!',"),
    ("func", 0, "expected a type, found 'f',"),
    ("5", 0, "expected a type, found '5',"),
    ("User.", 5, "expected a name after '.', found the end,"),
    ("User.5", 5, "expected a name after '.', found '5',"),
    ("any", 3, "expected a type, found the end,"),
    ("A & ", 4, "expected a type, found the end,"),
    ("(Int) async", 11, "expected '->', found the end,"),
    ("(Int) ->", 8, "expected a type, found the end,"),
    ("@ (Int) -> Int", 2, "expected an attribute's name after '@', found '(',"),
    ("[some P]", 1, "'some'"),
    ("inout Int", 0, "'inout'"),
    ("isolated A", 0, "'isolated'"),
    ("@convention(c (Int) -> Void", 14, "expected ',' or ')', found '(',"),
    ("@convention (c) Int", 16, "expected the end of the type, found 'I',"),
    ("@isolated(any)", 14, "expected a type, found the end,"),
    ("(Int.. )", 5, "expected a name after '.', found '.',"),
    ("`a", 0, "expected a type, found '`',"),
    ("#if", 0, "expected a type, found '#',"),
  ])
  func `A text that is not a type is refused at its place`(type: String, offset: Int, message: String) {
    let found = messages("{ paths: { a: { parameters: { b: '\(type)' }, state: 'S' } } }")
    expect(found.count, equals: 1)
    expect(found.first?.hasPrefix("A.json:1:\(35 + offset): error: \(message) in the type '"), equals: true)
  }

  @Test(arguments: [
    "String?", "String? ", "String??", " Optional<String>", "Optional < String > ", "Swift.Optional<[Int]>",
    "(@Sendable () -> Int)?", "(any P)?", "A.B?", "[Int?]?",
  ])
  func `An optional entry is nil by default`(type: String) throws {
    let text = "{ context: { a: { type: '\(type)' } } }"
    let code = try PathKeyGenerator.generate(from: sources([text]), importing: "OperationCore")
    #expect(code.contains("static let defaultValue: \(type) = nil }"))
  }

  @Test(arguments: [
    "String", "@Sendable () -> Int?", "() -> Optional<Int>", "[Int?]", "Optional<Int>.Type", "Int?.Type", "Array<Int?>",
    "Own.Optional<Int>", "Optional", "(Int?, Int?)", "Result<Optional<Int>, any Error>", "any P & Q",
  ])
  func `An entry with an optional somewhere inside is not optional`(type: String) {
    let found = diagnostics(sources(["{ context: { a: { type: '\(type)' } } }"]))
    expect(found.map(\.code), equals: [.missingDefault])
  }

  @Test
  func `Deep types end in a message`() {
    for bracket in ["[", "(", "Array<", "any ", "~", "@a "] {
      let found = diagnostics(sources(["{ paths: { a: { state: '\(String(repeating: bracket, count: 100_000))' } } }"]))
      expect(found.map(\.code), equals: [.malformedType])
    }
  }

  @Test
  func `A column after an escape counts the bytes in the file`() {
    let found = messages(#"{ paths: { a: { state: "\u0053et<Int" } } }"#)
    expect(found.first?.hasPrefix("A.json:1:33: error: '<' is never closed"), equals: true)
  }
}
