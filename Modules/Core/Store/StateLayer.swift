internal import Synchronization

/// An update that a store shows on top of its state without making it part of the state.
@usableFromInline
struct StateLayer<State: OperationState & Sendable>: Sendable {
  let id: StateLayerIdentifier
  let apply: @Sendable (inout State) -> Void
  /// Passes the state beneath the layers to a state that all layers were applied to.
  let noteStateBeneath: @Sendable (inout State, State) -> Void
  /// The layer is removed when an invalidation with this number or a later one is answered; nil to keep it.
  var replacingInvalidation: Int?
}

/// Where layers are among the others of a store: above those with smaller places.
package struct StateLayerPlace: Hashable, Comparable, Sendable {
  private static let last = Atomic<Int64>(0)
  private let rawValue: Int64

  private init(_ rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// Returns a place above all that were made before.
  package static func next() -> Self { Self(Self.last.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// Returns a place beneath all of this start of the program: `number` is negative, and greater for a later call.
  package static func earlierStart(_ number: Int64) -> Self {
    precondition(number < 0, "The number of a call of an earlier start must be negative, and is \(number).")
    return Self(number)
  }

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies one layer, which may be added to any number of stores, and is at the same place in each.
@usableFromInline
package struct StateLayerIdentifier: Hashable, Comparable, Sendable {
  private let place: StateLayerPlace
  /// Tells the layers of one place apart: the later one is above.
  private let number: StateLayerPlace

  /// - Parameter place: The place of the layer; nil for one above all others.
  package init(at place: StateLayerPlace? = nil) {
    self.number = .next()
    self.place = place ?? self.number
  }

  @usableFromInline
  package static func < (a: Self, b: Self) -> Bool { (a.place, a.number) < (b.place, b.number) }
}

extension OperationStore where State: OverlayableState {
  /// Adds a layer above those with smaller identifiers. Does nothing when the store already has the layer.
  ///
  /// - Parameter apply: Called with no lock held each time the value beneath changes, possibly more than once for a
  ///   change.
  package func addLayer(_ id: StateLayerIdentifier, apply: @escaping @Sendable (inout State.StateValue) -> Void) {
    _ = LayerableStore(self)?.addLayer(id, over: State.self, apply: apply)
  }

  /// Removes a layer. The store shows the value beneath.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.runtime.removeLayer(id)
  }
}

extension StoreRuntime {
  func addLayer(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout State) -> Void,
    _ noteStateBeneath: @escaping @Sendable (inout State, State) -> Void
  ) {
    self.editLayers { $0.add(StateLayer(id: id, apply: apply, noteStateBeneath: noteStateBeneath)) }
  }

  func removeLayer(_ id: StateLayerIdentifier) {
    self.editLayers { $0.remove(id) }
  }

  func commitLayer(_ id: StateLayerIdentifier) {
    let layer = self.machine.withLock { $0.layers.first { $0.id == id } }
    guard let layer else { return }
    // Not under the lock: a layer is user code. It is applied again when the state has changed meanwhile.
    self.commit(layer)
  }

  func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.machine.withLock { $0.replaceWithNextInvalidation(id) }
  }

  func commitAtRest(_ id: StateLayerIdentifier) {
    let observation = SubscriptionHolder()
    // Observes before the first check, so that the end of a run between the two is not missed.
    observation.store(self.observeActivity { [weak self] in self?.commitIfAtRest(id, observation) })
    self.commitIfAtRest(id, observation)
  }

  private func commitIfAtRest(_ id: StateLayerIdentifier, _ observation: SubscriptionHolder) {
    let (layer, isAtRest, isAnswered) = self.machine.withLock { machine in
      let layer = machine.layers.first { $0.id == id }
      return (layer, machine.runs.isEmpty, layer.map { machine.isAnswered($0) } ?? true)
    }
    guard isAtRest || layer == nil else { return }
    observation.cancel()
    guard let layer else { return }
    // A set value or a reset has answered the invalidation, and replaces the layer.
    if isAnswered { self.editLayers { $0.remove(id) } } else { self.commit(layer) }
  }
}

/// Holds a subscription, which may be cancelled before it has been stored.
private final class SubscriptionHolder: Sendable {
  private struct State {
    var subscription: OperationSubscription?
    var isCancelled = false
  }

  private let state = Locked(State())

  func store(_ subscription: OperationSubscription) {
    let isCancelled = self.state.withLock { state in
      if !state.isCancelled { state.subscription = subscription }
      return state.isCancelled
    }
    if isCancelled { subscription.cancel() }
  }

  func cancel() {
    let subscription = self.state.withLock { state in
      state.isCancelled = true
      defer { state.subscription = nil }
      return state.subscription
    }
    subscription?.cancel()
  }
}

extension OperationStore {
  /// Waits until no run is under way, or the current task is cancelled.
  package func settled() async {
    await self.runtime.settled()
  }
}
