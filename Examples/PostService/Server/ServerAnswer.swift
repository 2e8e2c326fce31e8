/// A request and its answer, reported just before the answer is sent.
package struct ServerAnswer: Sendable {
  package let route: Route
  package let query: String
  /// Counts the requests of this route since the log was last emptied, from 1.
  package let number: Int
  package let status: Int
  package let isInjected: Bool
  package let latency: Duration
}

extension ServerAnswer: CustomStringConvertible {
  package var description: String {
    let request = "\(self.route)\(self.query)"
    let answer = "\(self.status)  request \(self.number), after \(self.latency.milliseconds) ms"
    let line = "\(request.padding(to: 28)) \(answer)"
    return self.isInjected ? "\(line), failure injected" : line
  }
}
