#if SwiftOperationValkey
  internal import OperationFleet

  extension FleetError {
    /// The error of a fleet for an error of the server.
    init(_ error: ValkeyError) {
      let code: Code =
        switch error.code {
        case .closed: .closed
        case .unavailable, .invalidConnection: .unreachable
        case .timedOut, .busy: .timedOut
        default: .failed
        }
      self.init(code: code, message: error.message, cause: error)
    }

    /// Returns what `body` returns, and throws the error of a fleet for its error.
    static func translating<R>(_ body: () throws(ValkeyError) -> R) throws(FleetError) -> R {
      do throws(ValkeyError) { return try body() } catch { throw FleetError(error) }
    }
  }
#endif
