import ArgumentParser
import Charts
import Foundation
import Operation
import PostService

@main
struct ResilientClient: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resilient-client",
    abstract:
      "Compares a bare client with one that has everything on, while their servers are slow, overloaded and down.",
    discussion: "It prints a table, plots latency and success over time, and checks the shape of the curves."
  )

  @Option(help: "The file for the plot; resilience.svg in the temporary folder by default.")
  var svg: String?

  @Flag(help: "Compares the bare client with itself, which the checks have to notice.")
  var unprotected = false

  func run() async throws {
    // A warning of the library is a mistake of the example.
    let warnings = Warnings()
    OperationWarning.reporter = { warnings.append("\($0)") }
    let (bareServer, server) = (PostServer(archive: try .bundled()), PostServer(archive: try .bundled()))
    let bare = BarePosts(api: try await Self.api(of: bareServer))
    let api = try await Self.api(of: server)
    let resilient = self.unprotected ? nil : ResilientPosts(api: api)
    print("\(Scenario.callsPerSecond) calls a second for \(Phase.totalSeconds) s, to a server for each client …")
    let recordings = try await Scenario().play(on: [
      Side(server: bareServer, posts: bare),
      Side(server: server, posts: resilient ?? BarePosts(api: api)),
    ])
    await bareServer.stop()
    await server.stop()

    print(Table(bare: recordings[0], resilient: recordings[1]))
    let url = self.svg.map { URL(filePath: $0) } ?? .temporaryDirectory.appending(path: "resilience.svg")
    try Data(Plot(bare: recordings[0], resilient: recordings[1]).chart.svg.utf8).write(to: url)
    print("the curves are in \(url.path(percentEncoded: false))")
    let checks = Checks(bare: recordings[0], resilient: recordings[1], client: resilient)
    for line in checks.lines { print(line) }
    for warning in warnings.all { print("wrong the library warns: \(warning)") }
    guard checks.wrongCount + warnings.all.count == 0 else {
      print("error: \(checks.wrongCount + warnings.all.count) of the curves and counts are not as they should be")
      throw ExitCode.failure
    }
  }

  /// A session that holds no request back and waits longer than any caller.
  private static func api(of server: PostServer) async throws -> PostAPI {
    PostAPI(baseURL: try await server.start(), connections: 300, timeout: 10)
  }
}
