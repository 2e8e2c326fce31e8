import Operation
import PostService
import Synchronization

/// Prints each change of a store's state, and keeps the states.
final class Narrator<State: OperationState & Sendable>: Sendable {
  private let subject: String
  private let transcript: Transcript
  private let describe: @Sendable (State.StateValue) -> String?
  private let received = Mutex<[State]>([])

  /// - Parameters:
  ///   - subject: What the store is about, the first column of its lines.
  ///   - transcript: Receives the lines.
  ///   - describe: The value in a few words; nil when there is none yet.
  init(_ subject: String, transcript: Transcript, describe: @escaping @Sendable (State.StateValue) -> String?) {
    self.subject = subject
    self.transcript = transcript
    self.describe = describe
  }

  /// The states so far, in order, beginning with the one at the subscription.
  var states: [State] { self.received.withLock { $0 } }

  func receive(_ state: State) {
    self.received.withLock { $0.append(state) }
    let phase = Phase(state)
    let value = self.describe(state.currentValue)
    let text =
      switch phase {
      case .idle: value ?? "nothing yet"
      case .loading: (value.map { "so far \($0)" } ?? "nothing yet") + (state.attempt?.inWords ?? "")
      case .value: value ?? "nothing"
      case .error: (state.error?.inWords ?? "unknown") + (value.map { "; still \($0)" } ?? "")
      }
    self.transcript.say(.state, "\(self.subject.padding(to: 8))  \(phase.rawValue.padding(to: 7))  \(text)")
  }
}

// MARK: - Checking

/// The status of a state, in a word.
enum Phase: String, Sendable {
  case idle, loading, value, error

  init<State: OperationState>(_ state: State) {
    switch state.status {
    case .idle: self = .idle
    case .loading: self = .loading
    case .result(.success): self = .value
    case .result(.failure): self = .error
    }
  }
}

extension OperationAttempt {
  /// The attempt of a loading state in words; empty for a first attempt under way.
  fileprivate var inWords: String {
    guard self.lastFailure != nil else { return "" }
    return ", attempt \(self.index)" + (self.nextBegins == nil ? "" : " failed, the next one is due soon")
  }
}

extension Narrator {
  /// Checks that the states had these phases, in this order.
  func checkPhases(_ expected: Phase...) {
    self.checkPhases(expected)
  }

  /// States during attempts after the first are left out.
  func checkPhases(_ expected: [Phase]) {
    let inWords = { (phases: [Phase]) in phases.map(\.rawValue).joined(separator: ", ") }
    let phases = self.states.filter { $0.attempt?.lastFailure == nil }.map { Phase($0) }
    self.transcript.check("\(self.subject) was: \(inWords(expected))", phases == expected, found: inWords(phases))
  }
}

// MARK: - Handlers

extension Narrator where State: QueryStateProtocol {
  var handler: QueryEventHandler<State> {
    QueryEventHandler(onStateChanged: { state, _ in self.receive(state) })
  }
}

extension Narrator where State: PaginatedStateProtocol {
  var handler: PaginatedEventHandler<State> {
    PaginatedEventHandler(onStateChanged: { state, _ in self.receive(state) })
  }
}

extension Narrator where State: MutationStateProtocol {
  var handler: MutationEventHandler<State> {
    MutationEventHandler(onStateChanged: { state, _ in self.receive(state) })
  }
}
