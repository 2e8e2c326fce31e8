import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct NameTests {
  private func code(_ text: String) throws -> String {
    try PathKeyGenerator.generate(from: sources([text]), importing: "OperationCore")
  }

  @Test(arguments: ["class", "default", "in", "where", "Any", "internal", "import", "nil", "true", "await"])
  func `Keywords are names in backticks`(keyword: String) throws {
    let code = try self.code("{ paths: { \(keyword): { \(keyword): { state: 'S' } } } }")
    #expect(code.contains("enum `\(keyword)` {"))
    #expect(code.contains("nonisolated extension PathKeys.`\(keyword)` {"))
    #expect(
      code.contains("static var `\(keyword)`: OperationPathKey<S> { .init(path: [\"\(keyword)\", \"\(keyword)\"]) }")
    )
  }

  @Test
  func `A keyword as a parameter has backticks where the compiler needs them`() throws {
    let code = try self.code(
      "{ paths: { a: { parameters: { in: 'Int', let: 'Int', await: 'Int', init: 'Int', inout: 'Int' }, operation: 'A' } } }"
    )
    #expect(code.contains("func a(in: Int, `let`: Int, await: Int, init: Int, `inout`: Int)"))
    #expect(code.contains("[\"a\", `in`, `let`, `await`, `init`, `inout`]"))
    #expect(
      code.contains(
        "PathKeys.a(in: self.`in`, let: self.`let`, await: self.`await`, init: self.`init`, `inout`: self.`inout`)"
          + ".path(for: Self.self)"
      )
    )
  }

  @Test(arguments: ["_", "a b", "a-b", "1a", "$a", "a.b", "`a`", "", "a\u{200E}", "a\\nb"])
  func `A name that is not an identifier is refused`(name: String) {
    let found = diagnostics(sources(["{ paths: { '\(name)': { state: 'S' } } }"]))
    expect(found.map(\.code), equals: [.invalidName])
  }

  @Test(arguments: ["été", "_a", "a1", "ñ", "名前", "a_b", "🚀"])
  func `Letters of any script are valid in names`(name: String) throws {
    #expect(try self.code("{ paths: { '\(name)': { state: 'S' } } }").contains("static var \(name): "))
  }

  @Test(arguments: ["path", "self", "Self", "Type", "Protocol", "init"])
  func `Names that Swift or the generated code uses are refused`(name: String) {
    expect(diagnostics(sources(["{ paths: { \(name): { state: 'S' } } }"])).map(\.code), equals: [.reservedName])
    expect(diagnostics(sources(["{ paths: { \(name): { a: { state: 'S' } } } }"])).map(\.code), equals: [.reservedName])
  }

  @Test
  func `A parameter may be called path where no operation gets one`() throws {
    #expect(
      try self.code("{ paths: { a: { parameters: { path: 'Int' }, state: 'S' } } }").contains("func a(path: Int)")
    )
  }

  @Test
  func `A namespace may have the name of a field`() throws {
    let code = try self.code(
      "{ paths: { state: { parameters: { operation: { state: 'S' } }, doc: { state: 'S' }, paths: { state: 'S' } } } }"
    )
    for name in ["state.path", "state.parameters.operation", "state.doc", "state.paths"] {
      #expect(
        code.contains(
          "[\(name.split(separator: ".").filter { $0 != "path" }.map { "\"\($0)\"" }.joined(separator: ", "))]"
        )
      )
    }
  }

  @Test
  func `A namespace may have the name of a type that only keys below it use`() throws {
    let code = try self.code("{ paths: { User: { profile: { parameters: { id: 'User.ID' }, state: 'S' } } } }")
    #expect(code.contains("nonisolated extension PathKeys.User {"))
  }
}
