/// An error of a server that says whether, and when, it wants another try of the same call.
///
/// ```swift
/// extension RPCError: RetryPushingBack {
///   var retryPushback: RetryPushback? {
///     self.metadata["grpc-retry-pushback-ms"].map { RetryPushback(grpcMilliseconds: $0) }
///   }
/// }
/// ```
///
/// Retries and hedges observe it. After ``RetryPushback/stop`` there is no further try: a retry throws the error, and a
/// hedge waits for the runs under way. ``RetryClassification/never`` differs: it ends these runs as well.
public protocol RetryPushingBack: Error {
  /// What the server wants; nil if it says nothing.
  var retryPushback: RetryPushback? { get }
}

/// Whether, and when, a server wants another try of a call.
///
/// The rules come from
/// [gRPC's proposal A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#pushback).
@nonexhaustive(warn)
public enum RetryPushback: Hashable, Sendable {
  /// The next try may begin when this time has passed since the failure, and not before. It counts within the cap of
  /// the hints of servers; a negative time counts as zero.
  case after(OperationDuration)

  /// No further try may begin.
  case stop

  /// The value of gRPC's trailer `grpc-retry-pushback-ms`.
  ///
  /// A number of milliseconds from 0 to 2,147,483,647 is a time. Everything else, such as a negative number, is ``stop``.
  ///
  /// - Parameter text: The value of the trailer.
  public init(grpcMilliseconds text: String) {
    // A signed integer of 32 bits in decimal digits, as gRPC writes it.
    if let number = Int32(text), number >= 0, text.utf8.first != UInt8(ascii: "+") {
      self = .after(.milliseconds(number))
    } else {
      self = .stop
    }
  }
}

extension RetryPushback {
  /// The time until the next try; nil if there is none.
  package var delay: OperationDuration? {
    if case .after(let delay) = self { delay } else { nil }
  }
}
