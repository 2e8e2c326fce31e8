public import FoundationEssentials

/// A snapshot of the state of an operation, with its types erased.
public struct OpaqueOperationState: Sendable {
  /// The typed state.
  public let base: any OperationState & Sendable

  /// The status: idle, loading, or the last result.
  public let status: OperationStatus<any Sendable, any Error>

  /// The current value.
  public let currentValue: any Sendable

  /// The value that the state was created with.
  public let initialValue: any Sendable

  /// Creates a snapshot of `base` with its types erased.
  public init<State: OperationState & Sendable>(_ base: State) {
    self.base = base
    self.currentValue = base.currentValue
    self.initialValue = base.initialValue
    self.status =
      switch base.status {
      case .idle: .idle
      case .loading: .loading
      case .result(let result): .result(result.erased)
      }
  }

  /// How many times the value was set.
  public var valueUpdateCount: Int { self.base.valueUpdateCount }

  /// When the value was last set; nil if it never was.
  public var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }

  /// When the oldest part of the value was last set, which decides its age; nil if a part never was.
  public var oldestPartUpdatedAt: Date? { self.base.oldestPartUpdatedAt }

  /// Whether a run is under way.
  public var isLoading: Bool { self.base.isLoading }

  /// Whether a run is paused: it has begun, and waits until a specification holds.
  public var isPaused: Bool { self.base.isPaused }

  /// The attempt that a run is in; nil when nothing runs, or when nothing in the run tries again.
  public var attempt: OperationAttempt? { self.base.attempt }

  /// The last error; nil if none was set or a value was set after it.
  public var error: (any Error)? { self.base.error }

  /// How many times an error was set.
  public var errorUpdateCount: Int { self.base.errorUpdateCount }

  /// When an error was last set; nil if none was.
  public var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }
}

/// Closures that are called with the events of an ``OpaqueOperationStore``.
///
/// They are called in the order and on the threads that ``OperationEventHandler`` describes.
public struct OpaqueOperationEventHandler: Sendable {
  /// Called with the current state when the subscription begins, and after each change of the state.
  public var onStateChanged: (@Sendable (OpaqueOperationState, OperationContext) -> Void)?

  /// Called when the work of a run begins.
  public var onRunStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run has ended, whether it succeeded, failed or was cancelled.
  public var onRunEnded: (@Sendable (OperationContext) -> Void)?

  /// Called with each result that a run yields or returns. A cancelled run has no result.
  public var onResultReceived: (@Sendable (Result<any Sendable, any Error>, OperationContext) -> Void)?

  /// Called when an attempt of a run has failed and another one follows, such as a retry.
  ///
  /// The attempt tells the error and when the next one begins. The failure of the last attempt is the result of the run.
  public var onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)?

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - onStateChanged: Called with the current state and after each change of it.
  ///   - onRunStarted: Called when the work of a run begins.
  ///   - onRunEnded: Called when a run has ended.
  ///   - onResultReceived: Called with each result that a run yields or returns.
  ///   - onAttemptFailed: Called when an attempt has failed and another one follows.
  public init(
    onStateChanged: (@Sendable (OpaqueOperationState, OperationContext) -> Void)? = nil,
    onRunStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onRunEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (Result<any Sendable, any Error>, OperationContext) -> Void)? = nil,
    onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onRunStarted = onRunStarted
    self.onRunEnded = onRunEnded
    self.onResultReceived = onResultReceived
    self.onAttemptFailed = onAttemptFailed
  }
}

extension OperationEventHandler {
  init(_ handler: OpaqueOperationEventHandler) {
    self.init(
      onRunStarted: handler.onRunStarted,
      onRunEnded: handler.onRunEnded,
      onAttemptFailed: handler.onAttemptFailed
    )
    if let onStateChanged = handler.onStateChanged {
      self.onStateChanged = { state, context in onStateChanged(OpaqueOperationState(state), context) }
    }
    if let onResultReceived = handler.onResultReceived {
      self.onResultReceived = { result, context in onResultReceived(result.erased, context) }
    }
  }
}

extension Result where Success: Sendable {
  /// The result with its types erased.
  fileprivate var erased: Result<any Sendable, any Error> {
    switch self {
    case .success(let value): .success(value)
    case .failure(let error): .failure(error)
    }
  }
}
