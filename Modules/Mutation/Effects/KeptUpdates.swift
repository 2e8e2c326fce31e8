package import OperationCore

/// The optimistic updates of a call that outlive its runs, because the call is made again.
///
/// A run that fails leaves its updates here, and the next run of the call takes them over.
package final class KeptUpdates: Sendable {
  private struct State: Sendable {
    var layers: [(id: EffectIdentifier, layer: any EffectLayer)] = []
    /// Whether the call is not made again.
    var isOver = false
  }

  private let state = Locked(State())

  package init() {}

  /// Removes the updates from the stores, and those that runs leave here later.
  package func end() {
    let layers = self.state.withLock { state in
      defer { state.layers = [] }
      state.isOver = true
      return state.layers
    }
    for (_, layer) in layers { layer.fail() }
  }

  /// Keeps the updates of a run that has failed. Returns false if the call is not made again.
  func keep(_ layers: [(id: EffectIdentifier, layer: any EffectLayer)]) -> Bool {
    self.state.withLock { state in
      if !state.isOver { state.layers += layers }
      return !state.isOver
    }
  }

  /// Takes over the update of a modifier. If there is none, another mutation makes the call, and the rest is removed.
  func take(_ id: EffectIdentifier) -> (any EffectLayer)? {
    let (taken, outdated) = self.state.withLock {
      state -> ((any EffectLayer)?, [(EffectIdentifier, any EffectLayer)]) in
      if let index = state.layers.firstIndex(where: { $0.id == id }) {
        return (state.layers.remove(at: index).layer, [])
      }
      defer { state.layers = [] }
      return (nil, state.layers)
    }
    for (_, layer) in outdated { layer.fail() }
    return taken
  }

  fileprivate var isEmpty: Bool { self.state.withLock { $0.layers.isEmpty } }
}

extension OperationContext {
  /// The updates that earlier runs of the call have left; nil for a new call.
  package var earlierOptimisticUpdates: KeptUpdates? {
    get { self[EarlierOptimisticUpdatesKey.self] }
    set { self[EarlierOptimisticUpdatesKey.self] = newValue }
  }

  private enum EarlierOptimisticUpdatesKey: Key {
    static let defaultValue: KeptUpdates? = nil
  }

  /// Leaves the optimistic updates of the run here if it fails.
  package func keepOptimisticUpdates(in updates: KeptUpdates) {
    guard let effects = self.mutationEffects?.effects, effects.run == self.operationRunningTaskIdentifier else {
      return
    }
    effects.keepUpdates(in: updates)
  }
}

// MARK: - Before the run

extension MutationRequest {
  /// Whether a modifier of the mutation is an optimistic update.
  package static var hasOptimisticUpdates: Bool { self.hasModifier { $0 is any UpdatingModifier.Type } }

  /// Shows the optimistic updates of a call before it runs; does nothing if some are shown.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the call.
  ///   - client: The client whose stores show them.
  ///   - place: The place of the updates among other calls' updates.
  ///   - updates: Receives the updates, which the run takes over.
  ///   - isBoundary: Returns true for the type of a modifier inside of which no update is shown yet.
  package func showOptimisticUpdates(
    with arguments: Arguments,
    in client: OperationClient,
    at place: StateLayerPlace,
    keptIn updates: KeptUpdates,
    outsideOf isBoundary: (any Any.Type) -> Bool
  ) {
    guard updates.isEmpty, let operation = self as? any UpdatingOperation else { return }
    let request = UpdateRequest(arguments: arguments, client: client, place: place, updates: updates)
    operation.showUpdates(request, outsideOf: isBoundary)
  }
}

package struct UpdateRequest {
  package let arguments: any Sendable
  package let client: OperationClient
  let place: StateLayerPlace
  let updates: KeptUpdates

  package func show(_ id: EffectIdentifier, _ makeLayer: (StateLayerPlace) -> any EffectLayer) {
    let layer = makeLayer(self.place)
    if !self.updates.keep([(id, layer)]) { layer.fail() }
  }
}

/// An operation that may have optimistic updates among its modifiers.
private protocol UpdatingOperation {
  func showUpdates(_ request: UpdateRequest, outsideOf isBoundary: (any Any.Type) -> Bool)
}

/// A modifier with an optimistic update.
package protocol UpdatingModifier {
  func showUpdate(_ request: UpdateRequest, of operation: any OperationRequest)
}

extension ModifiedOperation: UpdatingOperation {
  fileprivate func showUpdates(_ request: UpdateRequest, outsideOf isBoundary: (any Any.Type) -> Bool) {
    if isBoundary(Modifier.self) { return }
    (self.modifier as? any UpdatingModifier)?.showUpdate(request, of: self.operation)
    (self.operation as? any UpdatingOperation)?.showUpdates(request, outsideOf: isBoundary)
  }
}

extension DefaultStateOperation: UpdatingOperation {
  fileprivate func showUpdates(_ request: UpdateRequest, outsideOf isBoundary: (any Any.Type) -> Bool) {
    (self.operation as? any UpdatingOperation)?.showUpdates(request, outsideOf: isBoundary)
  }
}

extension IdempotentOperation: UpdatingOperation {
  fileprivate func showUpdates(_ request: UpdateRequest, outsideOf isBoundary: (any Any.Type) -> Bool) {
    (self.operation as? any UpdatingOperation)?.showUpdates(request, outsideOf: isBoundary)
  }
}
