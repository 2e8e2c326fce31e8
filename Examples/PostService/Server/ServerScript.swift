import Synchronization

/// An answer that the server gives in place of the true one.
package struct Fault: Hashable, Sendable {
  package let status: Int
  package let message: String

  package static let unavailable = Self(status: 503, message: "try again later")
  package static let refused = Self(status: 422, message: "this post is not welcome")
  package static let conflict = Self(status: 409, message: "this cannot be done any more")
}

/// How the server behaves: how long it takes, and which of the next requests it fails.
package final class ServerScript: Sendable {
  private struct State {
    let usualLatency: Duration
    var condition: ServerCondition
    var line = ServerCondition.Line()
    var latencies: [Route: Duration] = [:]
    var faults: [Route: [Fault]] = [:]
    var gates: [Route: Gate] = [:]

    init(usualLatency: Duration) {
      self.usualLatency = usualLatency
      self.condition = ServerCondition(latency: usualLatency)
    }
  }

  private let state: Mutex<State>

  package init(latency: Duration) {
    self.state = Mutex(State(usualLatency: latency))
  }

  /// Puts the whole server into a condition. Requests that wait in line keep their places there.
  package func begin(_ condition: ServerCondition) {
    self.state.withLock {
      $0.condition = condition
      $0.line = ServerCondition.Line()
    }
  }

  package func setLatency(_ latency: Duration, of route: Route) {
    self.state.withLock { $0.latencies[route] = latency }
  }

  /// Lets the next `count` requests of a route fail; they come after failures that are still due.
  package func fail(next count: Int, of route: Route, with fault: Fault = .unavailable) {
    self.state.withLock {
      $0.faults[route, default: []].append(contentsOf: repeatElement(fault, count: count))
    }
  }

  /// Lets the requests of a route that arrive from now on wait until the gate is open.
  package func hold(_ route: Route) -> Gate {
    let gate = Gate()
    self.state.withLock { $0.gates[route] = gate }
    return gate
  }

  /// Removes the failures that are still due, restores the usual latency, and opens all gates.
  package func reset() {
    let gates = self.state.withLock { state in
      defer { state = State(usualLatency: state.usualLatency) }
      return state.gates.values
    }
    for gate in gates { gate.open() }
  }

  /// The latency, gate and failure of a request that has arrived. The failure is used up.
  package func next(for route: Route) -> (latency: Duration, gate: Gate?, fault: Fault?) {
    self.state.withLock { state in
      let latency = state.latencies[route] ?? state.line.join(state.condition)
      let gate = state.gates[route]
      guard state.faults[route]?.isEmpty == false else { return (latency, gate, nil) }
      return (latency, gate, state.faults[route]?.removeFirst())
    }
  }

  /// The failure of all answers that are sent now; nil while the server works.
  package var presentFault: Fault? { self.state.withLock { $0.condition.fault } }
}
