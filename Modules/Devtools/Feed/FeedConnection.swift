#if SwiftOperationDevtools
  internal import OperationCore

  /// The messages that a page has yet to receive.
  final class FeedConnection: Sendable {
    /// Beyond this number of bytes a page is too slow: it then gets a new beginning in place of what it has missed.
    static let standardLimit = 16 << 20

    private struct State: Sendable {
      var messages: [String] = []
      var size = 0
      var waiting: UnsafeContinuation<String?, Never>?
      var hasEnded = false
      var needsBeginning = true
    }

    private let limit: Int
    private let state = Locked(State())
    /// Whether events are sent in the compact form of recordings.
    let isPacked: Bool

    init(limit: Int, isPacked: Bool = false) {
      self.limit = limit
      self.isPacked = isPacked
    }

    /// Queues a message, or hands it to the reader that waits.
    func send(_ message: String) {
      let waiting = self.state.withLock { state -> UnsafeContinuation<String?, Never>? in
        if state.hasEnded { return nil }
        if let waiting = state.waiting.take() { return waiting }
        state.messages.append(message)
        state.size += message.utf8.count
        if state.size > self.limit { (state.messages, state.size, state.needsBeginning) = ([], 0, true) }
        return nil
      }
      waiting?.resume(returning: message)
    }

    /// Whether the page is to be told everything from the beginning. It is asked for once.
    func takeNeedOfBeginning() -> Bool {
      self.state.withLock { state in
        defer { state.needsBeginning = false }
        return state.needsBeginning
      }
    }

    var hasEnded: Bool { self.state.withLock { $0.hasEnded } }

    /// Waits for the messages that are next, as one text; nil at the end.
    func next() async -> String? {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          let answer = self.state.withLock { state -> String?? in
            if !state.messages.isEmpty {
              defer { (state.messages, state.size) = ([], 0) }
              return .some(state.messages.joined())
            }
            if state.hasEnded { return .some(nil) }
            state.waiting = continuation
            return nil
          }
          if let answer { continuation.resume(returning: answer) }
        }
      } onCancel: {
        self.end()
      }
    }

    /// Ends the messages.
    func end() {
      let waiting = self.state.withLock { state in
        state.hasEnded = true
        return state.waiting.take()
      }
      waiting?.resume(returning: nil)
    }
  }
#endif
