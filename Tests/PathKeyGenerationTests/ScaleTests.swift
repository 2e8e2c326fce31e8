import OperationPathKeyGeneration
import Testing

@Suite
struct ScaleTests {
  /// Keys in namespaces of twenty.
  private func text(keys: Int) -> String {
    let namespaces = stride(from: 0, to: keys, by: 20).map { first in
      let keys = (first..<min(first + 20, keys)).map { key in
        "key\(key): { parameters: { id: 'Int', filter: '[String: Int?]' }, operation: 'Query\(key)', state: 'QueryState<[Int], any Error>' }"
      }
      return "names\(first): { \(keys.joined(separator: ",\n")) }"
    }
    return "{ paths: { \(namespaces.joined(separator: ",\n")) } }"
  }

  @Test
  func `A thousand keys take less than a second`() throws {
    let files = sources([self.text(keys: 1_000)])
    var code = ""
    // The best of three, so that it is not the machine's other work that is measured.
    let durations = try (0..<3).map { _ in
      try ContinuousClock().measure {
        code = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
      }
    }
    #expect(code.split(separator: "\n").count { $0.contains("static func key") } == 1_000)
    #expect(durations.contains { $0 < .seconds(1) })
  }

  @Test
  func `The same files give the same code`() throws {
    let files = sources([self.text(keys: 100), "{ imports: ['C', 'A', 'B'], context: { token: { type: 'String?' } } }"])
    let code = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
    for _ in 0..<5 { #expect(try PathKeyGenerator.generate(from: files, importing: "OperationCore") == code) }
  }

  @Test
  func `A file full of mistakes gives as many messages as can be read`() {
    let text = "{ paths: {" + (0..<20_000).map { "k\($0): 1," }.joined() + "} }"
    #expect(diagnostics(sources([text])).count == 1_000)
  }
}
