internal import OperationCore
internal import Synchronization

/// What the context says about retries.
struct RetryConfiguration: Sendable {
  /// How often to retry.
  var limit = 0
  /// The index of the retry that runs, or nil in a first attempt.
  var index: Int?
  /// The retry that the limit was written for: the innermost one of the operation that was set up.
  ///
  /// It tells an operation's own retry from one that its body runs with the same context.
  var owner: RetryID?
  /// Whether the limit was written over what a retry had put there.
  var isSetByHand = false

  /// Whether a first attempt by `retry` can begin with this as it is.
  func isFresh(for retry: RetryID) -> Bool {
    self.owner == retry && self.index == nil && !self.isSetByHand
  }
}

/// Tells a retry from all others. Copies of one are the same.
@usableFromInline
struct RetryID: Hashable, Sendable {
  private let number: UInt64

  private static let last = Atomic<UInt64>(0)

  static func next() -> RetryID {
    RetryID(number: self.last.add(1, ordering: .relaxed).newValue)
  }
}

extension RetryConfiguration: CustomStringConvertible {
  var description: String {
    let index = self.index.map { ", in retry \($0)" } ?? ""
    return "at most \(self.limit) retries\(index)"
  }
}

extension OperationContext {
  var retryConfiguration: RetryConfiguration {
    get { self[ConfigurationKey.self] }
    set { self[ConfigurationKey.self] = newValue }
  }

  /// Whether the setup has found a retry inside of this one.
  func isOuterRetry(_ id: RetryID) -> Bool { self[OuterRetriesKey.self].contains(id) }

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
