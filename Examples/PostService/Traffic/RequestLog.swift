import Synchronization

/// The requests that one side of the wire has counted, in order of arrival.
///
/// The server keeps one for what reached it and the client keeps one for what it sent, so that a claim such as
/// "ten callers, one request" is read off the traffic and not off the library that makes the claim.
package final class RequestLog: Sendable {
  private struct State {
    var routes: [Route] = []
    var times: [ContinuousClock.Instant] = []
  }

  private let state = Mutex(State())

  /// Writes a request down; returns how many of its route there are now.
  @discardableResult
  package func record(_ route: Route) -> Int {
    self.state.withLock { state in
      state.routes.append(route)
      state.times.append(.now)
      return state.routes.count { $0 == route }
    }
  }

  package func count(of route: Route) -> Int {
    self.state.withLock { $0.routes.count { $0 == route } }
  }

  package var total: Int {
    self.state.withLock { $0.routes.count }
  }

  /// When the requests came, in order.
  package var times: [ContinuousClock.Instant] {
    self.state.withLock { $0.times }
  }

  package func removeAll() {
    self.state.withLock { $0 = State() }
  }
}
