internal import Synchronization

/// The invalidations of a client, for values that arrive later.
///
/// An invalidation cannot find a value that no store shows yet. So the value asks the log when it arrives: it is stale if
/// an invalidation concerns it that came after its run had begun.
///
/// For each subject it has the last invalidation. Of more than ten thousand subjects, the older half is forgotten, and
/// counts as an invalidation of everything.
package final class InvalidationLog: Sendable {
  private static let maximumCount = 10_000

  fileprivate struct Content: Sendable {
    var numbers: [InvalidationSubject: Int] = [:]
    /// The number of the last invalidation of everything.
    var everything = 0
  }

  private let content = Locked(Content())
  /// The number of the last invalidation.
  private let last = Atomic<Int>(0)

  package init() {}

  /// Adds an invalidation. Called before the stores that it concerns are looked up.
  ///
  /// - Returns: Its place in the order.
  package func append(_ subjects: [InvalidationSubject]) -> InvalidationEpoch {
    let number = InvalidationNumber.next()
    self.content.withLock { content, released in
      for subject in subjects {
        if subject == .path([]) {
          released.append(content)
          content = Content(everything: number)
        } else {
          content.numbers[subject] = number
        }
      }
      if content.numbers.count > Self.maximumCount {
        released.append(content)
        content.forgetOlderHalf()
      }
    }
    _ = self.last.max(number, ordering: .releasing)
    return InvalidationEpoch(rawValue: number)
  }

  /// Whether an invalidation concerns a value whose run has seen those up to an epoch.
  ///
  /// - Parameters:
  ///   - path: The path of its store; nil for a store that was found by its path.
  ///   - tags: The tags of the value, each as a path; evaluated if there was an invalidation since.
  ///   - epoch: What the run has seen.
  ///   - end: The last invalidation that counts.
  /// - Returns: Whether the value is stale.
  package func concerns(
    path: OperationPath? = nil,
    tags: @autoclosure () -> [OperationPath] = [],
    since epoch: InvalidationEpoch,
    through end: InvalidationEpoch = InvalidationEpoch(rawValue: .max)
  ) -> Bool {
    if epoch >= end || self.last.load(ordering: .acquiring) <= epoch.rawValue { return false }
    let tags = tags()
    let range = (epoch.rawValue + 1)...end.rawValue
    return self.content.withLock { content in
      if let path, range.contains(content.everything) || content.has(path, in: range) { return true }
      return tags.contains { range.contains(content.everything) || content.has(tag: $0, in: range) }
    }
  }

  /// All subjects, each with its last invalidation.
  package var entries: [(subject: InvalidationSubject, epoch: InvalidationEpoch)] {
    let content = self.content.withLock { $0 }
    let entries = content.numbers.map { (subject: $0.key, epoch: InvalidationEpoch(rawValue: $0.value)) }
    if content.everything == 0 { return entries }
    return entries + [(.path([]), InvalidationEpoch(rawValue: content.everything))]
  }
}

extension InvalidationLog.Content {
  mutating func forgetOlderHalf() {
    let middle = self.numbers.values.sorted()[self.numbers.count / 2]
    self.numbers = self.numbers.filter { $0.value > middle }
    self.everything = max(self.everything, middle)
  }

  func has(_ path: OperationPath, in range: ClosedRange<Int>) -> Bool {
    var prefix = path
    while !prefix.isEmpty {
      if let last = self.numbers[.path(prefix)], range.contains(last) { return true }
      prefix.removeLast()
    }
    return false
  }

  func has(tag: OperationPath, in range: ClosedRange<Int>) -> Bool {
    if let last = self.numbers[.tag(tag)], range.contains(last) { return true }
    guard let name = tag.first?.base as? String, let last = self.numbers[.tags(named: name)] else { return false }
    return range.contains(last)
  }
}
