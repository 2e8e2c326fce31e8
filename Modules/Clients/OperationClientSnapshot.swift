public import OperationFoundation

/// The stores of a client at one moment, for debugging and for tools.
///
/// It contains no value of an operation, and nothing that is an ``OperationSecret``.
public struct OperationClientSnapshot: Sendable, Hashable, Codable {
  /// One store of the client.
  public struct Store: Sendable, Hashable, Codable {
    /// The status of a store.
    @nonexhaustive(warn)
    public enum Status: String, Sendable, Hashable, Codable {
      /// No run was under way, and there was no result yet.
      case idle
      /// The value of an earlier store was still being read from a storage.
      case restoring
      /// A run was under way.
      case loading
      /// The last result was a value.
      case success
      /// The last result was an error.
      case failure
    }

    /// The attempt that a run was in.
    public struct Attempt: Sendable, Hashable, Codable {
      /// The number of the attempt: 1 for the first.
      public let index: Int

      /// The error of the last attempt that failed, as text; nil if none failed.
      public let lastFailure: String?

      /// When the next attempt begins; nil while the attempt runs.
      public let nextBegins: Date?
    }

    /// The path of the operation, as text.
    public let path: String

    /// The type of the operation without its modifiers.
    public let kind: String

    /// The status of the store.
    public let status: Status

    /// Whether a run was paused: it waited until a specification holds.
    public let isPaused: Bool

    /// The attempt that a run was in; nil when nothing ran, or when nothing in the run tries again.
    public let attempt: Attempt?

    /// The last error, as text; nil if a value was set after it.
    public let error: String?

    /// Whether a value of the operation can be stale. False for a mutation, which never runs because of an old value.
    public let canBeStale: Bool

    /// Whether the value was stale; false if it cannot be.
    public let isStale: Bool

    /// The number of subscribers.
    public let subscriberCount: Int

    /// The number of times a value was set.
    public let valueUpdateCount: Int

    /// The number of times an error was set.
    public let errorUpdateCount: Int

    /// The date at which a value was last set.
    public let valueLastUpdatedAt: Date?

    /// The date at which an error was last set.
    public let errorLastUpdatedAt: Date?
  }

  /// The stores, sorted by path.
  public let stores: [Store]
}

extension OperationClientSnapshot: CustomStringConvertible {
  public var description: String {
    let lines = self.stores.map { store in
      let stale = store.canBeStale ? (store.isStale ? ", stale" : ", fresh") : ""
      let status = store.status.rawValue + (store.isPaused ? " (paused)" : "")
      let attempt = store.attempt.map { ", attempt \($0.index)" } ?? ""
      let counts = "\(store.valueUpdateCount) values, \(store.errorUpdateCount) errors"
      return "\(store.path) \(store.kind): \(status)\(attempt)\(stale), "
        + "\(store.subscriberCount) subscribers, \(counts)"
    }
    return lines.isEmpty ? "no stores" : lines.joined(separator: "\n")
  }
}

extension OperationClient {
  /// Returns a snapshot of the stores that the client keeps now.
  ///
  /// - Complexity: O(*n* log *n*) in the number of stores.
  public func snapshot() -> OperationClientSnapshot {
    let stores = self.storage.runtimes(matching: []).map { OperationClientSnapshot.Store(StoreInspection($0)) }
    return OperationClientSnapshot(stores: stores.sorted { $0.path < $1.path })
  }
}

extension OperationClientSnapshot.Store {
  init(_ store: StoreInspection) {
    self.init(store, state: store.state)
  }

  private init(_ store: StoreInspection, state: some OperationState) {
    let canBeStale = store.automaticRuns != .never
    self.init(
      path: ShownText.of(store.path),
      kind: "\(store.operationType)",
      status: Status(of: state.status, isRestoring: store.isRestoring),
      isPaused: state.isPaused,
      attempt: state.attempt.map { attempt in
        Attempt(
          index: attempt.index,
          lastFailure: attempt.lastFailure.map { ShownText.of($0) },
          nextBegins: attempt.nextBegins
        )
      },
      error: state.error.map { ShownText.of($0) },
      canBeStale: canBeStale,
      isStale: canBeStale && store.staleness.isStale,
      subscriberCount: store.subscribers.count,
      valueUpdateCount: state.valueUpdateCount,
      errorUpdateCount: state.errorUpdateCount,
      valueLastUpdatedAt: state.valueLastUpdatedAt,
      errorLastUpdatedAt: state.errorLastUpdatedAt
    )
  }
}

extension OperationClientSnapshot.Store.Status {
  fileprivate init<Value, Failure>(of status: OperationStatus<Value, Failure>, isRestoring: Bool) {
    self =
      switch status {
      case .idle: isRestoring ? .restoring : .idle
      case .loading: .loading
      case .result(.success): .success
      case .result(.failure): .failure
      }
  }
}
