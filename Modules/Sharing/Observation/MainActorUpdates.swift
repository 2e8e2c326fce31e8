internal import OperationCore
internal import OperationPlatform
internal import Synchronization

/// The updates of wrappers on the main actor that are due after what a thread changes.
///
/// A change of a store and the runs of derived queries that it causes on the same thread are updated in one job: code on the main
/// actor sees all of them or none.
enum MainActorUpdates {
  typealias Update = @MainActor @Sendable () -> Void

  /// The updates by the threads that make changes.
  private static let pending = Mutex<[UInt: [Update]]>([:])

  /// Adds an update after a change of a store, of which the current thread delivers the event.
  ///
  /// - Parameters:
  ///   - update: Updates a wrapper.
  ///   - store: The store.
  static func add<State>(_ update: @escaping Update, after store: OperationStore<State>) {
    let thread = CurrentThread.identifier
    let isFirst = self.pending.withLock { pending in
      pending[thread, default: []].append(update)
      return pending[thread]?.count == 1
    }
    guard isFirst else { return }
    if ThreadScope.putOff({ self.schedule(addedOn: thread) }) { return }
    let scope = ThreadScope()
    _ = ThreadScope.putOff { self.schedule(addedOn: thread) }
    // Other handlers of the event may put actions into its order, which change other stores. The second one comes after these.
    store.performInEventOrder { [weak store] in
      guard let store else { return scope.end() }
      store.performInEventOrder { scope.end() }
    }
  }

  private static func schedule(addedOn thread: UInt) {
    let updates = self.pending.withLock { $0.removeValue(forKey: thread) ?? [] }
    Task { @MainActor in
      for update in updates { update() }
    }
  }
}
