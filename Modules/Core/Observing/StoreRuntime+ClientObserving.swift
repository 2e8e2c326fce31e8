extension StoreRuntime {
  /// Begins the observation by an observer of a client, unless it has begun, or the client no longer has the store.
  ///
  /// - Parameters:
  ///   - member: The observer. One that has left is ignored.
  ///   - observers: The observers of the client.
  ///   - isTaken: False for a store that the client is about to take.
  func begin(with member: ClientObservers.Member, in observers: ClientObservers, isTaken: Bool = true) {
    let observing = member.observing
    if !observing.watch.isSubset(of: StoreWatch(.membership)) { self.noteDependent() }
    self.begin(observing) { machine in
      let members = self.clientObservers?.members ?? []
      guard member.isActive, !isTaken || self.isKeptByClient, !members.contains(where: { $0 === member }) else {
        return false
      }
      let isKnown = self.clientObservers?.contains(observing.observer) ?? false
      // The list before is shared, or retained by its members: nothing of a user is released here.
      self.clientObservers = observers.list(of: members + [member])
      self.updateWatch(machine)
      return !isKnown && machine.extras?.content.observers.contains(observing.observer) != true
    }
  }

  /// Ends the observations by observers of a client that have left.
  func endObservations(in observers: ClientObservers) {
    let hasEnded = self.withMachine { machine, released -> Bool in
      guard let list = self.clientObservers, !list.members.allSatisfy(\.isActive) else { return false }
      self.replaceClientObservers(with: observers.list(of: list.members.filter(\.isActive)), &machine, &released)
      return true
    }
    if hasEnded { self.deliver() }
  }

  /// Ends the observations of a store that a client has not taken after all.
  func wasRefusedByClient() {
    guard self.isObservedByClient else { return }
    self.withMachine { self.replaceClientObservers(with: nil, &$0, &$1) }
    self.deliver()
  }

  /// Replaces the observers of a client by some of them, and queues the last event of the others. Called with the lock
  /// held.
  private func replaceClientObservers(
    with list: ClientObservers.List?,
    _ machine: inout StoreMachine,
    _ released: inout StoreMachine.ReleasedValues
  ) {
    guard let former = self.clientObservers else { return }
    released.append(former)
    self.clientObservers = list
    let ended = former.observings.filter { list?.contains($0.observer) != true }
    self.queue(.unobserved, to: self.withoutOwn(ended, machine), &machine)
    self.updateWatch(machine)
  }

  /// The client has taken the store.
  func wasAddedToClient() {
    self.showMembership()
    guard self.isWatched(.membership) else { return }
    self.deliver { machine, _ in self.isKeptByClient ? self.event(.addedToClient, machine) : nil }
  }

  /// The client no longer has the store: its observers leave.
  ///
  /// - Parameters:
  ///   - removal: Why it no longer has the store.
  ///   - cause: What has removed it; nil if nothing observes it.
  func leaveClientObservers(_ removal: StoreEvent.Removal, by cause: OperationRunCause?) {
    self.showMembership()
    self.withMachine { machine, released in
      // A store may have been put into the client again.
      if self.isKeptByClient { return }
      if self.isWatched(.membership) { self.queue(.removedFromClient(removal), by: cause, &machine) }
      self.replaceClientObservers(with: nil, &machine, &released)
    }
    self.deliver()
  }
}
