import Foundation
import Operation
import PostService
import Synchronization

/// A screen with the messages, for as long as it is open.
final class Reader: Sendable {
  typealias State = QueryState<[Message], any Error>

  private let record: Record
  private let states: AsyncStream<State>
  private let subscription: OperationSubscription

  init(_ name: String, _ store: OperationStore<State>, transcript: Transcript) {
    let (states, continuation) = AsyncStream<State>.makeStream()
    let record = Record(name: name, transcript: transcript)
    self.states = states
    self.record = record
    self.subscription = store.subscribe { state in
      record.note(state)
      continuation.yield(state)
    }
  }

  /// The lists of texts that were shown, each change once.
  var shown: [[String]] { self.record.content.withLock { $0.shown } }

  /// The failures of attempts after which there was another one.
  var failures: [String] { self.record.content.withLock { $0.failures } }

  /// Waits until a state shows these texts.
  func shows(_ texts: String...) async {
    for await state in self.states where state.currentValue?.map(\.text) == texts { return }
  }

  func close() { self.subscription.cancel() }
}

extension Reader {
  private final class Record: Sendable {
    struct Content: Sendable {
      var shown: [[String]] = []
      var failures: [String] = []
      var nextAttempt: Date?
    }

    let name: String
    let transcript: Transcript
    let content = Mutex(Content())

    init(name: String, transcript: Transcript) {
      self.name = name
      self.transcript = transcript
    }

    func note(_ state: State) {
      let texts = state.currentValue?.map(\.text) ?? []
      let (isNew, failure) = self.content.withLock { content in
        let isNew = !texts.isEmpty && content.shown.last != texts
        if isNew { content.shown.append(texts) }
        let next = state.attempt?.nextBegins
        let failure = next == nil || next == content.nextAttempt ? nil : state.attempt?.lastFailure?.inWordsOfAChat
        content.nextAttempt = next
        if let failure { content.failures.append(failure) }
        return (isNew, failure)
      }
      if isNew { self.transcript.say(.state, "\(self.name): \(texts.joined(separator: " | "))") }
      if let failure { self.transcript.say(.state, "\(self.name): tries again after: \(failure)") }
    }
  }
}

extension Error {
  fileprivate var inWordsOfAChat: String { self is StreamEnded ? "the server has ended its answer" : self.inWords }
}
