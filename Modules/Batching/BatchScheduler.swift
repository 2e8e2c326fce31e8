public import OperationCore

/// Decides when a batch that has been opened is closed and sent, in place of a window.
///
/// ```swift
/// struct EndOfFrame: BatchScheduler {
///   func schedule(in context: OperationContext, _ send: @escaping @Sendable () -> Void) -> OperationSubscription {
///     let frame = Display.shared.afterFrame { send() }
///     return OperationSubscription { frame.cancel() }
///   }
/// }
/// ```
///
/// It is the `batchScheduleFn` of Facebook's [DataLoader](https://github.com/graphql/dataloader#batch-scheduling). A batch
/// that has as many keys as fit is sent before that.
public protocol BatchScheduler: Sendable {
  /// Calls `send` once, when a batch is to be closed, unless the returned subscription is cancelled before.
  ///
  /// - Parameters:
  ///   - context: The context of the batch.
  ///   - send: Closes the batch and begins its request, on the thread that calls it. A further call does nothing.
  /// - Returns: Cancelled when the batch has been sent or all its callers have left.
  func schedule(in context: OperationContext, _ send: @escaping @Sendable () -> Void) -> OperationSubscription
}

/// Sends batches when the program says so, such as at the end of a request or in a tick of a loop.
///
/// ```swift
/// let tick = BatchTick()
/// let authors = OperationBatcher<Int, Author>(scheduler: tick) { ids, context in try await server.authors(ids) }
/// tick.fire()  // Sends the keys that were loaded since the last time.
/// ```
public final class BatchTick: BatchScheduler {
  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var scheduled: [UInt64: @Sendable () -> Void] = [:]
  }

  private let state = Locked(State())

  /// Creates a scheduler with which no batch is open.
  public init() {}

  /// Closes all batches that are open, and begins their requests on this thread, in the order in which they were opened.
  ///
  /// Batches that are opened meanwhile wait for the next call.
  public func fire() {
    let scheduled = self.state.withLock { state in
      defer { state.scheduled = [:] }
      return state.scheduled
    }
    for (_, send) in scheduled.sorted(by: { $0.key < $1.key }) { send() }
  }

  /// The number of batches that are open.
  public var openCount: Int { self.state.withLock { $0.scheduled.count } }

  public func schedule(
    in context: OperationContext,
    _ send: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let number = self.state.withLock { state in
      state.lastNumber += 1
      state.scheduled[state.lastNumber] = send
      return state.lastNumber
    }
    return OperationSubscription { [weak self] in
      self?.state.withLock { state, released in released.append(state.scheduled.removeValue(forKey: number)) }
    }
  }
}
