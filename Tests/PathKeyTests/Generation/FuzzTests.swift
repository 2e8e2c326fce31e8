import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct FuzzTests {
  private static let valid = """
    \u{FEFF}// Keys.
    {
      access: "package", imports: ["Models", 'internal Foundation',],
      paths: {
        users: {
          doc: "Users,\\nall of them.",
          profile: { parameters: { id: "User.ID", in: "(Int, [String: Int?]) -> Void" }, operation: "User.Query" },
          /* été */ été: { state: "QueryState<User, any Error>", doc: 'It\\'s \\u00e9t\\xe9' },
        },
        me: { state: "S" },
      },
      context: { transport: { type: "any P", default: "{ \\"\\\\(f(1))}\\" }()" }, token: { type: "String?" } },
    }
    """

  private static let corpus = ([valid] + MistakeTests.all.flatMap(\.files)).filter { $0.utf8.count < 4_000 }

  /// Texts with a meaning for the reader, for types or for expressions.
  private static let tokens = [
    "{", "}", "[", "]", "(", ")", "<", ">", ":", ",", ".", "\"", "'", "\\", "\\u", "\\x", "//", "/*", "*/", "\n",
    "\r\n",
    " ", "\t", "\u{0}", "\u{2028}", "\u{FEFF}", "é", "👩‍👩‍👧", "-", "+", "0x", "1e", ".5", "Infinity", "null", "true",
    "paths", "context",
    "state", "parameters", "operation", "doc", "access", "imports", "type", "default", "any ", "some ", "->", "?", "!",
    "&", "@", "~", "`", "...", ";", "=", "#\"", "\"\"\"", "\\(", "self", "path", "Type", "class", "Int", "User.ID",
  ].map { Array($0.utf8) }

  @Test(arguments: 0..<16)
  func `Any file gives code, or messages with places inside it`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var errors: [String] = []
    for _ in 0..<ModelRuns.count(100, parts: 20) {
      var bytes = Array(Self.corpus.randomElement(using: &generator)?.utf8 ?? "".utf8)
      for _ in 0..<Int.random(in: 1...8, using: &generator) { Self.mutate(&bytes, using: &generator) }
      errors += Self.errors(about: [bytes])
    }
    expect(errors, equals: [])
  }

  @Test(arguments: 16..<24)
  func `Random bytes and tokens give messages with places inside the file`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var errors: [String] = []
    for _ in 0..<ModelRuns.count(80, parts: 20) {
      let noise = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let tokens = (0..<Int.random(in: 0...200, using: &generator))
        .flatMap { _ in Self.tokens.randomElement(using: &generator) ?? [] }
      errors += Self.errors(about: [noise]) + Self.errors(about: [tokens, noise])
    }
    expect(errors, equals: [])
  }

  private static func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
    func position() -> Int { Int.random(in: 0...bytes.count, using: &generator) }
    let start = position()
    let end = min(bytes.count, start + Int.random(in: 0...12, using: &generator))
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: bytes.removeSubrange(start..<end)
    case 1: bytes.insert(contentsOf: bytes[start..<end], at: position())
    case 2: bytes.insert(contentsOf: self.tokens.randomElement(using: &generator) ?? [], at: start)
    case 3: bytes.replaceSubrange(start..<end, with: self.tokens.randomElement(using: &generator) ?? [])
    case 4: bytes.removeSubrange(start...)
    default: if start < bytes.count { bytes[start] = UInt8.random(in: 0...255, using: &generator) }
    }
  }

  /// The errors of the generator for these files.
  private static func errors(about files: [[UInt8]]) -> [String] {
    let sources = zip("AB", files).map { SourceFile(path: "\($0).json", bytes: $1) }
    let found = diagnostics(sources)
    var errors = found == diagnostics(sources) ? [] : ["other messages the second time: \(found)"]
    for diagnostic in found {
      let size = files[diagnostic.path == "A.json" ? 0 : 1].count
      let isInside = (1...(size + 1)).contains(diagnostic.line) && (1...(size + 1)).contains(diagnostic.column)
      let isOneLine = !diagnostic.description.utf8.contains { $0 == 10 || $0 == 13 }
      if !isInside || !isOneLine || diagnostic.message.isEmpty || diagnostic.remedy.isEmpty {
        errors.append("\(diagnostic)")
      }
    }
    return errors + (found.isEmpty ? self.errors(aboutCodeOf: sources) : [])
  }

  /// Code from mutated files may not compile, but its declarations are closed.
  private static func errors(aboutCodeOf sources: [SourceFile]) -> [String] {
    guard let code = try? PathKeyGenerator.generate(from: sources, importing: "OperationCore") else {
      return ["no code and no message"]
    }
    let lines = code.split(separator: "\n").filter { !$0.contains("///") && !$0.hasPrefix("//") }
    let opened = lines.count { $0.hasPrefix("nonisolated") }
    return lines.count { $0.hasPrefix("}") } == opened ? [] : [code]
  }
}
