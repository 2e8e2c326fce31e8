internal import Synchronization

extension StoreRuntime {
  /// Ends all subscriptions, and gives up the runs for subscribers. Called when the store is deinitialized.
  ///
  /// The subscribers receive a last state that is not loading, even if callers still wait for a run. Then they receive
  /// the end of the store.
  func close() {
    let (isInUse, controllers, observers, hasObservers) = self.withMachine { machine in
      machine.isClosed = true
      defer {
        machine.controllers = nil
        if !machine.activityObservers.isEmpty { machine.activityObservers = [:] }
      }
      let isInUse = !machine.subscribers.isEmpty || !machine.subscriberRuns.isEmpty
      let hasObservers = machine.extras?.content.observers.isEmpty == false || self.clientObservers != nil
      return (isInUse, machine.controllers, machine.activityObservers, hasObservers)
    }
    if isInUse {
      // The order matters: a cancelled run ends on another thread, and the subscribers are not notified of that end.
      self.endSubscriptions()
      self.disownSubscriberRuns()
    }
    controllers?.cancel()
    // After the events of the subscribers.
    if hasObservers { self.performInOrder { self.endObservation() } }
    _ = consume observers  // Released after unlocking.
  }

  /// Ends what the store does by itself: its controllers, the runs for subscribers, and the subscriptions. Called when
  /// the client has removed the store, which is over then.
  ///
  /// Callers of its runs, listeners and observers stay, as at a store that belongs to no client.
  func wasRemovedFromClient() {
    // Another client may have the store.
    guard self.hasDependents, self.isOver else { return }
    self.disownSubscriberRuns()
    self.act {
      // If the cancellation of the runs is delayed, this comes after it.
      CancellationTrampoline.perform {
        self.endMemberships()
        let controllers = self.withMachine { $0.controllers.take() }
        controllers?.cancel()
      }
    }
  }

  /// Lets the client know that the store has a run after its removal, which ends when the client clears everything.
  @inline(never)
  func noteRunAfterRemoval() {
    let hasRuns = self.withMachine { !$0.runs.isEmpty || !$0.reservedTasks.isEmpty }
    if hasRuns { self.context.operationClient?.storage.note(removed: self) }
  }

  /// Notifies all handlers of the removal after all earlier events, and removes the subscribers.
  ///
  /// The last state of the subscribers is not loading, even if callers still wait for a run.
  func endMemberships() {
    let draft = self.withMachine { $0.isClosed || $0.subscribers.isEmpty ? nil : Optional($0.draft()) }
    guard let draft else { return }
    let context = draft.context
    let state = draft.state.isLoading ? draft.stateWithoutRuns() : nil
    self.withMachine { machine in
      for member in machine.subscribers.members where !member.isEnding.exchange(true, ordering: .relaxed) {
        machine.queueEnd(state, context, addressee: member)
      }
      machine.queue(StoreChange(lifecycle: .storeRemoved), result: nil, context, run: nil)
      machine.eventQueue.append(.action { self.removeMembers() })
    }
    self.deliver()
  }

  /// Cancels the runs that only subscribers wait for.
  private func disownSubscriberRuns() {
    let sharedRuns = self.withMachine { machine in
      defer { machine.subscriberRuns = [] }
      return machine.subscriberRuns
    }
    if !sharedRuns.isEmpty { self.act { for sharedRun in sharedRuns { sharedRun.removeOwner() } } }
  }

  /// Notifies the subscribers of the end of the store after all earlier events, and removes them.
  private func endSubscriptions() {
    self.act {
      let draft = self.withMachine { $0.draft() }
      let context = draft.context
      let state = draft.state.isLoading ? draft.stateWithoutRuns() : nil
      self.withMachine { machine in
        machine.queueEnd(state, context, addressee: nil)
        machine.eventQueue.append(.action { self.removeSubscribers() })
      }
      self.deliver()
    }
  }

  private func removeSubscribers() {
    let subscribers = self.withMachine { machine in
      if self.isWatched(.subscribers) { self.queueDepartures(&machine) }
      return machine.subscribers.removeAll()
    }
    for subscriber in subscribers { subscriber.onStoreGone?() }
  }

  /// Removes the subscribers whose last event was delivered. Others may have come since it was queued.
  private func removeMembers() {
    let isWatched = self.isWatched(.subscribers)
    let members = self.withMachine { machine in
      let members = machine.subscribers.members.filter { $0.isEnding.load(ordering: .relaxed) }
      for member in members {
        let name = machine.subscribers.role(of: member)?.text
        _ = machine.subscribers.remove(member)
        if isWatched { self.queue(.subscriberLeft(name: name, count: machine.subscribers.count), &machine) }
      }
      return members
    }
    for member in members { member.onStoreGone?() }
    self.activityChanged()
  }
}

extension StoreRuntime {
  /// Queues the events of all subscribers that leave with the store. Called with the lock held.
  private func queueDepartures(_ machine: inout StoreMachine) {
    let names = machine.subscribers.names
    for (index, name) in names.enumerated() {
      self.queue(.subscriberLeft(name: name?.text, count: names.count - index - 1), &machine)
    }
  }
}

extension StoreMachine {
  /// The state that the store shows once all runs are rolled back. Called without the lock, because layers are user
  /// code.
  func stateWithoutRuns() -> any StoredState {
    var draft = self.draft()
    draft.setLayerResults(LayerResults())
    var released = ReleasedValues()
    for run in self.runs { _ = draft.rollBack(run.id, &released) }
    return draft.hasLayers ? draft.stateWithLayers() : draft.state
  }

  /// Queues the end of the store for its handlers, with their last state; nil if they have received that state.
  ///
  /// - Parameters:
  ///   - state: The last state.
  ///   - context: The context of the event.
  ///   - addressee: The only recipient; nil for all.
  fileprivate mutating func queueEnd(
    _ state: (any StoredState)?,
    _ context: OperationContext,
    addressee: Subscriber?
  ) {
    let event = QueuedEvent(
      state: state,
      result: nil,
      lifecycle: .storeRemoved,
      context: context,
      run: nil,
      limit: self.subscribers.nextNumber,
      addressee: addressee
    )
    self.eventQueue.append(.event(event))
  }
}
