#if SwiftOperationDevtools
  public import OperationFoundation

  /// Why a page cannot be served, or a recording cannot be shown or written.
  public struct DevtoolsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What has failed. There may be more of them in later versions.
    public struct Code: Hashable, Sendable {
      private let name: String

      /// The port is not free, or the system has no room for it.
      public static let portNotServed = Code(name: "portNotServed")
      /// The token of the address is too short, too long, or has characters that an address would have to escape.
      public static let unfitToken = Code(name: "unfitToken")
      /// A recording cannot be read, or is none.
      public static let recordingNotRead = Code(name: "recordingNotRead")
      /// A recording cannot be written.
      public static let recordingNotWritten = Code(name: "recordingNotWritten")
    }

    /// What has failed.
    public let code: Code

    /// The reason, in a sentence.
    public let description: String

    /// Creates an error, for tests of what handles it.
    ///
    /// - Parameters:
    ///   - code: What has failed.
    ///   - description: The reason, in a sentence.
    public init(code: Code, description: String) {
      self.code = code
      self.description = description
    }
  }

  extension DevtoolsError: LocalizedError {
    public var errorDescription: String? { self.description }
  }
#endif
