public import OperationCore

extension OperationClient {
  /// Joins a fleet: operations with `.sharedInFleet(as:)` share runs and values, and invalidations reach all nodes.
  ///
  /// ```swift
  /// client.join(fleet)
  /// let query = PostQuery(id: 1).sharedInFleet(as: "post")
  /// ```
  ///
  /// From now on `invalidate(matching:)`, the invalidations of mutations and of tags, and clearing and resetting stores
  /// reach all nodes, for all stores of the client. The values that its stores have are stale, since others may have
  /// invalidated them before. Joining again replaces the former fleet.
  ///
  /// The node takes its deadlines from the client's default context.
  ///
  /// - Parameters:
  ///   - backend: What the nodes of the fleet share. It stays open when the client is released.
  ///   - settings: How the client takes part.
  /// - Returns: The node, which lives as long as the client.
  @discardableResult
  public func join(_ backend: any FleetBackend, settings: FleetSettings = FleetSettings()) -> FleetNode {
    let identity = UInt64.random(in: .min ... .max)
    return self.join(backend, settings: settings, identity: identity)
  }

  /// Joins a fleet as a node with a given identity, for tests that repeat.
  @discardableResult
  package func join(_ backend: any FleetBackend, settings: FleetSettings, identity: UInt64) -> FleetNode {
    let node = FleetNode(client: self, backend: backend, settings: settings, identity: identity)
    self.attachment(of: FleetNode.self)?.leave()
    self.attach(node)
    node.begin()
    return node
  }

  /// The node of the client in a fleet; nil if it has not joined one.
  public var fleet: FleetNode? { self.attachment(of: FleetNode.self) }
}

extension FleetNode {
  /// Begins to listen, and to ask for invalidations.
  func begin() {
    let messages = self.backend.messages { [weak self] message in self?.receive(message) }
    self.state.withLock { $0.timers.messages = messages }
    self.invalidateEverything()
    self.catchUp()
    self.scheduleHeartbeat()
  }

  private func scheduleHeartbeat() {
    let timer = self.deadlines.schedule(after: self.settings.heartbeat) { [weak self] in
      guard let self else { return }
      self.checkMessages()
      self.catchUp()
      self.scheduleHeartbeat()
    }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      if state.isClosed { return timer }
      defer { state.timers.heartbeat = timer }
      return state.timers.heartbeat
    }
    surplus?.cancel()
  }

  /// Takes a message of the backend.
  func receive(_ message: FleetMessage) {
    switch message {
    case .invalidated(let epoch): self.note(epoch)
    case .missed:
      self.catchUp()
      self.wakeAll()
    case .stored(let key, let revision):
      self.wake(key)
      self.push(key, revision: revision)
    case .released(let key): self.wake(key)
    }
  }
}
