public import OperationCore
public import OperationFoundation

/// The body of an answer cannot be used. Another attempt would get the same.
public struct OperationHTTPContentError: RetryClassifying, CustomStringConvertible {
  /// What is wrong.
  public struct Code: Hashable, Sendable {
    fileprivate enum Kind: Hashable { case tooLong, undecodable, noAnswer }

    fileprivate let kind: Kind

    /// The body is longer than the limit.
    public static let tooLong = Code(kind: .tooLong)

    /// The body cannot be decoded.
    public static let undecodable = Code(kind: .undecodable)

    /// What the transport has received is no answer of HTTP.
    public static let noAnswer = Code(kind: .noAnswer)
  }

  /// What is wrong.
  public let code: Code

  /// A sentence for people who read logs.
  public let description: String

  /// The error of the decoder; nil if there is none.
  public let cause: (any Error)?

  /// Creates an error, for tests of what handles it.
  ///
  /// - Parameters:
  ///   - code: What is wrong.
  ///   - description: A sentence for people who read logs.
  ///   - cause: The error of the decoder; nil if there is none.
  public init(code: Code, description: String, cause: (any Error)? = nil) {
    self.code = code
    self.description = description
    self.cause = cause
  }

  /// Never: another attempt would get the same.
  public var retryClassification: RetryClassification { .never }

  static func tooLong(limit: Int) -> Self {
    Self(code: .tooLong, description: "The body of the answer is longer than \(limit) bytes.", cause: nil)
  }

  static func undecodable(_ error: any Error) -> Self {
    let description = "The body of the answer cannot be decoded: \(ShownText.of(error))."
    return Self(code: .undecodable, description: description, cause: error)
  }

  static func noAnswer() -> Self {
    Self(code: .noAnswer, description: "The address is not one of an HTTP server.", cause: nil)
  }
}

extension OperationHTTPContentError: LocalizedError {
  public var errorDescription: String? { self.description }
}
