#if SwiftOperationServiceLifecycle
  public import OperationCore

  /// A report of the runs that a shutdown has cancelled.
  public struct OperationShutdownReport: Sendable, Hashable {
    /// A store whose runs were cancelled.
    public struct Run: Sendable, Hashable {
      /// The path of the operation.
      public let path: OperationPath

      /// The name of the operation: see `OperationRequest.operationName`.
      public let kind: String

      /// Whether it was a mutation: an operation that runs only when it is called.
      public let isMutation: Bool

      /// Creates an entry for a store whose runs were cancelled.
      public init(path: OperationPath, kind: String, isMutation: Bool) {
        self.path = path
        self.kind = kind
        self.isMutation = isMutation
      }
    }

    /// The stores whose runs were cancelled, without repetitions.
    public let cutOff: [Run]

    /// Creates a report.
    public init(cutOff: [Run]) {
      self.cutOff = cutOff
    }

    /// The cancelled mutations. Their changes may or may not have been made.
    public var mutations: [Run] { self.cutOff.filter(\.isMutation) }
  }
#endif
