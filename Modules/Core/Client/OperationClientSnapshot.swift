public import OperationFoundation

/// The stores of a client at one moment, for debugging and for tools.
///
/// It contains no value of an operation, and nothing that is an ``OperationSecret``.
public struct OperationClientSnapshot: Sendable, Hashable, Codable {
  /// One store of the client.
  public struct Store: Sendable, Hashable, Codable {
    /// The status of a store.
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

extension OperationClientSnapshot.Store.Attempt {
  init(_ attempt: OperationAttempt) {
    self.init(
      index: attempt.index,
      lastFailure: attempt.lastFailure.map { ShownText.of($0) },
      nextBegins: attempt.nextBegins
    )
  }
}

extension OperationClient {
  /// Returns a snapshot of the stores that the client keeps now.
  ///
  /// - Complexity: O(*n* log *n*) in the number of stores.
  public func snapshot() -> OperationClientSnapshot {
    OperationClientSnapshot(
      stores: self.storage.runtimes(matching: []).map { $0.snapshot() }.sorted { $0.path < $1.path }
    )
  }
}

extension StoreRuntime {
  /// Describes the store for the snapshot of its client.
  func snapshot() -> OperationClientSnapshot.Store {
    let (state, subscriberCount) = self.withMachine { ($0.shownState.typed, $0.subscribers.count) }
    return self.snapshot(of: state, subscriberCount: subscriberCount)
  }

  private func snapshot(of state: some OperationState, subscriberCount: Int) -> OperationClientSnapshot.Store {
    let status: OperationClientSnapshot.Store.Status =
      switch state.status {
      case .idle where self.context.operationRestoration?.isRestoring == true: .restoring
      case .idle: .idle
      case .loading: .loading
      case .result(.success): .success
      case .result(.failure): .failure
      }
    return OperationClientSnapshot.Store(
      path: ShownText.of(self.path),
      kind: "\(self.unmodifiedOperationType)",
      status: status,
      isPaused: state.isPaused,
      attempt: state.attempt.map { .init($0) },
      error: state.error.map { ShownText.of($0) },
      canBeStale: self.allowsAutomaticRuns,
      isStale: self.allowsAutomaticRuns && self.isStale,
      subscriberCount: subscriberCount,
      valueUpdateCount: state.valueUpdateCount,
      errorUpdateCount: state.errorUpdateCount,
      valueLastUpdatedAt: state.valueLastUpdatedAt,
      errorLastUpdatedAt: state.errorLastUpdatedAt
    )
  }
}
