import Foundation
import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
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
  func `A thousand keys give a thousand functions`() throws {
    let code = try PathKeyGenerator.generate(from: sources([self.text(keys: 1_000)]), importing: "OperationCore")
    expect(code.split(separator: "\n").count { $0.contains("static func key") }, equals: 1_000)
  }

  @Test
  func `The time for a file grows linearly with its keys`() throws {
    // Processor time, so that other work of the machine does not count, and the best of three, because of the caches.
    // Eight times the keys take eight times as long, or 64 times as long if each key is compared with all others.
    let files = [sources([self.text(keys: 125)]), sources([self.text(keys: 1_000)])]
    let times = try files.map { files in
      try (0..<3).map { _ in
        let start = Self.processorTime
        _ = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
        return Self.processorTime - start
      }.min() ?? .zero
    }
    #expect(times[1] < times[0] * 24)
  }

  /// The processor time that the current thread has used.
  private static var processorTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test
  func `The same files give the same code`() throws {
    let files = sources([self.text(keys: 100), "{ imports: ['C', 'A', 'B'], context: { token: { type: 'String?' } } }"])
    let code = try PathKeyGenerator.generate(from: files, importing: "OperationCore")
    for _ in 0..<5 { try expect(PathKeyGenerator.generate(from: files, importing: "OperationCore"), equals: code) }
  }

  @Test
  func `A file full of mistakes gives a limited number of messages`() {
    let text = "{ paths: {" + (0..<20_000).map { "k\($0): 1," }.joined() + "} }"
    expect(diagnostics(sources([text])).count, equals: 1_000)
  }
}
