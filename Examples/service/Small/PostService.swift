import Foundation
import Hummingbird
import Logging
import Operation
import OperationHTTP
import ServiceLifecycle
import UnixSignals

struct Post: Codable, Sendable, ResponseEncodable {
  var id: Int
  var title: String
}

struct PostService: Sendable {
  let hosts: [URL]
  let logger = Logger(label: "posts")
  // A server has its network, and is never in the background.
  let client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))
  let limit = ConcurrencyLimit(20, queue: 100, name: "upstream")
  let breakers = CircuitBreakers(name: "upstream") { CircuitBreaker(name: $0, minimumRuns: 10) }

  init(hosts: [URL]) {
    self.hosts = hosts
    self.client.defaultContext.operationLogger = self.logger
    self.client.logNotices()  // An entry for each thing that a breaker, a limit, a retry or a timeout does.
    self.client.measureOperations()  // Runs, attempts, durations and notices, to the backend of swift-metrics.
  }

  /// A post, and what protects its host and its readers. `Cache-Control` says how long it is fresh.
  func post(_ id: Int) -> some QueryRequest<Post, any Error> & Sendable {
    let host = self.hosts[id % self.hosts.count]
    return HTTPQuery(host.appending(path: "posts/\(id)"), path: ["posts", id], isShared: true)
      .decode(Post.self)
      .timeout(.seconds(1))  // For each attempt.
      .circuitBreaker(self.breakers) { _, _ in "\(host.host() ?? ""):\(host.port ?? 80)" }
      .limited(by: self.limit, maximumWait: .milliseconds(500))
      .retry(limit: 1)
      .backoff(.milliseconds(50))
      .deadline(after: .seconds(3))  // For all attempts together.
      .servesStale(softTimeout: .milliseconds(300), maximumAge: .seconds(600))
  }

  var routes: Router<BasicRequestContext> {
    let router = Router()
    router.get("posts/{id}") { _, context in
      let id = try context.parameters.require("id", as: Int.self)
      do {
        return try await self.client.ensureValue(for: self.post(id))
      } catch {
        throw Self.refusal(after: error)
      }
    }
    router.get("health") { _, _ in "\(self.limit.snapshot())\n\(self.breakers.snapshot())\n" }
    return router
  }

  private static func refusal(after error: any Error) -> HTTPError {
    switch error {
    case let error as OperationHTTPStatusError where error.status == 404: HTTPError(.notFound)
    case is CircuitOpen, is OperationRejected: HTTPError(.serviceUnavailable)
    case is OperationTimedOut: HTTPError(.gatewayTimeout)
    default: HTTPError(.badGateway)
    }
  }

  /// Serves until the process gets SIGTERM: then it ends the requests that it has, and after them the client.
  func run(port: Int, onRunning: @escaping @Sendable (Int) async -> Void = { _ in }) async throws {
    let server = Application(
      router: self.routes,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { await onRunning($0.localAddress?.port ?? port) },
      logger: self.logger
    )
    let operations = OperationClientService(self.client, deadline: .seconds(10)) { report in
      for run in report.mutations { self.logger.error("cut off: \(run.kind)") }
    }
    try await ServiceGroup(services: [operations, server], gracefulShutdownSignals: [.sigterm], logger: self.logger)
      .run()
  }
}
