internal import OperationCore
internal import Synchronization

/// The limit and the state of the retries, an entry of the context.
struct RetryConfiguration: Sendable {
  /// The maximum number of retries.
  var limit = 0
  /// The index of the current retry, or nil in the first attempt.
  var index: Int?
  /// The retry that wrote the limit: the innermost one of the operation that was set up.
  ///
  /// It distinguishes an operation's own retry from a retry that its body runs with the same context.
  var owner: RetryID?
  /// Whether the limit was set explicitly after a retry wrote it.
  var isSetByHand = false
  /// Whether the retry has deposited into the budget of the run, and the context records that.
  var hasDeposited = false
  /// The settings of the retry, whose limit applies while none was set explicitly; nil for a fixed limit.
  var settings: RetrySettings?

  /// The maximum number of retries now.
  var currentLimit: Int {
    if let settings, !self.isSetByHand { settings.limit } else { self.limit }
  }

  /// Whether the first attempt by `retry` can use this configuration unchanged.
  func isFresh(for retry: RetryID) -> Bool {
    self.owner == retry && self.index == nil && !self.isSetByHand
  }
}

/// Identifies a retry. Copies of a retry have the same identity.
@usableFromInline
struct RetryID: Hashable, Sendable {
  let number: UInt64

  private static let last = Atomic<UInt64>(0)

  static func next() -> RetryID {
    RetryID(number: self.last.add(1, ordering: .relaxed).newValue)
  }
}

extension RetryConfiguration: CustomStringConvertible {
  var description: String {
    let index = self.index.map { ", in retry \($0)" } ?? ""
    return "at most \(self.currentLimit) retries\(index)"
  }
}

extension OperationContext {
  var retryConfiguration: RetryConfiguration {
    get { self[ConfigurationKey.self] }
    set { self[ConfigurationKey.self] = newValue }
  }

  /// Whether the setup has found a retry inside this one.
  func isOuterRetry(_ id: RetryID) -> Bool { self[OuterRetriesKey.self].contains(id) }

  /// Records that the setup has found a retry inside this one.
  mutating func noteOuterRetry(_ id: RetryID) {
    if !self.isOuterRetry(id) { self[OuterRetriesKey.self].append(id) }
  }

  private enum ConfigurationKey: Key {
    static let defaultValue = RetryConfiguration()
  }

  private enum OuterRetriesKey: Key {
    static let defaultValue: [RetryID] = []
  }
}
