import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite
struct FuzzTests {
  private static let sound = """
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

  private static let corpus = ([sound] + MistakeTests.all.flatMap(\.files)).filter { $0.utf8.count < 4_000 }

  /// What makes a difference to the reader, to types or to expressions.
  private static let tokens = [
    "{", "}", "[", "]", "(", ")", "<", ">", ":", ",", ".", "\"", "'", "\\", "\\u", "\\x", "//", "/*", "*/", "\n",
    "\r\n",
    " ", "\t", "\u{0}", "\u{2028}", "\u{FEFF}", "é", "👩‍👩‍👧", "-", "+", "0x", "1e", ".5", "Infinity", "null", "true",
    "paths", "context",
    "state", "parameters", "operation", "doc", "access", "imports", "type", "default", "any ", "some ", "->", "?", "!",
    "&", "@", "~", "`", "...", ";", "=", "#\"", "\"\"\"", "\\(", "self", "path", "Type", "class", "Int", "User.ID",
  ].map { Array($0.utf8) }

  @Test(arguments: 0..<16)
  func `Whatever is in a file, it gives code or messages in place`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var wrong: [String] = []
    for _ in 0..<500 {
      var bytes = Array(Self.corpus.randomElement(using: &generator)?.utf8 ?? "".utf8)
      for _ in 0..<Int.random(in: 1...8, using: &generator) { Self.mutate(&bytes, using: &generator) }
      wrong += Self.complaints(about: [bytes])
    }
    #expect(wrong == [])
  }

  @Test(arguments: 16..<24)
  func `Noise gives messages in place`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var wrong: [String] = []
    for _ in 0..<400 {
      let noise = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let tokens = (0..<Int.random(in: 0...200, using: &generator))
        .flatMap { _ in Self.tokens.randomElement(using: &generator) ?? [] }
      wrong += Self.complaints(about: [noise]) + Self.complaints(about: [tokens, noise])
    }
    #expect(wrong == [])
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

  /// What is not as it should be when these files are generated from.
  private static func complaints(about files: [[UInt8]]) -> [String] {
    let sources = zip("AB", files).map { SourceFile(path: "\($0).json", bytes: $1) }
    let found = diagnostics(sources)
    var complaints = found == diagnostics(sources) ? [] : ["other messages the second time: \(found)"]
    for diagnostic in found {
      let size = files[diagnostic.path == "A.json" ? 0 : 1].count
      let isInPlace = (1...(size + 1)).contains(diagnostic.line) && (1...(size + 1)).contains(diagnostic.column)
      let isOneLine = !diagnostic.description.utf8.contains { $0 == 10 || $0 == 13 }
      if !isInPlace || !isOneLine || diagnostic.what.isEmpty || diagnostic.remedy.isEmpty {
        complaints.append("\(diagnostic)")
      }
    }
    return complaints + (found.isEmpty ? self.complaints(aboutCodeOf: sources) : [])
  }

  /// Code from mutated files may not compile; its brackets are closed all the same, so it says nothing of its own.
  private static func complaints(aboutCodeOf sources: [SourceFile]) -> [String] {
    guard let code = try? PathKeyGenerator.generate(from: sources, importing: "OperationCore") else {
      return ["no code and no message"]
    }
    let lines = code.split(separator: "\n").filter { !$0.contains("///") && !$0.hasPrefix("//") }
    let opened = lines.count { $0.hasPrefix("nonisolated") }
    return lines.count { $0.hasPrefix("}") } == opened ? [] : [code]
  }
}
