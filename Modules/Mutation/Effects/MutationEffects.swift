internal import OperationCore
internal import Synchronization

/// The optimistic updates and invalidations of one call of a mutation.
///
/// The modifiers of the call share it. The effects are performed when the run has returned, after all its attempts. So
/// the order of the modifiers makes no difference, and an update lasts from the first attempt to the last, whether a
/// retry is inside or outside of the modifiers.
final class MutationEffects: Sendable {
  /// Makes an update for the arguments of a call; nil if they have another type.
  typealias LayerMaker = @Sendable (_ arguments: any Sendable, StateLayerPlace) -> (any EffectLayer)?

  private struct Update {
    let id: EffectIdentifier
    var layer: any EffectLayer
    /// Makes the update of other arguments.
    let remake: LayerMaker
    var isSuccess = false
  }

  private struct State {
    /// The place of the updates; nil before it is needed.
    var place: StateLayerPlace?
    /// In the order in which they began.
    var updates: [Update] = []
    var invalidations: [Invalidation] = []
    var selections: [StoreSelection] = []
    /// The number of attempts that have begun. Outer modifiers may have abandoned all but the last.
    var attempts = 0
    var isInAttempt = false
    var hasReturned = false
    /// Whether the effects were performed.
    var isPerformed = false
    /// Whether the call is not made, so that it shows no updates.
    var isReplaced = false
    /// Receives the updates of a call that fails and is made again.
    var kept: KeptUpdates?
  }

  struct Invalidation: Sendable {
    let client: OperationClient
    let path: OperationPath
    /// The name of the mutation.
    let operationName: String
  }

  /// The run of the effects. A mutation that is called inside the run, with its context, has another.
  let run: OperationTaskIdentifier?
  private let state: Locked<State>

  fileprivate init(in context: OperationContext) {
    self.run = context.operationRunningTaskIdentifier
    self.state = Locked(State(place: context.earlierOptimisticPlace, kept: context.earlierOptimisticUpdates))
  }

  /// Returns the place of the updates among other calls' updates. In a new call, the first one to ask takes the place
  /// above all of them.
  func takePlace() -> StateLayerPlace {
    self.state.withLock { state in
      let place = state.place ?? .next()
      state.place = place
      return place
    }
  }
}

// MARK: - Sharing

extension MutationEffects {
  /// The share of one modifier in the effects of a call.
  struct Share {
    fileprivate enum Position {
      /// Outside of all other modifiers with a share. An ``EffectsRunWrapper`` around it performs the effects.
      case outermost
      /// Outside of all other modifiers with a share, without a run wrapper. The modifier performs the effects.
      case call
      /// Inside of another modifier with a share.
      case inside
    }

    let effects: MutationEffects
    fileprivate let attempt: Int
    fileprivate let place: Position

    /// Called when the attempt leaves the modifier.
    func leave(isSuccess: Bool) {
      switch self.place {
      case .outermost: self.effects.endAttempt(self.attempt)
      case .call: self.effects.perform(isSuccess: isSuccess)
      case .inside: break
      }
    }

    /// Records whether the attempt has succeeded inside the modifier of an update.
    func end(_ id: EffectIdentifier, isSuccess: Bool) {
      self.effects.end(id, in: self.attempt, isSuccess: isSuccess)
    }

    /// Passes what the attempt has returned to an update.
    func returned(_ value: any Sendable, to id: EffectIdentifier) {
      self.effects.layer(id, in: self.attempt)?.callReturned(value)
    }
  }

  /// The context entry that refers to the effects.
  struct Membership: Sendable {
    let effects: MutationEffects
    /// The attempt that the context belongs to. Nil outside of all modifiers with a share.
    var attempt: Int?
  }

  /// Returns a share in the effects of the call with a context. Creates the effects if the context has none.
  static func join(in context: inout OperationContext) -> Share {
    let run = context.operationRunningTaskIdentifier
    guard let membership = context.mutationEffects, membership.effects.run == run else {
      let effects = MutationEffects(in: context)
      let attempt = effects.beginAttempt()
      context.mutationEffects = Membership(effects: effects, attempt: attempt)
      return Share(effects: effects, attempt: attempt, place: .call)
    }
    let effects = membership.effects
    if let attempt = membership.attempt { return Share(effects: effects, attempt: attempt, place: .inside) }
    let attempt = effects.beginAttempt()
    context.mutationEffects = Membership(effects: effects, attempt: attempt)
    return Share(effects: effects, attempt: attempt, place: .outermost)
  }

  private func beginAttempt() -> Int {
    self.state.withLock { state in
      state.attempts += 1
      state.isInAttempt = true
      return state.attempts
    }
  }

  private func endAttempt(_ attempt: Int) {
    let isDue = self.state.withLock { state in
      guard state.attempts == attempt else { return false }
      state.isInAttempt = false
      return state.hasReturned
    }
    if isDue { self.perform(isSuccess: true) }
  }
}

/// Performs the effects of a call when its run has returned.
struct EffectsRunWrapper: OperationRunWrapper {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> (any Error)?
  ) async {
    var context = context
    let effects = MutationEffects.begin(in: &context)
    let error = await body(context)
    let relays = effects.runHasReturned(isSuccess: error == nil, isCancelled: Task.isCancelled)
    for relay in relays { await relay.invalidationsSettled() }
  }
}

/// Takes the place of the updates of a call in the turn of its caller.
struct EffectsPreparation: OperationRunPreparation {
  func runWillBegin(of operation: any OperationRequest.Type, in context: inout OperationContext) {
    _ = MutationEffects.begin(in: &context).takePlace()
  }

  func runDidEnd(in context: OperationContext) {}
}

extension OperationContext {
  /// Performs the effects of a call after all its attempts.
  mutating func performEffectsOfRuns() {
    self.addRunWrapper(EffectsRunWrapper())
    self.setRunPreparation(EffectsPreparation())
  }
}

extension MutationEffects {
  /// The effects of the run with a context, which this makes unless they exist.
  fileprivate static func begin(in context: inout OperationContext) -> MutationEffects {
    if let membership = context.mutationEffects, membership.attempt == nil,
      membership.effects.run == context.operationRunningTaskIdentifier
    {
      return membership.effects
    }
    let effects = MutationEffects(in: context)
    context.mutationEffects = Membership(effects: effects)
    // A mutation that is called inside the run, with its context, is a new call and has a place of its own.
    if context.earlierOptimisticPlace != nil { context.earlierOptimisticPlace = nil }
    if context.earlierOptimisticUpdates != nil { context.earlierOptimisticUpdates = nil }
    return effects
  }
}

// MARK: - Recording

extension MutationEffects {
  /// Begins an update, unless an earlier attempt has begun it.
  func begin(
    _ id: EffectIdentifier,
    remaking remake: @escaping LayerMaker,
    _ makeLayer: (StateLayerPlace) -> any EffectLayer
  ) {
    let (isDue, kept) = self.state.withLock { state in
      (!state.isPerformed && !state.isReplaced && !state.updates.contains { $0.id == id }, state.kept)
    }
    guard isDue else { return }
    // Made without the lock: it calls the stores.
    let layer = kept?.take(id) ?? makeLayer(self.takePlace())
    let isPerformed = self.state.withLock { state in
      let isOver = state.isPerformed || state.isReplaced
      if !isOver { state.updates.append(Update(id: id, layer: layer, remake: remake)) }
      return isOver
    }
    // Reached when this attempt was abandoned and the effects were performed meanwhile: nothing else removes the layer.
    if isPerformed { layer.fail() }
  }

  /// Shows the updates for other arguments.
  func replaceUpdates(with arguments: any Sendable) {
    for update in self.state.withLock({ $0.updates }) {
      guard let layer = update.remake(arguments, self.takePlace()) else { continue }
      let outdated = self.state.withLock { state -> any EffectLayer in
        guard let index = state.updates.firstIndex(where: { $0.id == update.id }) else { return layer }
        defer { state.updates[index].layer = layer }
        return state.updates[index].layer
      }
      outdated.fail()
    }
  }

  /// Removes the updates, and shows none from now on.
  func endUpdates() {
    let updates = self.state.withLock { state in
      defer { state.updates = [] }
      state.isReplaced = true
      return state.updates
    }
    for update in updates { update.layer.fail() }
  }

  func keepUpdates(in updates: KeptUpdates) {
    self.state.withLock { state, released in
      released.append(state.kept)
      state.kept = updates
    }
  }

  fileprivate func end(_ id: EffectIdentifier, in attempt: Int, isSuccess: Bool) {
    self.state.withLock { state in
      guard state.attempts == attempt, let index = state.updates.firstIndex(where: { $0.id == id }) else { return }
      state.updates[index].isSuccess = isSuccess
    }
  }

  /// The layer of an update; nil if the attempt was abandoned.
  fileprivate func layer(_ id: EffectIdentifier, in attempt: Int) -> (any EffectLayer)? {
    self.state.withLock { state in
      state.attempts == attempt ? state.updates.first { $0.id == id }?.layer : nil
    }
  }

  func invalidate(_ path: OperationPath, in client: OperationClient, by operationName: String) {
    self.state.withLock { state in
      guard !state.isPerformed else { return }
      state.invalidations.append(Invalidation(client: client, path: path, operationName: operationName))
    }
  }

  func invalidate(_ selection: StoreSelection) {
    self.state.withLock { state in
      if !state.isPerformed { state.selections.append(selection) }
    }
  }
}

// MARK: - Performing

extension MutationEffects {
  /// - Returns: What passes the invalidations of the call on.
  fileprivate func runHasReturned(isSuccess: Bool, isCancelled: Bool) -> [any InvalidationRelay] {
    let isDue = self.state.withLock { state in
      state.hasReturned = true
      // A cancelled attempt may go on for other callers that share it. The effects are performed when it ends.
      return !(isCancelled && state.isInAttempt)
    }
    return isDue ? self.perform(isSuccess: isSuccess) : []
  }

  /// Performs the effects once.
  ///
  /// - Parameter isSuccess: Whether the call has succeeded outside of the modifiers with a share.
  /// - Returns: What passes its invalidations on.
  @discardableResult
  private func perform(isSuccess: Bool) -> [any InvalidationRelay] {
    let ended = self.state.withLock { state -> State in
      defer {
        state.isPerformed = true
        state.updates = []
        state.invalidations = []
        state.selections = []
      }
      return state
    }
    let (updates, kept) = (ended.updates, ended.kept)
    let invalidations = ended.invalidations.withoutCovered
    let paths = invalidations.map(\.path)
    // Selected before any layer is removed: by the values that the caller of the mutation sees when it has ended.
    let selected = ended.selections.selectedStores(outsideOf: invalidations)
    let stores = InvalidatedStores(prefixes: paths, paths: Set(selected.map(\.path)))
    for update in updates where update.isSuccess && isSuccess { update.layer.succeed(invalidating: stores) }
    let failed = updates.filter { !($0.isSuccess && isSuccess) }
    if kept?.keep(failed.map { ($0.id, $0.layer) }) != true { for update in failed { update.layer.fail() } }
    for invalidation in invalidations {
      let name = invalidation.operationName
      invalidation.client.invalidate(matching: invalidation.path, by: name, isolation: nil)
      #if DEBUG
        UnmatchedPaths.check(invalidation.path, as: "invalidates", by: name, in: invalidation.client)
      #endif
    }
    if !selected.isEmpty {
      let subjects = ended.selections.map(\.subject)
      _ = OperationClient.invalidate(
        selected,
        subject: { subjects.map { $0() }.joined(separator: ", ") },
        by: ended.selections.first?.operationName,
        isolation: nil
      )
    }
    for update in updates where update.isSuccess && isSuccess { update.layer.commitAtRest() }
    let clients = invalidations.map(\.client) + ended.selections.map(\.client)
    return clients.first?.invalidationRelays ?? []
  }
}

extension [MutationEffects.Invalidation] {
  /// The invalidations that no other one includes. The rest would only rerun stores twice.
  fileprivate var withoutCovered: Self {
    self.reduce(into: []) { invalidations, invalidation in
      func covers(_ outer: Element, _ inner: Element) -> Bool {
        outer.client === inner.client && outer.path.isPrefix(of: inner.path)
      }
      if invalidations.contains(where: { covers($0, invalidation) }) { return }
      invalidations.removeAll { covers(invalidation, $0) }
      invalidations.append(invalidation)
    }
  }
}

/// Identifies one modifier. Copies of the modifier have the same identifier.
package struct EffectIdentifier: Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  private let rawValue = Self.last.wrappingAdd(1, ordering: .relaxed).newValue

  package init() {}
}
