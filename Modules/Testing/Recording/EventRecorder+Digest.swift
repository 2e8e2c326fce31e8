public import OperationCore

extension EventRecorder {
  /// A simplified event for comparison in tests, with errors as their descriptions; equatable if the values are.
  @nonexhaustive(warn)
  public enum Digest: Sendable {
    /// A state: the current one when the subscription began, or a later one.
    case state(State.StateValue, isLoading: Bool = false, error: String? = nil)
    /// A run has started.
    case started
    /// A run has ended.
    case ended
    /// A run has yielded this value.
    case yielded(State.OperationValue)
    /// A run has yielded an error with this description.
    case yieldedError(String)
    /// A run has returned this value.
    case returned(State.OperationValue)
    /// A run has thrown an error with this description.
    case threw(String)
  }

  /// All recorded events as digests.
  public var digests: [Digest] { self.events.map(\.digest) }
}

extension EventRecorder.Digest: Equatable where State.StateValue: Equatable, State.OperationValue: Equatable {}

extension EventRecorder.Event: CustomStringConvertible {
  /// The event in the form that tests compare.
  public var digest: EventRecorder.Digest {
    switch self.kind {
    case .stateChanged(let state):
      .state(state.currentValue, isLoading: state.isLoading, error: state.error.map { String(describing: $0) })
    case .runStarted: .started
    case .runEnded: .ended
    case .resultReceived(.success(let value)): self.isYielded ? .yielded(value) : .returned(value)
    case .resultReceived(.failure(let error)):
      self.isYielded ? .yieldedError(String(describing: error)) : .threw(String(describing: error))
    }
  }

  private var isYielded: Bool { self.context.operationResultUpdateReason == .yieldedResult }

  /// The digest as Swift source code.
  public var description: String { self.digest.description }
}

extension EventRecorder.Digest: CustomStringConvertible {
  /// The digest as Swift source code.
  public var description: String {
    switch self {
    case .state(let value, let isLoading, let error):
      ".state(\(value)\(isLoading ? ", isLoading: true" : "")\(error.map { ", error: \($0.debugDescription)" } ?? ""))"
    case .started: ".started"
    case .ended: ".ended"
    case .yielded(let value): ".yielded(\(value))"
    case .yieldedError(let error): ".yieldedError(\(error.debugDescription))"
    case .returned(let value): ".returned(\(value))"
    case .threw(let error): ".threw(\(error.debugDescription))"
    }
  }
}
