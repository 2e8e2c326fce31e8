public import OperationCore
internal import Synchronization

/// Counts the attempts of operations, and the callers that have joined a run.
///
/// ```swift
/// let metrics = RunMetrics()
/// let observation = client.observe(with: metrics)
/// ```
public final class RunMetrics: StoreObserver {
  /// What was counted for one path.
  public struct Counts: OperationPathable, Equatable, Sendable {
    public let path: OperationPath
    /// The number of attempts that have begun, with the first one of each run.
    public var attempts = 0
    /// The number of callers that have waited for the run of another one.
    public var joins = 0

    init(path: OperationPath) {
      self.path = path
    }
  }

  private let counts = Mutex(OperationPathableCollection<Counts>())

  public init() {}

  /// The counts of the stores at a path.
  public subscript(path: OperationPath) -> Counts { self.counts.withLock { $0[path] } ?? Counts(path: path) }

  /// The sum of the counts of all stores below a path.
  public func sum(matching path: OperationPath) -> Counts {
    self.counts.withLock { counts in
      counts.collection(matching: path).reduce(into: Counts(path: path)) { sum, next in
        sum.attempts += next.attempts
        sum.joins += next.joins
      }
    }
  }

  public var observedEvents: StoreEvent.Kinds { [.runs, .attempts] }

  public func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .runBegan, .attemptBegan: self.edit(event.path) { $0.attempts += 1 }
    case .runJoined: self.edit(event.path) { $0.joins += 1 }
    default: break
    }
  }

  private func edit(_ path: OperationPath, _ edit: (inout Counts) -> Void) {
    self.counts.withLock { counts in
      var count = counts[path] ?? Counts(path: path)
      edit(&count)
      counts.update(count)
    }
  }
}
