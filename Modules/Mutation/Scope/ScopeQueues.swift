internal import OperationCore

/// The queues of all scopes in which calls run or wait. A queue without calls is removed.
final class ScopeQueues: Sendable {
  /// The key of queues: the hash of a scope's name, as names are the user's values and must not be compared under the
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

  static let shared = ScopeQueues()

  private let queues = Locked<[Key: [ScopeQueue]]>([:])

  /// The scopes in which calls run or wait.
  var scopes: Set<OperationPath> { Set(self.queues.withLock { $0.values.flatMap(\.self) }.map(\.scope)) }

  /// Waits for the caller's turn.
  ///
  /// - Parameters:
  ///   - scope: The scope of the call.
  ///   - owner: The client, or the store without a client, that the scope belongs to.
  ///   - context: The context of the call.
  ///   - canLeave: Whether a caller leaves when it is cancelled. Otherwise it keeps its position.
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
    var position = context.scopePosition(in: scope)
    while true {
      let queue = position?.queue ?? self.queue(of: scope, owner, for: key)
      let admission = position?.use()
      position = nil
      if admission == nil, self.isInside(queue, context) { return .inside }
      switch admission ?? queue.join() {
      case .closed:
        self.remove(queue, key)
      case .turn:
        return .turn(ScopeTurn(queue: queue, key: key))
      case .ticket(let ticket):
        // The wait is noted so that no call inside the current turn joins this run, which would wait for itself.
        context.note(awaited: queue)
        let wait = context.beginWait(for: { "its turn in the scope \(ShownText.of(scope))" })
        defer {
          context.endWait(wait)
          context.noteWaitEnded()
        }
        let isTurn = await queue.turn(at: ticket, canLeave: canLeave, isolation: isolation)
        return isTurn ? .turn(ScopeTurn(queue: queue, key: key)) : .left
      }
    }
  }

  /// Takes a position for a call before it comes to the scope; nil if it needs none, because it is part of another call.
  func position(
    in scope: OperationPath,
    of owner: any AnyObject & Sendable,
    for context: OperationContext
  ) -> ScopePosition? {
    let key = Key(owner: owner, scope: scope)
    while true {
      let queue = self.queue(of: scope, owner, for: key)
      if self.isInside(queue, context) { return nil }
      switch queue.join() {
      case .closed: self.remove(queue, key)
      case let admission: return ScopePosition(in: queue, key, admission, of: context.operationRunningTaskIdentifier)
      }
    }
  }

  /// Whether a call is part of the call that has the turn. An enqueued call comes behind it.
  private func isInside(_ queue: ScopeQueue, _ context: OperationContext) -> Bool {
    ScopeTurn.isInside(queue) && context.enqueuedCallOfRun == nil
  }

  private func queue(of scope: OperationPath, _ owner: any AnyObject & Sendable, for key: Key) -> ScopeQueue {
    while true {
      let queues = self.queues.withLock { $0[key] ?? [] }
      // The same key may belong to a queue of an earlier owner at this address, whose calls still run.
      if let queue = queues.first(where: { $0.owner === owner && $0.scope == scope }) { return queue }
      let queue = ScopeQueue(scope: scope, owner: owner)
      let isAdded = self.queues.withLock { known in
        guard (known[key] ?? []).elementsEqual(queues, by: ===) else { return false }
        known[key, default: []].append(queue)
        return true
      }
      if isAdded { return queue }
    }
  }

  func remove(_ queue: ScopeQueue, _ key: Key) {
    self.queues.withLock { queues, released in
      released.append(queues[key])
      queues[key]?.removeAll { $0 === queue }
      if queues[key]?.isEmpty == true { queues[key] = nil }
    }
  }
}
