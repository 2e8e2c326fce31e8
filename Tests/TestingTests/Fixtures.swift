import Synchronization

/// The error of a body that fails.
struct Refused: Error, Equatable, CustomStringConvertible {
  var description: String { "refused" }
}

/// Lines in the order in which they were noted.
final class EventLog: Sendable {
  private let lines = Mutex<[String]>([])

  var entries: [String] { self.lines.withLock { $0 } }

  func note(_ line: String) {
    self.lines.withLock { $0.append(line) }
  }
}
