public import OperationCore
public import OperationFoundation

/// The error of a key that the answer of its batch does not contain.
public struct BatchAnswerMissing: Error, CustomStringConvertible {
  /// The key.
  public let key: any Hashable & Sendable

  /// Creates an error.
  public init(key: any Hashable & Sendable) {
    self.key = key
  }

  /// The error and its key.
  public var description: String {
    "The answer of the batch does not contain the key \(ShownText.of(value: self.key))."
  }
}

/// The error of a caller that a batcher has no room for: as many keys wait to be sent as may.
public struct BatchQueueFull: LocalRejection, Hashable, CustomStringConvertible {
  /// The name of the batcher; nil without a name.
  public let name: String?

  /// The highest number of keys that wait.
  public let limit: Int

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - name: The name of the batcher; nil without a name.
  ///   - limit: The highest number of keys that wait.
  public init(name: String?, limit: Int) {
    self.name = name
    self.limit = limit
  }

  /// The message of the error.
  public var description: String {
    "The batcher\(self.name.map { " \($0)" } ?? "") has \(self.limit) keys that wait, and no room for another one."
  }
}

extension BatchAnswerMissing: LocalizedError {
  public var errorDescription: String? { self.description }
}

extension BatchQueueFull: LocalizedError {
  public var errorDescription: String? { self.description }
}
