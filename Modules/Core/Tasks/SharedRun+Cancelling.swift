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

  /// Cancels the run for all of its owners.
  @usableFromInline
  package func cancel() {
    let pendingCancellation = self.withState { self.pendingCancellation($0.cancel()) }
    if let pendingCancellation { self.performCancellation(pendingCancellation) }
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

  /// Finishes a run for its waiters while its work goes on in a lent task.
  private func finishEarly(_ delegate: some RunDelegate<Success, Failure>) {
    guard let cancellation = Self.cancellation, let task = delegate.task(of: self) else { return }
    self.finish(cancellation, of: task, delegate)
  }

  func performCancellation(_ pendingCancellation: PendingCancellation, afterwards: @escaping () -> Void = {}) {
    CancellationTrampoline.perform {
      pendingCancellation.delegate?.wasCancelled(self)
      if let loan = self.loan {
        // The lent task continues for the callers of the borrower. The waiters of this run need not wait for that.
        if loan.cancel(pendingCancellation.task), let delegate = pendingCancellation.delegate {
          self.finishEarly(delegate)
        }
      } else {
        pendingCancellation.task?.cancel()
      }
      afterwards()
    }
  }
}
