public import OperationCore
internal import Synchronization

extension AuditTrail {
  /// Calls a handler for each record from now on, until the subscription is cancelled or released.
  ///
  /// The handler receives the records in their order, one at a time. It is called on the thread of a run that has
  /// ended, before that run or another one returns, so it should not do slow work there. It may read the trail,
  /// subscribe, cancel any subscription and run audited operations: no lock is held.
  ///
  /// - Parameter handler: Receives the records. It is not called for a record that was made before.
  /// - Returns: A subscription. After it was cancelled, no further call begins.
  /// - Complexity: Cancelling is O(*n*) in the number of subscribers.
  public func subscribe(_ handler: @escaping @Sendable (AuditRecord) -> Void) -> OperationSubscription {
    let subscriber = self.state.withLock { state in
      state.lastSubscriberID += 1
      let subscriber = Subscriber(id: state.lastSubscriberID, handler: handler)
      state.subscribers.append(subscriber)
      return subscriber
    }
    return OperationSubscription { [weak self] in
      subscriber.isCancelled.store(true, ordering: .releasing)
      // Returned so that the handler is released after unlocking.
      _ = self?.state.withLock { state in
        state.subscribers.firstIndex { $0 === subscriber }.map { state.subscribers.remove(at: $0) }
      }
    }
  }

  /// Delivers the pending records, and those that are made meanwhile. One thread does so at a time.
  func deliver() {
    while let deliveries = self.state.withLock({ $0.takePending() }) {
      for delivery in deliveries {
        let subscribers = self.state.withLock { $0.subscribers }
        for subscriber in subscribers where subscriber.id <= delivery.lastSubscriberID {
          // An earlier handler may have cancelled it.
          if !subscriber.isCancelled.load(ordering: .acquiring) { subscriber.handler(delivery.record) }
        }
      }
    }
  }
}

/// A handler and its place among the others.
final class Subscriber: Sendable {
  let id: UInt64
  let handler: @Sendable (AuditRecord) -> Void
  let isCancelled = Atomic(false)

  init(id: UInt64, handler: @escaping @Sendable (AuditRecord) -> Void) {
    self.id = id
    self.handler = handler
  }
}

/// A record that is delivered to subscribers.
struct Delivery {
  let record: AuditRecord
  /// The newest subscriber when the record was made. Later ones do not receive it.
  let lastSubscriberID: UInt64
}

extension AuditTrail.State {
  /// Adds a record for the subscribers.
  ///
  /// - Returns: Whether the caller has to deliver it, as no other thread delivers.
  mutating func enqueue(_ record: AuditRecord) -> Bool {
    if self.subscribers.isEmpty { return false }
    self.pending.append(Delivery(record: record, lastSubscriberID: self.lastSubscriberID))
    defer { self.isDelivering = true }
    return !self.isDelivering
  }

  /// The pending records; nil, and the end of the delivery, when there are none.
  mutating func takePending() -> [Delivery]? {
    if self.pending.isEmpty {
      self.isDelivering = false
      return nil
    }
    defer { self.pending = [] }
    return self.pending
  }
}
