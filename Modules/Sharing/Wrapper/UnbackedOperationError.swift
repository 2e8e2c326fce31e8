public import OperationFoundation

/// The error of a call on a ``SharedOperation`` that is not backed by a store.
public struct UnbackedOperationError: Error, CustomStringConvertible {
  /// The call that was made, such as `fetch()`.
  public let call: String

  /// Creates an error, for tests of what handles it.
  ///
  /// - Parameter call: The call that was made, such as `fetch()`.
  public init(call: String) {
    self.call = call
  }

  /// What is wrong, and the remedy.
  public var description: String {
    "\(self.call) was called on a SharedOperation that has no operation. Assign one to its projected value first: "
      + "$name = SharedOperation(operation)."
  }
}

extension UnbackedOperationError: LocalizedError {
  public var errorDescription: String? { self.description }
}
