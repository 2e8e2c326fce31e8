internal import OperationCore
internal import OperationPlatform

/// The updates of wrappers on the main actor that are due after what threads change.
///
/// What one change of a store has changed, with the runs of derived queries that it causes on the same thread, is updated in one
/// job, with the states of that moment: code on the main actor sees all of it or nothing, also while the thread goes on.
enum MainActorUpdates {
  /// Shows a state in a wrapper.
  struct Update: Sendable {
    let storeID: ObjectIdentifier
    /// A state of the store with a greater version is a later one.
    let version: UInt64
    let show: @MainActor @Sendable () -> Void

    init(storeID: ObjectIdentifier, version: UInt64, show: @escaping @MainActor @Sendable () -> Void) {
      self.storeID = storeID
      self.version = version
      self.show = show
    }
  }

  /// Takes the state of a wrapper's store; nil if there is nothing to show.
  typealias Capture = @Sendable () -> Update?

  private struct Content: Sendable {
    /// The wrappers whose stores a thread has changed, by thread.
    var changed: [UInt: [ObjectIdentifier: Capture]] = [:]
    /// What the next job shows, by wrapper.
    var updates: [ObjectIdentifier: Update] = [:]
    var isScheduled = false
  }

  private static let content = Locked(Content())

  /// Adds an update after a change of a store, of which the current thread delivers the event.
  ///
  /// - Parameters:
  ///   - wrapper: The object that shows the store.
  ///   - store: The store.
  ///   - capture: Takes the state, when all that belongs to the change has happened.
  static func add<State>(_ wrapper: AnyObject, after store: OperationStore<State>, _ capture: @escaping Capture) {
    let thread = CurrentThread.identifier
    let isFirst = self.content.withLock { content, released in
      released.append(content.changed[thread]?[ObjectIdentifier(wrapper)])
      content.changed[thread, default: [:]][ObjectIdentifier(wrapper)] = capture
      return content.changed[thread]?.count == 1
    }
    guard isFirst else { return }
    if ThreadScope.putOff({ self.schedule(changesOf: thread) }) { return }
    let scope = ThreadScope()
    _ = ThreadScope.putOff { self.schedule(changesOf: thread) }
    // Other handlers of the event may put actions into its order, which change other stores. The second one comes after these.
    store.performInEventOrder { [weak store] in
      guard let store else { return scope.end() }
      store.performInEventOrder { scope.end() }
    }
  }

  private static func schedule(changesOf thread: UInt) {
    let captures = self.content.withLock { $0.changed.removeValue(forKey: thread) ?? [:] }
    // Without the lock: it uses the stores.
    let updates = captures.compactMapValues { $0() }
    let isScheduled = self.content.withLock { content, released in
      for (wrapper, update) in updates {
        if let former = content.updates[wrapper] {
          // Another thread may have taken a later state.
          if former.storeID == update.storeID, former.version > update.version { continue }
          released.append(former)
        }
        content.updates[wrapper] = update
      }
      defer { content.isScheduled = content.isScheduled || !content.updates.isEmpty }
      return content.isScheduled || content.updates.isEmpty
    }
    if isScheduled { return }
    Task { @MainActor in
      let updates = self.content.withLock { content in
        defer { (content.updates, content.isScheduled) = ([:], false) }
        return content.updates
      }
      for update in updates.values { update.show() }
    }
  }
}
