#if SwiftOperationServiceLifecycle
  public import OperationCore

  /// What a shutdown has cut off.
  public struct OperationShutdownReport: Sendable, Hashable {
    /// A store whose runs were cancelled.
    public struct Run: Sendable, Hashable {
      /// The path of the operation.
      public let path: OperationPath

      /// What the operation is called: see `OperationRequest.operationName`.
      public let kind: String

      /// Whether it was a mutation: an operation that is run by nobody but its callers.
      public let isMutation: Bool

      /// Creates a store whose runs were cancelled.
      public init(path: OperationPath, kind: String, isMutation: Bool) {
        self.path = path
        self.kind = kind
        self.isMutation = isMutation
      }
    }

    /// The stores whose runs were cancelled, each once.
    public let cutOff: [Run]

    /// Creates a report.
    public init(cutOff: [Run]) {
      self.cutOff = cutOff
    }

    /// The mutations that were cut off: what they were to change may be changed or not.
    public var mutations: [Run] { self.cutOff.filter(\.isMutation) }
  }
#endif
