public import Observation
internal import OperationCore

/// How many operations a scheduler or a group has, and how many of them have ended.
///
/// ```swift
/// for await counts in group.progress.updates { draw(counts.fraction) }
/// ```
///
/// `withObservationTracking` and `Observations` track its properties. They change shortly after the scheduler does, and
/// never decrease.
public final class OperationProgress: Observable, Sendable {
  /// The counts at one time.
  public struct Counts: Hashable, Sendable {
    /// The number of operations that have ended, in whatever way.
    public var completed = 0

    /// The number of operations that have been scheduled.
    public var total = 0

    /// Creates counts.
    ///
    /// - Parameters:
    ///   - completed: The number of operations that have ended.
    ///   - total: The number of operations that have been scheduled.
    public init(completed: Int = 0, total: Int = 0) {
      self.completed = completed
      self.total = total
    }

    /// The share of operations that have ended, from 0 to 1; 0 when there is none.
    public var fraction: Double { self.total == 0 ? 0 : Double(self.completed) / Double(self.total) }
  }

  struct Event: Sendable {
    var counts: Counts
    var isFinal = false
  }

  private let registrar = ObservationRegistrar()
  private let state: Locked<Event>
  private let broadcast: Broadcast<Event>

  init() {
    self.state = Locked(Event(counts: Counts()))
    self.broadcast = Broadcast(Event(counts: Counts()))
  }

  /// The number of operations that have ended, in whatever way.
  public var completed: Int {
    self.registrar.access(self, keyPath: \.completed)
    return self.state.withLock { $0.counts.completed }
  }

  /// The number of operations that have been scheduled.
  public var total: Int {
    self.registrar.access(self, keyPath: \.total)
    return self.state.withLock { $0.counts.total }
  }

  /// The share of operations that have ended, from 0 to 1; 0 when there is none.
  public var fraction: Double {
    self.registrar.access(self, keyPath: \.fraction)
    return self.state.withLock { $0.counts.fraction }
  }

  /// An asynchronous sequence of the current counts and the later ones.
  ///
  /// A slow iterator misses counts, and receives the newest. A group's sequence ends with the group; the sequence of a
  /// scheduler does not end.
  public var updates: Updates { Updates(broadcast: self.broadcast) }

  /// Sets newer counts. Threads may call this in another order than they have counted in.
  func update(_ counts: Counts) {
    self.change {
      $0.counts.completed = max($0.counts.completed, counts.completed)
      $0.counts.total = max($0.counts.total, counts.total)
    }
  }

  /// Ends ``updates``, as the counts do not change anymore.
  func finish() {
    if self.state.withLock({ $0.isFinal }) { return }
    self.change { $0.isFinal = true }
  }

  private func change(_ edit: @Sendable (inout Event) -> Void) {
    // Nested, because each property has its own observers.
    let event = self.registrar.withMutation(of: self, keyPath: \.completed) {
      self.registrar.withMutation(of: self, keyPath: \.total) {
        self.registrar.withMutation(of: self, keyPath: \.fraction) {
          self.state.withLock { state in
            edit(&state)
            return state
          }
        }
      }
    }
    self.broadcast.send(event)
  }
}

typealias ProgressCounts = OperationProgress.Counts

extension OperationProgress {
  /// The counts of a scheduler or a group, as ``OperationProgress/updates`` returns them.
  public struct Updates: AsyncSequence, Sendable {
    public typealias Element = Counts
    public typealias Failure = Never

    let broadcast: Broadcast<Event>

    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncStream.makeStream(of: Counts.self, bufferingPolicy: .bufferingNewest(1))
      let newest = Locked(-1)
      let subscription = self.broadcast.subscribe { event in
        let (counts, age) = (event.counts, event.counts.completed + event.counts.total)
        let isNew = newest.withLock { newest in
          defer { newest = Swift.max(newest, age) }
          return age > newest
        }
        if isNew { continuation.yield(counts) }
        if event.isFinal { continuation.finish() }
      }
      return Iterator(base: stream.makeAsyncIterator(), subscription: subscription)
    }

    /// Iterates over counts.
    public struct Iterator: AsyncIteratorProtocol {
      public typealias Failure = Never

      var base: AsyncStream<Counts>.Iterator
      let subscription: OperationSubscription

      public mutating func next() async -> Counts? {
        await self.base.next()
      }

      public mutating func next(isolation: isolated (any Actor)?) async -> Counts? {
        await self.base.next(isolation: isolation)
      }
    }
  }
}

extension SchedulerCore {
  /// The progress, which is counted from the first use on.
  var progress: OperationProgress {
    if let progress = SchedulingLock.withLock({ self.machine.progress }) { return progress }
    // Created outside of the lock, and dropped there if another thread was faster.
    let new = OperationProgress()
    let (progress, counts, hasEnded) = SchedulingLock.withLock { () -> (OperationProgress, ProgressCounts, Bool) in
      let progress = self.machine.progress ?? new
      self.machine.progress = progress
      return (progress, self.machine.counts, self.machine.isClosed && self.machine.members.isEmpty)
    }
    progress.update(counts)
    if hasEnded { progress.finish() }
    return progress
  }
}
