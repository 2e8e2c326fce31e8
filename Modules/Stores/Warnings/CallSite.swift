/// A place in the code of a user, for warnings.
public struct CallSite: Hashable, Sendable, CustomStringConvertible {
  private let fileID: String
  private let line: UInt

  /// Creates a location; nil where the line is 0, which stands for an unknown place.
  public init?(_ fileID: StaticString, _ line: UInt) {
    if line == 0 { return nil }
    self.fileID = "\(fileID)"
    self.line = line
  }

  public var description: String { "\(self.fileID):\(self.line)" }
}

/// An operation made of a closure, which knows where it was made.
public protocol ClosureOperationRequest: OperationRequest {
  /// Where the closure is written; nil in release builds.
  var location: CallSite? { get }
}

extension OperationRequest {
  /// Where the closure of the innermost operation is written; nil if it is none, and in release builds.
  var closureLocation: CallSite? {
    if let operation = self as? any ClosureOperationRequest { return operation.location }
    return (self as? any OperationLayer)?.operationInside.closureLocation
  }
}
