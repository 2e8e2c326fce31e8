public import Observation
internal import Operation
public import OperationCore
internal import OperationStreams

/// The number of stores of a client that have a run under way, for code on the main actor that observes it.
///
/// ```swift
/// let fetching = ObservableFetchingCount(matching: ["posts"])
/// if fetching.isFetching { print("\(fetching.count) lists of posts are loading") }
/// ```
///
/// It counts while it lives. Several changes in one job of the main actor notify the observers once.
@MainActor
public final class ObservableFetchingCount: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private var shown = 0
  private var counter: FetchingCounter?
  private var subscription: OperationSubscription?

  /// Begins to count.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths of the stores; the empty path matches all stores.
  ///   - client: The client; nil for `OperationClient.current`. It is not kept alive.
  public init(matching path: OperationPath = [], client: OperationClient? = nil) {
    let isScheduled = AtomicFlag(false)
    let counter = FetchingCounter { [weak self] in
      guard !isScheduled.set(true) else { return }
      Task { @MainActor in
        // First, so that a change that comes while the count is read is seen afterwards.
        _ = isScheduled.set(false)
        self?.update()
      }
    }
    self.counter = counter
    self.subscription = counter.start(client ?? .current, matching: path)
    self.shown = counter.count
  }

  /// The number of stores that have a run under way.
  public var count: Int {
    self.registrar.access(self, keyPath: \.count)
    return self.shown
  }

  /// Whether a run is under way.
  public var isFetching: Bool { self.count > 0 }

  private func update() {
    guard let count = self.counter?.count, count != self.shown else { return }
    self.registrar.withMutation(of: self, keyPath: \.count) { self.shown = count }
  }
}
