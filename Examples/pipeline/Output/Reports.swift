import Synchronization

/// The failures of the run.
final class Reports: Sendable {
  private let content = Mutex<[String]>([])

  var all: [String] { self.content.withLock { $0 } }

  func fail(_ what: String) {
    self.content.withLock { $0.append(what) }
  }
}
