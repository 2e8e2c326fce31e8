/// The status of an operation: idle, loading, or its last result.
public enum OperationStatus<Value, Failure: Error> {
  /// No run is under way, and there is no result.
  case idle

  /// A run is under way.
  case loading

  /// The last result, which a run produced or a caller set.
  case result(Result<Value, Failure>)
}

extension OperationStatus {
  /// Whether no run is under way and there is no result.
  public var isIdle: Bool {
    if case .idle = self { true } else { false }
  }

  /// Whether a run is under way.
  public var isLoading: Bool {
    if case .loading = self { true } else { false }
  }

  /// Whether the status is a result.
  public var isFinished: Bool { self.result != nil }

  /// Whether the result is a value.
  public var isSuccessful: Bool {
    if case .result(.success) = self { true } else { false }
  }

  /// Whether the result is an error.
  public var isFailure: Bool { self.resultError != nil }

  /// Whether the result is a `CancellationError`.
  public var isCancelled: Bool { self.resultError is CancellationError }

  /// The result; nil for other statuses.
  public var result: Result<Value, Failure>? {
    if case .result(let result) = self { result } else { nil }
  }

  /// The value of a successful result; nil for other statuses.
  public var resultValue: Value? {
    if case .result(.success(let value)) = self { value } else { nil }
  }

  /// The error of a failed result; nil for other statuses.
  public var resultError: Failure? {
    if case .result(.failure(let error)) = self { error } else { nil }
  }
}

extension OperationStatus {
  /// Returns this status with the value of a success transformed.
  public func mapSuccess<NewValue, E: Error>(
    _ transform: (Value) throws(E) -> NewValue
  ) throws(E) -> OperationStatus<NewValue, Failure> {
    switch self {
    case .idle: .idle
    case .loading: .loading
    case .result(.success(let value)): .result(.success(try transform(value)))
    case .result(.failure(let error)): .result(.failure(error))
    }
  }

  /// Returns this status with a success replaced by the status that `transform` returns.
  public func flatMapSuccess<NewValue, E: Error>(
    _ transform: (Value) throws(E) -> OperationStatus<NewValue, Failure>
  ) throws(E) -> OperationStatus<NewValue, Failure> {
    switch self {
    case .idle: .idle
    case .loading: .loading
    case .result(.success(let value)): try transform(value)
    case .result(.failure(let error)): .result(.failure(error))
    }
  }
}

extension OperationStatus: CustomStringConvertible {
  /// The status, with its value or error: `idle`, `loading`, `value(1)`, `error(Timeout())`.
  public var description: String {
    switch self {
    case .idle: "idle"
    case .loading: "loading"
    case .result(.success(let value)): "value(\(ShownText.of(value: value)))"
    case .result(.failure(let error)): "error(\(ShownText.whole(error)))"
    }
  }
}

extension OperationStatus: Sendable where Value: Sendable {}

extension OperationStatus: Equatable where Value: Equatable, Failure: Equatable {}

extension OperationStatus: Hashable where Value: Hashable, Failure: Hashable {}
