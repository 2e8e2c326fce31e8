import Operation
import PostService
import Synchronization

/// A part of the user interface: it shows one store, and keeps the lines that it has shown.
final class Screen<State: OperationState & Sendable>: Sendable {
  let name: String
  let store: OperationStore<State>
  private let transcript: Transcript
  private let describe: @Sendable (State.StateValue) -> String
  private let lines = Mutex<[String]>([])

  init(
    _ name: String,
    _ store: OperationStore<State>,
    transcript: Transcript,
    describe: @escaping @Sendable (State.StateValue) -> String
  ) {
    self.name = name
    self.store = store
    self.transcript = transcript
    self.describe = describe
  }

  /// What it shows now.
  var text: String { self.describe(self.store.currentValue) }

  var handler: OperationEventHandler<State> {
    OperationEventHandler(onStateChanged: { [weak self] state, _ in self?.show(state) })
  }

  private func show(_ state: State) {
    let line = self.describe(state.currentValue)
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
