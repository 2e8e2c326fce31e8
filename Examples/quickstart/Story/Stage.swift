import Operation
import PostService

/// The objects that a step of the story uses.
struct Stage: Sendable {
  let transcript: Transcript
  let api: PostAPI
  /// Nil when the story uses a server of the user, into which no failures can be injected.
  let server: PostServer?
  /// How many posts the server has at the beginning.
  let postCount: Int

  /// The wait before the first retry; the second waits twice as long, and so on.
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
  /// The number of requests of a route in this step: those that reached our server, or were sent to that of the user.
  func requests(of route: Route) -> Int {
    self.log.count(of: route)
  }

  /// Checks the number of requests of a route in this step.
  func checkRequests(of route: Route, equal expected: Int) {
    let witness = self.server == nil ? "the client sent" : "the server saw"
    self.transcript.check("\(witness) \(route) \(expected.times)", self.requests(of: route), equals: expected)
  }

  func checkNoRequests() {
    self.transcript.check("no request was made", self.log.total, equals: 0)
  }

  /// Removes the counted requests and the scripted faults of the previous step.
  func clear() {
    self.api.sent.removeAll()
    self.server?.log.removeAll()
    self.server?.script.reset()
  }

  private var log: RequestLog { self.server?.log ?? self.api.sent }
}
