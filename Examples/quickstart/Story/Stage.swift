import Operation
import PostService

/// What a step of the story acts on.
struct Stage: Sendable {
  let account: Account
  let api: PostAPI
  /// Nil when the story plays against a server of the user's, into which no failures can be injected.
  let server: PostServer?
  /// How many posts the server has at the beginning.
  let postCount: Int

  /// What a retry waits for the first time; twice that the second time, and so on.
  static let firstWait = Duration.milliseconds(50)

  /// A client with no stores yet, whose operations talk to the server of this stage.
  ///
  /// Its queries are retried up to three times, with waits short enough for a story, and share their requests.
  func makeClient() -> OperationClient {
    var context = OperationContext()
    context.postAPI = self.api
    return OperationClient(
      defaultContext: context,
      storeCreator: .default(retryLimit: 3, backoff: .exponential(Self.firstWait))
    )
  }
}

extension Stage {
  /// How many requests of a route there were in this step: what reached our server, or what was sent to the user's.
  func requests(of route: Route) -> Int {
    self.log.count(of: route)
  }

  /// Checks what the other side of the wire counted.
  func checkRequests(of route: Route, equal expected: Int) {
    let witness = self.server == nil ? "the client sent" : "the server saw"
    self.account.check("\(witness) \(route) \(expected.times)", self.requests(of: route), equals: expected)
  }

  func checkNoRequests() {
    self.account.check("no request was made", self.log.total, equals: 0)
  }

  /// Forgets the traffic and the scripted faults of the step before.
  func clear() {
    self.api.sent.removeAll()
    self.server?.log.removeAll()
    self.server?.script.reset()
  }

  private var log: RequestLog { self.server?.log ?? self.api.sent }
}
