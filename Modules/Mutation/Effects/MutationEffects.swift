internal import OperationCore
internal import Synchronization

/// What one call of a mutation does to the stores of its client.
///
/// The modifiers of the call share it: the outermost of them makes it and, when the call has passed through them all,
/// puts it into effect. So it makes no difference in which order they are applied, and what an inner one has begun
/// lasts through the attempts of a retry between the two.
final class MutationEffects: Sendable {
  private struct Update {
    let id: EffectIdentifier
    let layer: any EffectLayer
    var isSuccess = false
  }

  private struct State {
    /// In the order in which they began.
    var updates: [Update] = []
    var invalidations: [OperationPath] = []
    /// Whether the call has passed through the outermost modifier.
    var isOver = false
  }

  /// The run that the effects belong to, which is not that of a mutation that is called inside it with its context.
  private let run: OperationTaskIdentifier?
  private let state = Mutex(State())

  private init(run: OperationTaskIdentifier?) {
    self.run = run
  }
}

// MARK: - Sharing

extension MutationEffects {
  /// The part that one modifier has in the effects of a call.
  struct Share {
    let effects: MutationEffects
    let isOutermost: Bool

    /// The call has passed through the modifier.
    func leave(for client: OperationClient) {
      if self.isOutermost { self.effects.perform(on: client) }
    }
  }

  /// The effects of the call in a context; made, and put there, when there are none.
  static func join(in context: inout OperationContext) -> Share {
    let run = context.operationRunningTaskIdentifier
    if let effects = context.mutationEffects, effects.run == run { return Share(effects: effects, isOutermost: false) }
    let effects = MutationEffects(run: run)
    context.mutationEffects = effects
    return Share(effects: effects, isOutermost: true)
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

  func end(_ id: EffectIdentifier, isSuccess: Bool) {
    self.state.withLock { state in
      guard let index = state.updates.firstIndex(where: { $0.id == id }) else { return }
      state.updates[index].isSuccess = isSuccess
    }
  }

  func invalidate(_ path: OperationPath) {
    self.state.withLock { state in
      // One that another one covers would only make stores run twice.
      if state.invalidations.contains(where: { $0.isPrefix(of: path) }) { return }
      state.invalidations.removeAll { path.isPrefix(of: $0) }
      state.invalidations.append(path)
    }
  }
}

// MARK: - Performing

extension MutationEffects {
  private func perform(on client: OperationClient) {
    let (updates, invalidations) = self.state.withLock { state in
      defer { state = State(isOver: true) }
      return (state.updates, state.invalidations)
    }
    for update in updates {
      if update.isSuccess { update.layer.succeed(invalidating: invalidations) } else { update.layer.fail() }
    }
    for path in invalidations { client.invalidate(matching: path, isolation: nil) }
    for update in updates where update.isSuccess { update.layer.commitAtRest() }
  }
}

/// Names one modifier, whose copies it holds for as well.
struct EffectIdentifier: Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  private let rawValue = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
}

extension OperationContext {
  var mutationEffects: MutationEffects? {
    get { self[MutationEffectsKey.self] }
    set { self[MutationEffectsKey.self] = newValue }
  }

  private enum MutationEffectsKey: Key {
    static let defaultValue: MutationEffects? = nil
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
