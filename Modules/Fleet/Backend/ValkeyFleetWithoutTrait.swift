#if !SwiftOperationValkey
  // Without this declaration the compiler reports an unknown type and does not name the missing trait.

  /// A fleet on a Valkey or Redis server. Requires the trait `SwiftOperationValkey`, and `import OperationValkey`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationValkey: .package(url: …, from: …, traits: [\"SwiftOperationValkey\"])"
  )
  public struct ValkeyFleet: Sendable {
    // Without it, the compiler says that there is no initializer, and not why.
    public init(
      connection: String,
      listeningConnection: String? = nil,
      password: (@Sendable () async throws -> String)? = nil,
      prefix: String = "swift_operation",
      maximumConnectionAge: Duration? = nil,
      timeout: Duration = .seconds(5)
    ) throws(FleetError) {
      preconditionFailure("Unavailable.")
    }
  }
#endif
