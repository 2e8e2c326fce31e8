internal import OperationCore
internal import OperationFoundation
internal import OperationPlatform

extension Error {
  /// Whether the failure says nothing about the call: a connection has failed, or a modifier of this process has
  /// rejected the run.
  var isPassing: Bool { self.isLocalRejection || self.isConnectionFailure }

  /// Whether the failure passes by itself: it says nothing about the call, or it says that another attempt can succeed.
  /// Such failures do not make a dead letter, however many there are.
  var isTransient: Bool {
    switch self.retryAdvice {
    case .retry, .retryAfter: true
    // The storage has not taken a call, or what a conflict has made of it.
    case .never, nil: self.isPassing || [.notAccepted, .notStored].contains((self as? JournalError)?.code)
    }
  }

  /// How long the failure asks to wait before another attempt; nil if it says nothing.
  var retryHint: Duration? {
    if case .retryAfter(let duration)? = self.retryAdvice { duration } else { nil }
  }

  /// Whether another attempt can succeed, so that a call that throws this error to its caller stays in the journal.
  var canPass: Bool {
    if let error = self as? any RetryClassifying { return error.retryClassification != .never }
    return self.isPassing || (self as? any RetryHinting)?.retryAfter != nil
  }

  private var isConnectionFailure: Bool {
    if let error = self as? POSIXError { return Self.connectionErrors.contains(Int(error.code.rawValue)) }
    // The errors of URLSession, by their numbers: this module does not link FoundationNetworking.
    switch self._domain {
    case "NSURLErrorDomain": return Self.urlErrors.contains(self._code)
    case "NSPOSIXErrorDomain": return Self.connectionErrors.contains(self._code)
    default: return false
    }
  }

  /// Timed out, cannot find or connect to the host, connection lost, no look-up of names, not connected, no roaming, a
  /// call is active, and no data allowed.
  private static var urlErrors: Set<Int> { [-1001, -1003, -1004, -1005, -1006, -1009, -1018, -1019, -1020] }

  private static var connectionErrors: Set<Int> {
    let codes: [POSIXErrorCode] = [
      .ECONNREFUSED, .ECONNRESET, .ECONNABORTED, .ENOTCONN, .EPIPE, .ETIMEDOUT, .ENETDOWN, .ENETUNREACH, .ENETRESET,
      .EHOSTDOWN, .EHOSTUNREACH,
    ]
    return Set(codes.map { Int($0.rawValue) })
  }
}
