extension SharedRun {
  /// Keeps the run alive until ``removeOwner()``. False when the run is cancelled or its work has ended.
  @usableFromInline
  package func addOwner() -> Bool {
    self.withState { $0.addOwner() }
  }

  /// Undoes one ``addOwner()``, and cancels the run if that was the last owner.
  @usableFromInline
  package func removeOwner() {
    let pendingCancellation = self.withState { self.pendingCancellation($0.removeOwner()) }
    if let pendingCancellation { self.performCancellation(pendingCancellation) }
  }

  /// Lets a cancelled waiter leave, and cancels the run if that was the last owner.
  // Not inlined: cancellations are rare.
  @usableFromInline
  func leave(_ waiterID: WaiterTable.WaiterID, isOwner: Bool, leaving: Leaving) {
    // An owner whose outcome cannot be a cancellation waits until the run has finished, but is no longer an owner.
    let mayLeave = !isOwner || Self.cancellation != nil
    let (pendingCancellation, continuation) = self.withState { state in
      let left = state.leave(waiterID, isOwner: isOwner, mayLeave: mayLeave, lastStays: leaving == .lastStays)
      return (self.pendingCancellation(left.cancellation), left.continuation)
    }
    if let pendingCancellation {
      self.performCancellation(pendingCancellation) { continuation?.resume(returning: false) }
    } else {
      continuation?.resume(returning: false)
    }
  }

  /// Cancels the run for all of its owners. Where each of them leaves at once, the others need not wait for the work
  /// either.
  @usableFromInline
  package func cancel() {
    let mayLeave = self.leaving == .atOnce && Self.cancellation != nil
    let (pendingCancellation, left) = self.withState { state in
      let pendingCancellation = self.pendingCancellation(state.cancel())
      return (pendingCancellation, mayLeave && pendingCancellation != nil ? state.waiters.leaveAll() : nil)
    }
    if let pendingCancellation { self.performCancellation(pendingCancellation) { left?.resume(returning: false) } }
  }

  struct PendingCancellation {
    let task: RunTask?
    /// The delegate to notify; nil when the run had not started.
    let delegate: (any RunDelegate<Success, Failure>)?
  }

  /// Called with the lock held, as the run releases its delegate when it finishes.
  func pendingCancellation(_ cancellation: SharedRunState.CancellationEffects?) -> PendingCancellation? {
    cancellation.map { PendingCancellation(task: $0.task, delegate: $0.hadStarted ? self.delegate : nil) }
  }

  func performCancellation(_ pendingCancellation: PendingCancellation, afterwards: @escaping () -> Void = {}) {
    CancellationTrampoline.perform {
      pendingCancellation.delegate?.wasCancelled(self)
      pendingCancellation.task?.cancel()
      afterwards()
    }
  }
}
