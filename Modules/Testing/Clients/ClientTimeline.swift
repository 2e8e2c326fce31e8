internal import OperationCore
internal import OperationEvents
internal import OperationFoundation
internal import Testing

/// What happens in the stores of the client of a test, for its attachment if it fails.
final class ClientTimeline: Sendable {
  private struct State: Sendable {
    var events: OperationEventSequence?
    var hasFailed = false
  }

  private let state = Locked(State())

  /// Begins to keep the newest events of a client.
  func follow(_ client: OperationClient) {
    let events = client.events
    self.state.withLock { state, released in
      released.append(state.events)
      state.events = events
    }
  }

  /// Remembers that the test has an issue.
  func noteFailure() { self.state.withLock { $0.hasFailed = true } }

  var hasFailed: Bool { self.state.withLock { $0.hasFailed } }

  /// Attaches the events to the test, unless there is none.
  func attach(to test: Test) {
    guard let text = self.takeText() else { return }
    Attachment.record(text, named: "operations.txt", sourceLocation: test.sourceLocation)
  }

  /// The events, a line for each, with the time since the first one; nil if there is none.
  func takeText() -> String? {
    guard let events = self.state.withLock({ $0.events }) else { return nil }
    let list = events.takeAll()
    guard let first = list.first else { return nil }
    let dropped = events.droppedCount
    let head = dropped > 0 ? ["(\(dropped) earlier events are not kept)"] : []
    return (head + list.map { "\(Self.time($0.elapsed - first.elapsed))  \($0)" }).joined(separator: "\n") + "\n"
  }

  /// The time in milliseconds, in a column of its own.
  private static func time(_ duration: Duration) -> String {
    let tenths = Int((duration / .microseconds(100)).rounded())
    let text = "+\(tenths / 10).\(abs(tenths % 10)) ms"
    return String(repeating: " ", count: max(14 - text.count, 0)) + text
  }
}
