import Foundation
import Logging
import Operation
import OperationHTTP
import ServiceLifecycle
import Synchronization

/// A service in front of one that is slow, fails and stops, in one process with that one and with the visitors.
///
/// It plays a story and checks it: the exit code is 0 if all went well. With `--without-breaker` some checks have to
/// fail.
@main
struct Main {
  static func main() async {
    let observed = Observed()
    observed.bootstrap()
    do {
      let checks = try await Self.play(observed)
      for failure in checks.failures { print("failed: \(failure)") }
      print("\(checks.count - checks.failures.count) of \(checks.count) checks hold.")
      exit(checks.failures.isEmpty ? 0 : 1)
    } catch {
      print("failed: \(error)")
      exit(1)
    }
  }

  private static func play(_ observed: Observed) async throws -> Checks {
    let upstream = Upstream()
    let server = ServiceGroup(services: [upstream.application], logger: Logger(label: "upstream"))
    let serving = Task { try await server.run() }
    let front = Front(
      upstream: try Self.address(await upstream.listening.port),
      transport: .plain(),
      minimumRuns: CommandLine.arguments.contains("--without-breaker") ? .max : 10
    )

    // The client is shut down after the server, whose requests need it.
    let report = Report()
    let client = OperationClientService(front.client, deadline: .seconds(10)) { report.note($0) }
    let settings = try await SettingsFile(of: front.limit)
    let group = ServiceGroup(services: [client, settings, front.application], logger: Logger(label: "front"))
    let fronting = Task { try await group.run() }

    let visitors = Visitors(address: try Self.address(await front.listening.port), transport: .plain())
    var story = Story(upstream: upstream, front: front, visitors: visitors, observed: observed, settings: settings)
    try await story.play()
    try await Self.shutDown(group, fronting, report, &story)
    await server.triggerGracefulShutdown()
    try await serving.value
    return story.checks
  }

  /// Shuts the front down in the middle of requests, all of which get their answers.
  private static func shutDown(
    _ group: ServiceGroup,
    _ running: Task<Void, any Error>,
    _ report: Report,
    _ story: inout Story
  ) async throws {
    let (upstream, visitors) = (story.upstream, story.visitors)
    let before = upstream.requestCount
    upstream.become(.held)
    let readers = Task { try await visitors.get(["articles/21", "articles/21", "articles/22"]) }
    let like = Task { try await visitors.post("articles/1/likes") }
    await upstream.requests.reaches(before + 3)
    await group.triggerGracefulShutdown()
    upstream.become(.well)
    let replies = try await readers.value + [like.value]
    try await running.value
    let calls = upstream.requestCount - before
    Checks.line("a shutdown during requests", "4", "\(calls)", "all of them answered, nothing cut off")
    story.checks.expect(replies.allSatisfy { $0.status == 200 }, "requests in flight got their answers")
    story.checks.expect(report.cutOff == 0, "the shutdown cut nothing off")
    do {
      _ = try await visitors.get("articles/1")
      story.checks.expect(false, "nothing listens after the shutdown")
    } catch {
      story.checks.expect(error is URLError, "nothing listens after the shutdown")
    }
  }

  private static func address(_ port: Int) throws -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw URLError(.badURL) }
    return url
  }
}

/// How many runs the shutdown has cut off; nil before it.
private final class Report: Sendable {
  private let state = Mutex<Int?>(nil)

  var cutOff: Int? { self.state.withLock { $0 } }

  func note(_ report: OperationShutdownReport) { self.state.withLock { $0 = report.cutOff.count } }
}
