internal import OperationCore
internal import Synchronization

/// The lanes of all scopes in which calls are running or waiting; one without either is not there.
final class ScopeLanes: Sendable {
  struct Key: Hashable, Sendable {
    let owner: ObjectIdentifier
    let scope: OperationPath
  }

  enum Admission {
    /// The turn is the caller's, who has to end it.
    case turn(ScopeTurn)
    /// The caller is inside a turn already.
    case inside
    /// The caller was cancelled before its turn came.
    case left
  }

  static let shared = ScopeLanes()

  private let lanes = Mutex<[Key: ScopeLane]>([:])

  /// The scopes that are in use.
  var scopes: Set<OperationPath> { self.lanes.withLock { Set($0.keys.map(\.scope)) } }

  /// Waits for the caller's turn.
  ///
  /// - Parameter canLeave: Whether a caller that is cancelled leaves, or keeps its place.
  func admission(
    to scope: OperationPath,
    of owner: any AnyObject & Sendable,
    canLeave: Bool,
    isolation: isolated (any Actor)?
  ) async -> Admission {
    let key = Key(owner: ObjectIdentifier(owner), scope: scope)
    while true {
      let lane = self.lane(for: key, of: owner)
      if ScopeTurn.isInside(lane) { return .inside }
      switch lane.join() {
      case .closed:
        self.remove(lane, key)
      case .turn:
        return .turn(ScopeTurn(lane: lane, key: key))
      case .place(let place):
        let isTurn = await lane.turn(at: place, canLeave: canLeave, isolation: isolation)
        return isTurn ? .turn(ScopeTurn(lane: lane, key: key)) : .left
      }
    }
  }

  private func lane(for key: Key, of owner: any AnyObject & Sendable) -> ScopeLane {
    self.lanes.withLock { lanes in
      // Another owner may have been at this address before, whose calls go on in their own lane.
      if let lane = lanes[key], lane.owner === owner { return lane }
      let lane = ScopeLane(owner: owner)
      lanes[key] = lane
      return lane
    }
  }

  func remove(_ lane: ScopeLane, _ key: Key) {
    self.lanes.withLock { lanes in
      if lanes[key] === lane { lanes[key] = nil }
    }
  }
}

/// The time in which a call has its lane to itself.
final class ScopeTurn: Sendable {
  @TaskLocal private static var current: [ScopeTurn] = []

  private let lane: ScopeLane
  private let key: ScopeLanes.Key
  private let isOver = Atomic(false)

  init(lane: ScopeLane, key: ScopeLanes.Key) {
    self.lane = lane
    self.key = key
  }

  /// Whether the current task is part of a call that has the lane.
  static func isInside(_ lane: ScopeLane) -> Bool {
    self.current.contains { $0.lane === lane && !$0.isOver.load(ordering: .acquiring) }
  }

  /// Runs `body` as part of the turn.
  func perform<R>(isolation: isolated (any Actor)?, _ body: () async -> R) async -> R {
    let turns = Self.current.filter { !$0.isOver.load(ordering: .acquiring) }
    return await Self.$current.withValue(turns + [self], operation: body)
  }

  /// Hands the lane to the next call.
  func end() {
    self.isOver.store(true, ordering: .releasing)
    if self.lane.leave() { ScopeLanes.shared.remove(self.lane, self.key) }
  }
}
