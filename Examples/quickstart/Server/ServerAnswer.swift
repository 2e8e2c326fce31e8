/// One request and what became of it, told when the answer is about to leave.
struct ServerAnswer: Sendable {
  let route: Route
  let query: String
  /// Counts the requests of this route since the log was last emptied, from 1.
  let number: Int
  let status: Int
  let isInjected: Bool
  let latency: Duration
}

extension ServerAnswer: CustomStringConvertible {
  var description: String {
    let request = "\(self.route)\(self.query)"
    let answer = "\(self.status)  request \(self.number), after \(self.latency.milliseconds) ms"
    let line = "\(request.padding(to: 28)) \(answer)"
    return self.isInjected ? "\(line), failure injected" : line
  }
}
