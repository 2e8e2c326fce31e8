extension SharedRun {
  /// Keeps the run alive until ``removeOwner()``. False when the run is cancelled or its work has ended.
  func addOwner() -> Bool {
    self.withState { $0.addOwner() }
  }

  /// Undoes one ``addOwner()``, and cancels the run if that was the last owner.
  func removeOwner() {
    let cancellation = self.withState { $0.removeOwner() }
    if let cancellation { self.perform(cancellation) }
  }

  /// Lets a cancelled waiter leave, and cancels the run if that was the last owner.
  func leave(_ waiterID: WaiterTable.WaiterID, isOwner: Bool, leaving: Leaving) {
    // An owner whose outcome cannot be a cancellation waits until the run has finished, but is no longer an owner.
    let mayLeave = !isOwner || self.cancellation != nil
    let (cancellation, continuation) = self.withState { state in
      state.leave(waiterID, isOwner: isOwner, mayLeave: mayLeave, lastStays: leaving == .lastStays)
    }
    if let cancellation {
      self.perform(cancellation) { continuation?.resume(returning: false) }
    } else {
      continuation?.resume(returning: false)
    }
  }

  /// Cancels the run for all of its owners. If owners leave at once when they are cancelled, they do not wait for the
  /// work here either.
  package func cancel() {
    let mayLeave = self.leaving == .atOnce && self.cancellation != nil
    let (cancellation, left) = self.withState { state in
      let cancellation = state.cancel()
      return (cancellation, mayLeave && cancellation != nil ? state.waiters.leaveAll() : nil)
    }
    if let cancellation { self.perform(cancellation) { left?.resume(returning: false) } }
  }

  private func perform(
    _ cancellation: SharedRunState.CancellationEffects,
    afterwards: @escaping () -> Void = {}
  ) {
    CancellationTrampoline.perform {
      cancellation.delegate?.wasCancelled(self)
      cancellation.task?.cancel()
      afterwards()
    }
  }
}
