import Synchronization

/// The warnings of the library.
final class Warnings: Sendable {
  private let texts = Mutex<[String]>([])

  var all: [String] { self.texts.withLock { $0 } }

  func append(_ text: String) {
    self.texts.withLock { $0.append(text) }
  }
}
