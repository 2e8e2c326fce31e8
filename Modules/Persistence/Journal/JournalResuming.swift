public import OperationBackoff
public import OperationCore

extension MutationJournal {
  /// When a journal makes unfinished calls again.
  ///
  /// ```swift
  /// client.journal = MutationJournal(storage: storage, resumes: .whenConnected)
  /// client.journal = MutationJournal(storage: storage, resumes: .when(.connected(to: observer)))
  /// ```
  ///
  /// A journal that resumes by itself makes the calls of registered names: when it has read them, when the condition
  /// begins to hold, and after a failure, when the backoff of the call has passed. It also makes a call after its
  /// caller was cancelled. ``MutationJournal/resume()`` makes all calls at once, whether or not the condition holds.
  public struct Resuming: Sendable {
    enum Condition: Sendable {
      /// Calls are made again by `resume()` only.
      case never
      /// The condition of the client, which counts as true if the client has none.
      case client
      case specification(any OperationRunSpecification & Sendable)
    }

    let condition: Condition
    let backoff: OperationBackoffFunction

    /// From one second to five minutes, drawn at random, so that many devices do not call a server at the same time.
    public static let defaultBackoff = OperationBackoffFunction.exponential(.seconds(1)).jittered(.equal)
      .capped(at: .seconds(300))

    /// Only ``MutationJournal/resume()`` makes calls again.
    public static let manually = Self(condition: .never, backoff: Self.defaultBackoff)

    /// The journal resumes while the network is connected, as the network observer of its client says.
    ///
    /// For a client without an observer, the network counts as connected.
    public static let whenConnected = Self(condition: .client, backoff: Self.defaultBackoff)

    /// The journal resumes while the network is connected, with a backoff of your own.
    ///
    /// - Parameter backoff: The time after a failure until the call is made again. 1 stands for the first failure in a
    ///   row. An error that is ``/OperationCore/RetryHinting`` makes it longer.
    /// - Returns: The setting.
    public static func whenConnected(backoff: OperationBackoffFunction) -> Self {
      Self(condition: .client, backoff: backoff)
    }

    /// The journal resumes while a condition holds.
    ///
    /// - Parameters:
    ///   - specification: The condition, evaluated in the context of the client.
    ///   - backoff: The time after a failure until the call is made again. 1 stands for the first failure in a row.
    /// - Returns: The setting.
    public static func when(
      _ specification: some OperationRunSpecification & Sendable,
      backoff: OperationBackoffFunction = Self.defaultBackoff
    ) -> Self {
      Self(condition: .specification(specification), backoff: backoff)
    }
  }
}
