extension OperationClient {
  /// Calls `receive` for the notices of all stores of the client, in runs that begin from now on.
  ///
  /// ```swift
  /// let subscription = client.onNotice { notice in print(notice) }  // For example: circuit.opened circuit.name=posts
  /// ```
  ///
  /// The observer is added to the observers of the operations. It does not receive notices that were sent without a
  /// context of the client, such as notices of a detached store.
  ///
  /// - Parameter receive: Called in the task that sends the notice, while no lock is held. The run waits until it
  ///   returns.
  /// - Returns: The subscription. No notice is received after it is cancelled or dropped.
  /// - Complexity: O(*n*) in the number of stores for the first observer of a client, and then O(1).
  public func onNotice(_ receive: @escaping @Sendable (OperationNotice) -> Void) -> OperationSubscription {
    self.onNotice { notice, _ in receive(notice) }
  }

  /// Calls `receive` with the notices of all stores of the client, and with the contexts of their runs.
  ///
  /// Works like the method with a closure that takes the notice alone.
  ///
  /// - Parameter receive: Called in the task that sends the notice, while no lock is held. The run waits until it
  ///   returns.
  /// - Returns: The subscription. No notice is received after it is cancelled or dropped.
  public func onNotice(
    _ receive: @escaping @Sendable (OperationNotice, OperationContext) -> Void
  ) -> OperationSubscription {
    let observers = self.attachment { ClientNoticeObservers() }
    let subscription = observers.add(receive)
    self.defaultContext.addNoticeObserver(observers)
    if observers.isFirstUse { self.addToStores(observers) }
    return subscription
  }

  /// Adds an observer to the contexts of the present stores. New stores have it from the context of the client.
  private func addToStores(_ observer: ClientNoticeObservers) {
    for runtime in self.storage.runtimes(matching: []) {
      runtime.withExclusiveAccess { runtime.context.addNoticeObserver(observer) }
    }
  }
}

extension OperationContext {
  /// Adds the observer of a client, unless the context has it.
  mutating func addNoticeObserver(_ observer: ClientNoticeObservers) {
    self.observeNotices(with: observer) { $0 === observer }
  }
}

/// Passes notices on to the present observers of a client. Observers can change without a change of the stores'
/// contexts.
final class ClientNoticeObservers: OperationNoticeObserver {
  private typealias Receive = @Sendable (OperationNotice, OperationContext) -> Void

  private struct State {
    var lastID: UInt64 = 0
    /// In the order in which they were added.
    var observers: [(id: UInt64, receive: Receive)] = []
  }

  private let state = Locked(State())
  private let isUsed = AtomicFlag(false)

  /// Whether this is the first call.
  fileprivate var isFirstUse: Bool { !self.isUsed.set(true) }

  fileprivate func add(
    _ receive: @escaping @Sendable (OperationNotice, OperationContext) -> Void
  )
    -> OperationSubscription
  {
    let isCancelled = AtomicFlag(false)
    let id = self.state.withLock { state in
      state.lastID += 1
      state.observers.append((state.lastID, { if !isCancelled.isOn { receive($0, $1) } }))
      return state.lastID
    }
    return OperationSubscription {
      _ = isCancelled.set(true)
      self.state.withLock { state, released in
        guard let index = state.observers.firstIndex(where: { $0.id == id }) else { return }
        released.append(state.observers.remove(at: index).receive)
      }
    }
  }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    for observer in self.state.withLock({ $0.observers }) { observer.receive(notice, context) }
  }
}
