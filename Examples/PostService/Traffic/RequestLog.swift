import Synchronization

/// The requests that the server or the client has counted, in order of arrival.
///
/// The server counts the requests that reach it and the client those that it sends, so that a claim such as "ten
/// callers, one request" is checked without the library.
package final class RequestLog: Sendable {
  private struct State {
    var routes: [Route] = []
    var times: [ContinuousClock.Instant] = []
  }

  private let state = Mutex(State())

  /// Adds a request. Returns the number of requests of its route.
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
