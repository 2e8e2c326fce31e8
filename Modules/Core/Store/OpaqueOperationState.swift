public import FoundationEssentials

/// The state of an operation with its types erased.
public struct OpaqueOperationState: Sendable {
  /// The state.
  public let base: any OperationState & Sendable

  /// What happened last.
  public let status: OperationStatus<any Sendable, any Error>

  /// The value now.
  public let currentValue: any Sendable

  /// The value that the state was made with.
  public let initialValue: any Sendable

  /// Erases the types of a state.
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

  /// When the value was last set.
  public var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }

  /// When the oldest part of the value was last set, from which the value ages.
  public var oldestPartUpdatedAt: Date? { self.base.oldestPartUpdatedAt }

  /// Whether a run is under way.
  public var isLoading: Bool { self.base.isLoading }

  /// The error that happened last, unless a value was set after it.
  public var error: (any Error)? { self.base.error }

  /// How many times an error was set.
  public var errorUpdateCount: Int { self.base.errorUpdateCount }

  /// When an error was last set.
  public var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }
}

/// Closures that hear of what happens in an ``OpaqueOperationStore``.
public struct OpaqueOperationEventHandler: Sendable {
  /// Called with the state now and after each change of it.
  public var onStateChanged: (@Sendable (OpaqueOperationState, OperationContext) -> Void)?

  /// Called when a run begins its work.
  public var onRunStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run has ended, however it ended.
  public var onRunEnded: (@Sendable (OperationContext) -> Void)?

  /// Called with each result that a run yields or returns. A cancelled run has no result.
  public var onResultReceived: (@Sendable (Result<any Sendable, any Error>, OperationContext) -> Void)?

  /// Creates a handler.
  public init(
    onStateChanged: (@Sendable (OpaqueOperationState, OperationContext) -> Void)? = nil,
    onRunStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onRunEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (Result<any Sendable, any Error>, OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onRunStarted = onRunStarted
    self.onRunEnded = onRunEnded
    self.onResultReceived = onResultReceived
  }
}

extension OperationEventHandler {
  init(_ handler: OpaqueOperationEventHandler) {
    self.init(onRunStarted: handler.onRunStarted, onRunEnded: handler.onRunEnded)
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
