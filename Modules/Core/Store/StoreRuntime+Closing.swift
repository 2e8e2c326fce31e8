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

  /// Gives up the runs of the subscribers, and notifies the subscribers, which stay. Called when a client removes the
  /// store.
  func wasRemovedFromClient() {
    guard self.hasDependents, self.withMachine({ !$0.subscribers.isEmpty && !$0.isClosed }) else { return }
    self.disownSubscriberRuns()
    let context = self.context
    self.act {
      // If the cancellation of the runs is delayed, this comes after it.
      CancellationTrampoline.perform {
        self.withMachine { machine in
          machine.queue(StoreChange(lifecycle: .storeRemoved), result: nil, context, run: nil)
        }
        self.deliver()
      }
    }
    self.activityChanged()
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
        machine.queueEnd(state, context)
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

  /// Queues the end of the store for the subscribers, with their last state; nil if they have received that state.
  fileprivate mutating func queueEnd(_ state: (any StoredState)?, _ context: OperationContext) {
    let event = QueuedEvent(
      state: state,
      result: nil,
      lifecycle: .storeRemoved,
      context: context,
      run: nil,
      limit: self.subscribers.nextNumber,
      addressee: nil
    )
    self.eventQueue.append(.event(event))
  }
}
