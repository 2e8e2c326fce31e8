internal import OperationCore
internal import OperationFoundation

/// That nothing a query is made of is stale, which holds until something changes or a fresh period ends.
///
/// Without it, each reader of a query would ask each of its sources.
struct FreshMark: Sendable {
  /// The number of sources that are asked again each time; with more of them there is no mark.
  static let maximumAsked = 16

  private struct WeakSource: Sendable {
    weak let source: (any Source)?
  }

  private let revision: UInt64
  private let clock: ObjectIdentifier
  private let start: Date
  private var end = Date.distantFuture
  /// The sources whose freshness depends on more than the time, or is measured by another clock.
  private var asked: [WeakSource] = []

  /// Begins a mark, without sources.
  ///
  /// - Parameters:
  ///   - revision: The last change of what the queries of the client read.
  ///   - context: The context of the query's store; its clock has to be one that can be told from others.
  init?(at revision: UInt64, in context: OperationContext) {
    guard let clock = Self.identity(of: context.operationClock) else { return nil }
    self.revision = revision
    self.clock = clock
    self.start = context.operationClock.now()
  }

  /// Adds a fresh source with its ``Source/freshEnd``, and returns false if too many have to be asked.
  mutating func add(_ source: any Source, freshUntil end: Date?) -> Bool {
    if let end, Self.identity(of: source.clock) == self.clock {
      self.end = min(self.end, end)
      return true
    }
    self.asked.append(WeakSource(source: source))
    return self.asked.count <= Self.maximumAsked
  }

  /// Whether all sources are fresh still. False also if that is not known.
  func holds(at revision: UInt64, in context: OperationContext) -> Bool {
    guard self.revision == revision, Self.identity(of: context.operationClock) == self.clock else { return false }
    let now = context.operationClock.now()
    // A clock that was set back may be before the date of a value.
    guard now >= self.start, now < self.end else { return false }
    return self.asked.allSatisfy { $0.source?.isStale == false }
  }

  /// What tells a clock from others; nil for one of which that is not known.
  private static func identity(of clock: any OperationClock) -> ObjectIdentifier? {
    if type(of: clock) is any AnyObject.Type { return ObjectIdentifier(clock as AnyObject) }
    return clock is SystemTimeClock ? ObjectIdentifier(SystemTimeClock.self) : nil
  }
}
