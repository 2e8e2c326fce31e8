extension OperationContext {
  /// Whether an observer of the store receives notices: of the run's store, or of the client's for one outside of a run.
  var noticesAreWatched: Bool {
    if let runtime = self.run.store?.runtime { return runtime.isWatched(.notices) }
    return self.clientObservers?.receives(.notices) ?? false
  }

  /// Passes a notice that was sent with this context on to the observers of its store.
  ///
  /// The store of a notice that was sent outside of a run is the one at the path of the notice.
  func report(_ notice: OperationNotice) {
    guard let runtime = self.run.store?.runtime ?? self.runtimeOfStore(at: notice.path) else { return }
    if runtime.isWatched(.notices) {
      runtime.report(.notice(notice), in: self, run: self.operationRunningTaskIdentifier)
    }
  }

  private func runtimeOfStore(at path: OperationPath?) -> StoreRuntime? {
    guard let path, let client = self.storeHost else { return nil }
    return client.runtimes(matching: path).first { $0.path == path }
  }

  /// Reports that the caller with this context has joined a run that is under way.
  ///
  /// For a modifier that shares runs outside of stores: a store reports the callers that it lets join. Call it once for
  /// each caller, with no lock held, when the caller has become one of those that the run serves. The observers of the
  /// store, or of the operation outside of one, are notified.
  public func reportJoin() {
    if let runtime = self.run.store?.runtime {
      if runtime.isWatched(.runs) { runtime.report(.runJoined, in: self, run: self.run.taskIdentifier) }
      return
    }
    guard self.isSet(OperationObserversKey.self) else { return }
    let event = StoreEvent(what: .runJoined, context: self, run: self.run.taskIdentifier, cause: nil, runtime: nil)
    for observer in self.operationObservers where observer.observedEvents.contains(.runs) {
      observer.receive(event, of: .none)
    }
  }

  /// Passes the beginning or the end of a wait of the run with this context on to the observers of its store.
  func reportWait(_ what: @autoclosure () -> StoreEvent.What) {
    guard let runtime = self.run.store?.runtime, runtime.isWatched(.waits) else { return }
    runtime.report(what(), in: self, run: self.run.taskIdentifier)
  }
}
