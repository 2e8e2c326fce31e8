internal import OperationCore

/// The lanes of all scopes in which calls run or wait. A lane without calls is removed.
final class ScopeLanes: Sendable {
  /// The key of lanes: the hash of a scope's name, as names are the user's values and must not be compared under the
  /// lock.
  struct Key: Hashable, Sendable {
    let owner: ObjectIdentifier
    let hash: Int

    init(owner: any AnyObject, scope: OperationPath) {
      self.owner = ObjectIdentifier(owner)
      self.hash = scope.hashValue
    }
  }

  enum Admission {
    /// The caller has the turn, and has to end it.
    case turn(ScopeTurn)
    /// The caller is part of a call that has the turn.
    case inside
    /// The caller was cancelled before its turn came.
    case left
  }

  static let shared = ScopeLanes()

  private let lanes = Locked<[Key: [ScopeLane]]>([:])

  /// The scopes in which calls run or wait.
  var scopes: Set<OperationPath> { Set(self.lanes.withLock { $0.values.flatMap(\.self) }.map(\.scope)) }

  /// Waits for the caller's turn.
  ///
  /// - Parameters:
  ///   - scope: The scope of the call.
  ///   - owner: The client, or the store without a client, that the scope belongs to.
  ///   - context: The context of the call.
  ///   - canLeave: Whether a caller leaves when it is cancelled. Otherwise it keeps its place.
  ///   - isolation: The caller's actor.
  /// - Returns: Whether the caller has the turn, is part of a call that has it, or has left.
  func admission(
    to scope: OperationPath,
    of owner: any AnyObject & Sendable,
    in context: OperationContext,
    canLeave: Bool,
    isolation: isolated (any Actor)?
  ) async -> Admission {
    let key = Key(owner: owner, scope: scope)
    var place = context.scopePlace(in: scope)
    while true {
      let lane = place?.lane ?? self.lane(of: scope, owner, for: key)
      let admission = place?.use()
      place = nil
      if admission == nil, self.isInside(lane, context) { return .inside }
      switch admission ?? lane.join() {
      case .closed:
        self.remove(lane, key)
      case .turn:
        return .turn(ScopeTurn(lane: lane, key: key))
      case .ticket(let ticket):
        // The wait is noted so that no call inside the current turn joins this run, which would wait for itself.
        context.note(awaited: lane)
        let wait = context.beginWait(for: { "its turn in the scope \(ShownText.of(scope))" })
        defer { context.endWait(wait) }
        let isTurn = await lane.turn(at: ticket, canLeave: canLeave, isolation: isolation)
        return isTurn ? .turn(ScopeTurn(lane: lane, key: key)) : .left
      }
    }
  }

  /// Takes a place for a call before it comes to the scope; nil if it needs none, because it is part of another call.
  func place(
    in scope: OperationPath,
    of owner: any AnyObject & Sendable,
    for context: OperationContext
  ) -> ScopePlace? {
    let key = Key(owner: owner, scope: scope)
    while true {
      let lane = self.lane(of: scope, owner, for: key)
      if self.isInside(lane, context) { return nil }
      switch lane.join() {
      case .closed: self.remove(lane, key)
      case let admission: return ScopePlace(in: lane, key, admission, of: context.operationRunningTaskIdentifier)
      }
    }
  }

  /// Whether a call is part of the call that has the turn. An enqueued call comes behind it.
  private func isInside(_ lane: ScopeLane, _ context: OperationContext) -> Bool {
    ScopeTurn.isInside(lane) && context.enqueuedCallOfRun == nil
  }

  private func lane(of scope: OperationPath, _ owner: any AnyObject & Sendable, for key: Key) -> ScopeLane {
    while true {
      let lanes = self.lanes.withLock { $0[key] ?? [] }
      // The same key may belong to a lane of an earlier owner at this address, whose calls still run.
      if let lane = lanes.first(where: { $0.owner === owner && $0.scope == scope }) { return lane }
      let lane = ScopeLane(scope: scope, owner: owner)
      let isAdded = self.lanes.withLock { known in
        guard (known[key] ?? []).elementsEqual(lanes, by: ===) else { return false }
        known[key, default: []].append(lane)
        return true
      }
      if isAdded { return lane }
    }
  }

  func remove(_ lane: ScopeLane, _ key: Key) {
    self.lanes.withLock { lanes, released in
      released.append(lanes[key])
      lanes[key]?.removeAll { $0 === lane }
      if lanes[key]?.isEmpty == true { lanes[key] = nil }
    }
  }
}
