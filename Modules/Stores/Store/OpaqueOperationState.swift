public import OperationFoundation

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

  /// Creates a snapshot of a state with its types erased.
  ///
  /// - Parameter base: The state.
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

extension OpaqueOperationState: CustomStringConvertible {
  /// The description of the typed state.
  public var description: String { "\(self.base)" }
}

extension Result where Success: Sendable {
  /// The result with its types erased.
  var erased: Result<any Sendable, any Error> {
    switch self {
    case .success(let value): .success(value)
    case .failure(let error): .failure(error)
    }
  }
}
