internal import OperationCore
internal import Synchronization

/// What one call of a mutation does to the stores of its client.
///
/// The modifiers of the call share it, and it is put into effect when the run has returned, with all its attempts. So it
/// makes no difference in which order the modifiers are applied, and what they have begun lasts from the first attempt to
/// the last, wherever a retry stands.
final class MutationEffects: Sendable {
  private struct Update {
    let id: EffectIdentifier
    let layer: any EffectLayer
    var isSuccess = false
  }

  private struct State {
    /// In the order in which they began.
    var updates: [Update] = []
    var invalidations: [Invalidation] = []
    /// How many attempts have begun. Modifiers outside may have given up those before the last one.
    var attempts = 0
    var isInAttempt = false
    var hasReturned = false
    /// Whether all has been put into effect.
    var isOver = false
  }

  struct Invalidation: Sendable {
    let client: OperationClient
    let path: OperationPath
  }

  /// The run that the effects belong to, which is not that of a mutation that is called inside it with its context.
  private let run: OperationTaskIdentifier?
  private let state = Locked(State())

  fileprivate init(run: OperationTaskIdentifier?) {
    self.run = run
  }
}

// MARK: - Sharing

extension MutationEffects {
  /// The part that one modifier has in the effects of a call.
  struct Share {
    fileprivate enum Place {
      /// Outside of all other modifiers that have a part, and inside of what waits for all attempts.
      case outermost
      /// The same where the operation is run by itself, and the modifier has to be the one that waits.
      case call
      case inside
    }

    let effects: MutationEffects
    fileprivate let attempt: Int
    fileprivate let place: Place

    /// The attempt has passed through the modifier.
    func leave(isSuccess: Bool) {
      switch self.place {
      case .outermost: self.effects.endAttempt(self.attempt)
      case .call: self.effects.perform(isSuccess: isSuccess)
      case .inside: break
      }
    }

    /// Notes how the attempt has come out of an update.
    func end(_ id: EffectIdentifier, isSuccess: Bool) {
      self.effects.end(id, in: self.attempt, isSuccess: isSuccess)
    }
  }

  /// How a context refers to the effects.
  fileprivate struct Membership: Sendable {
    let effects: MutationEffects
    /// The attempt of which the context is part; nil outside of all modifiers that have a part.
    var attempt: Int?
  }

  /// The effects of the call in a context; made, and put there, when there are none.
  static func join(in context: inout OperationContext) -> Share {
    let run = context.operationRunningTaskIdentifier
    guard let membership = context.mutationEffects, membership.effects.run == run else {
      let effects = MutationEffects(run: run)
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

/// Puts the effects of a call into effect when its run has returned.
struct EffectsRunWrapper: OperationRunWrapper {
  func run<Value, Failure: Error>(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> Result<Value, Failure>
  ) async -> Result<Value, Failure> {
    let effects = MutationEffects(run: context.operationRunningTaskIdentifier)
    var context = context
    context.mutationEffects = MutationEffects.Membership(effects: effects)
    let outcome = await body(context)
    effects.runHasReturned(isSuccess: outcome.isSuccess, isCancelled: Task.isCancelled)
    return outcome
  }
}

// MARK: - Noting

extension MutationEffects {
  /// Begins an update, unless an earlier attempt has.
  func begin(_ id: EffectIdentifier, _ makeLayer: () -> any EffectLayer) {
    let isDue = self.state.withLock { state in !state.isOver && !state.updates.contains { $0.id == id } }
    guard isDue else { return }
    // Laid over the stores while no lock is held.
    let layer = makeLayer()
    let isOver = self.state.withLock { state in
      if !state.isOver { state.updates.append(Update(id: id, layer: layer)) }
      return state.isOver
    }
    // An attempt that a modifier has left behind ends nothing any more.
    if isOver { layer.fail() }
  }

  fileprivate func end(_ id: EffectIdentifier, in attempt: Int, isSuccess: Bool) {
    self.state.withLock { state in
      guard state.attempts == attempt, let index = state.updates.firstIndex(where: { $0.id == id }) else { return }
      state.updates[index].isSuccess = isSuccess
    }
  }

  func invalidate(_ path: OperationPath, in client: OperationClient) {
    self.state.withLock { state in
      if !state.isOver { state.invalidations.append(Invalidation(client: client, path: path)) }
    }
  }
}

// MARK: - Performing

extension MutationEffects {
  fileprivate func runHasReturned(isSuccess: Bool, isCancelled: Bool) {
    let isDue = self.state.withLock { state in
      state.hasReturned = true
      // What was cancelled may go on for others, who share the attempt.
      return !(isCancelled && state.isInAttempt)
    }
    if isDue { self.perform(isSuccess: isSuccess) }
  }

  /// - Parameter isSuccess: Whether the call has succeeded, as far as is known outside of the modifiers that have a part.
  private func perform(isSuccess: Bool) {
    let (updates, allInvalidations) = self.state.withLock { state -> ([Update], [Invalidation]) in
      defer {
        state.isOver = true
        state.updates = []
        state.invalidations = []
      }
      return (state.updates, state.invalidations)
    }
    let invalidations = allInvalidations.withoutCovered
    let paths = invalidations.map(\.path)
    for update in updates {
      if update.isSuccess, isSuccess { update.layer.succeed(invalidating: paths) } else { update.layer.fail() }
    }
    for invalidation in invalidations { invalidation.client.invalidate(matching: invalidation.path, isolation: nil) }
    for update in updates where update.isSuccess && isSuccess { update.layer.commitAtRest() }
  }
}

extension [MutationEffects.Invalidation] {
  /// Those that no other one covers, which would only make stores run twice.
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

/// Names one modifier, whose copies it holds for as well.
struct EffectIdentifier: Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  private let rawValue = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
}

extension OperationContext {
  fileprivate var mutationEffects: MutationEffects.Membership? {
    get { self[MutationEffectsKey.self] }
    set { self[MutationEffectsKey.self] = newValue }
  }

  private enum MutationEffectsKey: Key {
    static let defaultValue: MutationEffects.Membership? = nil
  }

  /// The client whose stores a mutation is to change; that there is none is reported.
  func clientForEffects(of path: OperationPath) -> OperationClient? {
    if let client = self.operationClient { return client }
    OperationWarning(
      code: .noClient,
      message: """
        The mutation at \(path) changes stores of its client, and runs without one. It changes none. Get its store from \
        an `OperationClient`, or set `operationClient` in its context.
        """
    ).report()
    return nil
  }
}

extension MutationRequest {
  func outcome(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async -> Result<MutateValue, MutateFailure> {
    do throws(MutateFailure) {
      return .success(try await self.run(isolation: isolation, in: context, with: continuation))
    } catch {
      return .failure(error)
    }
  }
}

extension Result {
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
