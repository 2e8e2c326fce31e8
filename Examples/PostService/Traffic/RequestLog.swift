import Synchronization

/// The requests that one side of the wire has counted, in order of arrival.
///
/// The server keeps one for what reached it and the client keeps one for what it sent, so that a claim such as
/// "ten callers, one request" is read off the traffic and not off the library that makes the claim.
package final class RequestLog: Sendable {
  private let routes = Mutex<[Route]>([])

  /// Writes a request down; returns how many of its route there are now.
  @discardableResult
  package func record(_ route: Route) -> Int {
    self.routes.withLock { routes in
      routes.append(route)
      return routes.count { $0 == route }
    }
  }

  package func count(of route: Route) -> Int {
    self.routes.withLock { $0.count { $0 == route } }
  }

  package var total: Int {
    self.routes.withLock { $0.count }
  }

  package func removeAll() {
    self.routes.withLock { $0.removeAll() }
  }
}
