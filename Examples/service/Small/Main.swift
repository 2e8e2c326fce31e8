import CoreMetrics
import Foundation
import InMemoryLogging
import Logging
import MetricsTestKit
import OperationHTTP

/// Plays a minute in the life of the service of the article "A service in eighty lines": the exit code is 0 if all checks hold.
@main
struct Main {
  private var checks = Checks()
  private let metrics = TestMetrics()
  private let log = InMemoryLogHandler()
  private let first = Upstream()
  private let second = Upstream()

  static func main() async throws {
    var story = Main()
    try await story.play()
    for failure in story.checks.failures { print("failed: \(failure)") }
    print("\(story.checks.count - story.checks.failures.count) of \(story.checks.count) checks hold.")
    exit(story.checks.failures.isEmpty ? 0 : 1)
  }

  private mutating func play() async throws {
    let log = self.log
    LoggingSystem.bootstrap { _ in log }
    MetricsSystem.bootstrap(self.metrics)
    let servers = [self.first, self.second].map { upstream in Task { try await upstream.run() } }
    let hosts = [try Self.address(await self.first.port), try Self.address(await self.second.port)]
    let service = PostService(hosts: hosts)
    let listening = Upstream()  // Only notes the port.
    let serving = Task { try await service.run(port: 0) { listening.note(port: $0) } }
    let address = try Self.address(await listening.port)

    let crowd = try await Self.statuses(of: Array(repeating: 2, count: 20), at: address)
    self.checks.expect(crowd.allSatisfy { $0 == 200 }, "twenty readers got the post")
    self.checks.expect(self.first.requestCount == 1, "twenty readers made one request upstream")
    _ = try await Self.statuses(of: [2], at: address)
    self.checks.expect(self.first.requestCount == 1, "a fresh post makes no request")
    _ = try await Self.statuses(of: [100], at: address)

    self.first.becomeDown()
    let kept = try await Self.statuses(of: [100], at: address)
    self.checks.expect(kept == [200], "the last value is served while its host is down")
    let unknown = try await Self.statuses(of: Array(stride(from: 4, through: 40, by: 2)), at: address)
    self.checks.expect(unknown.allSatisfy { $0 == 502 || $0 == 503 }, "posts that nothing is known of are refused")
    let before = self.first.requestCount
    let rejected = try await Self.statuses(of: [42], at: address)
    self.checks.expect(rejected == [503], "the breaker of the host that is down rejects")
    self.checks.expect(self.first.requestCount == before, "a host that is down gets no requests")
    let other = try await Self.statuses(of: [1], at: address)
    self.checks.expect(other == [200], "the other host has a breaker of its own")

    self.checks.expect(self.metrics.counterTotal(label: "operation.runs") > 0, "runs are counted")
    self.checks.expect(
      log.entries.contains { $0.message.description == "circuit.opened" },
      "the log has the breaker that opened"
    )
    kill(getpid(), SIGTERM)
    try await serving.value
    let gone = try? await Self.statuses(of: [1], at: address)
    self.checks.expect(gone == nil, "nothing listens after SIGTERM")
    for server in servers { server.cancel() }
  }

  /// The statuses of a request for each post, all at once.
  private static func statuses(of posts: [Int], at address: URL) async throws -> [Int] {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for id in posts {
        group.addTask {
          let request = OperationHTTPRequest(address.appending(path: "posts/\(id)"))
          return try await URLSessionTransport.shared.send(request).status
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  private static func address(_ port: Int) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw URLError(.badURL) }
    return url
  }
}

/// The checks that were made, and those that have failed.
private struct Checks {
  private(set) var count = 0
  private(set) var failures: [String] = []

  mutating func expect(_ isTrue: Bool, _ sentence: String) {
    self.count += 1
    print(isTrue ? "  ✓ \(sentence)" : "  ✗ not so: \(sentence)")
    if !isTrue { self.failures.append(sentence) }
  }
}
