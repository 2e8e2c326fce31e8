public import FoundationEssentials

/// What a client keeps at one moment, for people and tools to look at.
public struct OperationClientSnapshot: Sendable, Hashable, Codable {
  /// One store.
  public struct Store: Sendable, Hashable, Codable {
    /// What a store was doing.
    public enum Status: String, Sendable, Hashable, Codable {
      /// Nothing had happened yet.
      case idle
      /// A run was under way.
      case loading
      /// A value came last.
      case success
      /// An error came last.
      case failure
    }

    /// The path of the operation, as text.
    public let path: String

    /// The type of the operation without its modifiers.
    public let kind: String

    /// What the store was doing.
    public let status: Status

    /// The error that came last, as text, unless a value came after it.
    public let error: String?

    /// Whether the value should be fetched again.
    public let isStale: Bool

    /// How many subscribers there were.
    public let subscriberCount: Int

    /// How many times the value was set.
    public let valueUpdateCount: Int

    /// How many times an error was set.
    public let errorUpdateCount: Int

    /// When the value was last set.
    public let valueLastUpdatedAt: Date?

    /// When an error was last set.
    public let errorLastUpdatedAt: Date?
  }

  /// The stores, in the order of their paths.
  public let stores: [Store]
}

extension OperationClientSnapshot: CustomStringConvertible {
  public var description: String {
    let lines = self.stores.map { store in
      let stale = store.isStale ? "stale" : "fresh"
      let counts = "\(store.valueUpdateCount) values, \(store.errorUpdateCount) errors"
      return "\(store.path) \(store.kind): \(store.status.rawValue), \(stale), "
        + "\(store.subscriberCount) subscribers, \(counts)"
    }
    return lines.isEmpty ? "no stores" : lines.joined(separator: "\n")
  }
}

extension OperationClient {
  /// What the client keeps now.
  public func snapshot() -> OperationClientSnapshot {
    OperationClientSnapshot(
      stores: self.storage.runtimes(matching: []).map { $0.snapshot() }.sorted { $0.path < $1.path }
    )
  }
}

extension StoreRuntime {
  func snapshot() -> OperationClientSnapshot.Store {
    let (state, subscriberCount) = self.machine.withLock { ($0.shownState, $0.subscribers.count) }
    let status: OperationClientSnapshot.Store.Status =
      switch state.status {
      case .idle: .idle
      case .loading: .loading
      case .result(.success): .success
      case .result(.failure): .failure
      }
    return OperationClientSnapshot.Store(
      path: self.path.description,
      kind: "\(self.unmodifiedOperationType)",
      status: status,
      error: state.error.map { "\($0)" },
      isStale: self.isStale,
      subscriberCount: subscriberCount,
      valueUpdateCount: state.valueUpdateCount,
      errorUpdateCount: state.errorUpdateCount,
      valueLastUpdatedAt: state.valueLastUpdatedAt,
      errorLastUpdatedAt: state.errorLastUpdatedAt
    )
  }
}
