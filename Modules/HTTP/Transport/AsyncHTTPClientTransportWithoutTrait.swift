#if !SwiftOperationAsyncHTTPClient
  public import OperationCore

  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// Sends requests by AsyncHTTPClient. Requires the trait `SwiftOperationAsyncHTTPClient`, and `import OperationAsyncHTTPClient`.
  @available(
    *,
    unavailable,
    message:
      "switch on the trait SwiftOperationAsyncHTTPClient: .package(url: …, from: …, traits: [\"SwiftOperationAsyncHTTPClient\"])"
  )
  public struct AsyncHTTPClientTransport: Sendable {
    public static var shared: Self { preconditionFailure("Unavailable.") }

    // Without it, the compiler reports a missing initializer, and not the missing trait.
    public init(_ client: some Sendable, timeout: OperationDuration? = nil) {
      preconditionFailure("Unavailable.")
    }
  }
#endif
