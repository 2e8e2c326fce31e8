import Operation
import PostService
import Synchronization

/// A part of the user interface: it shows one store, and keeps the lines that it has shown.
final class Screen: Sendable {
  let name: String
  private let store: OperationStore<QueryState<String, any Error>>
  private let transcript: Transcript
  private let lines = Mutex<[String]>([])

  init(_ name: String, _ store: OperationStore<QueryState<String, any Error>>, transcript: Transcript) {
    self.name = name
    self.store = store
    self.transcript = transcript
  }

  /// What it shows now.
  var text: String { self.store.currentValue ?? "" }

  /// Fetches the line, and shows it until the subscription is cancelled.
  func open() async throws -> OperationSubscription {
    try await self.store.fetch()
    return self.store.subscribe(
      with: QueryEventHandler(onStateChanged: { [weak self] state, _ in self?.show(state.currentValue ?? "") })
    )
  }

  private func show(_ line: String) {
    let isNew = self.lines.withLock { lines in
      guard lines.last != line else { return false }
      lines.append(line)
      return true
    }
    if isNew { self.transcript.say(.state, "\(self.name.padding(to: 14))  \(line)") }
  }

  /// Checks the lines that were shown since the last call.
  func check(_ expected: String...) {
    let lines = self.lines.withLock { lines in
      defer { lines = lines.suffix(1) }
      return Array(lines.dropFirst())
    }
    self.transcript.check(
      "\(self.name): \(expected.isEmpty ? "nothing new" : "changed \(expected.count.times)")",
      lines,
      equals: expected
    )
  }
}
