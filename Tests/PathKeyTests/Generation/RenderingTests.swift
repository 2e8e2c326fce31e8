import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct RenderingTests {
  private func code(_ texts: String...) throws -> String {
    try PathKeyGenerator.generate(from: sources(texts), importing: "OperationCore")
  }

  @Test
  func `A declaration is mapped to the line of its key, even without room for a comment above`() throws {
    let code = try self.code(#"{ "paths": { "a": { "state": "QueryState<Nobody, any Error>" } } }"#)
    #expect(
      code.contains(
        """
        #sourceLocation(file: "A.json", line: 1)
          /** The path `["a"]`. */ internal static var a: OperationPathKey<QueryState<Nobody, any Error>> {
        """
      )
    )
    let everything = try self.code(
      "{ paths: { a: { parameters: { id: 'Int' }, operation: 'A' } }, context: { token: { type: 'Int?' } } }"
    )
    for declaration in ["static func a(", "static var a:", "var path: OperationPath { PathKeys.a", "var token:"] {
      expect(self.line(of: declaration, in: everything), equals: 1)
    }
  }

  @Test
  func `A deprecated key says why, and which key replaces it; its operation does without it`() throws {
    let code = try self.code(
      #"{ paths: { a: { parameters: { id: 'Int' }, operation: 'A', deprecated: 'say "b"', renamed: 'x.class' } } }"#
    )
    let attribute = #"@available(*, deprecated, message: "say \"b\"", renamed: "PathKeys.x.`class`") internal static"#
    #expect(code.contains("\(attribute) func a(id: Int) -> "))
    #expect(code.contains("\(attribute) var a: "))
    #expect(code.contains(#"{ OperationPathKey<A.State>(path: ["a", self.id]).path(for: Self.self) }"#))
    let renamed = try self.code("{ paths: { a: { state: 'S', renamed: 'b' } } }")
    #expect(renamed.contains(#"@available(*, deprecated, renamed: "PathKeys.b") internal static var a: "#))
    expect(messages("{ paths: { a: { state: 'S', renamed: 'b.' } } }").first?.contains("'b.' is no key"), equals: true)
  }

  @Test
  func `A parameter has a default value, which is nil for an optional one`() throws {
    let code = try self.code(
      "{ paths: { a: { state: 'S', "
        + "parameters: { b: { type: 'Int', default: '1' }, c: { type: 'Int?' }, d: 'Int?' } } } }"
    )
    #expect(code.contains("static func a(b: Int = 1, c: Int? = nil, d: Int?) -> OperationPathKey<S> "))
    let wrong = messages("{ paths: { a: { parameters: { b: { type: 'Int', default: '(' } }, state: 'S' } } }")
    expect(wrong.first?.contains("is never closed in the expression"), equals: true)
    expect(
      messages("{ paths: { a: { parameters: { b: { type: 'Int', value: '1' } }, state: 'S' } } }").count,
      equals: 1
    )
  }

  @Test
  func `Two files name the same type of links, or one of them alone`() throws {
    let one = "{ links: 'Link', paths: { a: { state: 'S' } } }"
    #expect(try self.code(one, "{ links: 'Link', context: { b: { type: 'Int?' } } }").contains("enum Link: Sendable {"))
    let found = diagnostics(sources([one, "{ links: 'Other', context: { b: { type: 'Int?' } } }"]))
    expect(found.map(\.code), equals: [.duplicateEntry])
    expect(
      diagnostics(sources(["{ links: 'PathKeys', paths: { a: { state: 'S' } } }"])).map(\.code),
      equals: [.reservedName]
    )
  }

  @Test(arguments: 1...6)
  func `A comment of several lines is above its declaration if there is room`(line: Int) throws {
    // The comment has two lines of the user, an empty one, and the path.
    let code = try self.code(
      String(repeating: "\n", count: line - 1) + "{ paths: { a: { doc: 'A\\nB', state: 'S' } } }"
    )
    expect(self.line(of: "static var a:", in: code), equals: line)
    expect(code.contains("  /** A B The path `[\"a\"]`. */ internal static var a:"), equals: (line <= 4))
    expect(code.contains("  /// A\n  /// B\n  ///\n  /// The path"), equals: (line > 4))
  }

  @Test(arguments: ["*/ b", "/* b", "*/* b", "/*/ b", "**//**/", "/"])
  func `Comment delimiters in documentation do not end the comment`(text: String) throws {
    let code = try self.code("{ paths: { a: { doc: '\(text)', state: 'S' } } }")
    let line = try #require(code.split(separator: "\n").first { $0.contains("/** ") })
    #expect(line.matches(of: /\/\*|\*\//).count == 2)
    #expect(line.hasPrefix("  /** ") && line.contains(" */ internal static var a: "))
  }

  @Test
  func `A file whose path cannot be written is not mapped to the previous file`() throws {
    let one = SourceFile(path: "A.json", text: "{ paths: { a: { state: 'S' } } }")
    let two = SourceFile(path: "a \"b\".json", text: "\n{ paths: { b: { state: 'S' } } }")
    let code = try PathKeyGenerator.generate(from: [one, two], importing: "OperationCore")
    #expect(code.contains("#sourceLocation()\n  /// The path `[\"b\"]`.\n  internal static var b: "))
    expect(code.matches(of: /#sourceLocation\(\)/).count, equals: 1)
  }

  @Test(arguments: [
    (["internal M", "public M"], "public import M"), (["internal M", "package M"], "package import M"),
    (["package M", "public M", "internal M"], "public import M"), (["M", "internal M"], "package import M"),
    (["M", "public M"], "public import M"),
  ])
  func `An import has the highest access level that a file requires`(imports: [String], line: String) throws {
    let texts = imports.map { "{ imports: ['\($0)'], context: { a\($0.count): { type: 'Int?' } } }" }
    let files = sources(texts + ["{ access: 'package', context: { b: { type: 'Int?' } } }"])
    let code = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
    #expect(code.contains("#if hasFeature(InternalImportsByDefault)\n\(line)\n"))
  }

  @Test(arguments: [
    ("internal", "internal M", "import M", "internal import M"), ("internal", "M", "import M", "import M"),
    ("public", "internal M", "import M", "internal import M"), ("public", "M", "public import M", "import M"),
  ])
  func `An import has a stated level with and without the feature`(
    access: String,
    module: String,
    with: String,
    without: String
  ) throws {
    let code = try self.code(
      "{ access: '\(access)', imports: ['\(module)', 'package N'], context: { a: { type: 'A?' } } }"
    )
    let core = access == "public" ? "public import OperationCore" : "import OperationCore"
    let featured = ["#if hasFeature(InternalImportsByDefault)", with, "package import N", core]
    let others = ["#else", without, "package import N", "import OperationCore", "#endif"]
    #expect(code.contains((featured + others).joined(separator: "\n")))
  }

  /// The line of the user's file that the compiler names for a line of the code.
  private func line(of text: String, in code: String) -> Int? {
    var line: Int?
    for written in code.split(separator: "\n", omittingEmptySubsequences: false) {
      if let mapping = written.firstMatch(of: /#sourceLocation\(file: ".*", line: ([0-9]+)\)/) {
        line = Int(mapping.1)
      } else if written.hasPrefix("#sourceLocation()") {
        line = nil
      } else if written.contains(text) {
        return line
      } else {
        line = line.map { $0 + 1 }
      }
    }
    return nil
  }
}
