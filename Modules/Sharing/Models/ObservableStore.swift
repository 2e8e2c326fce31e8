public import Observation
public import OperationCore

/// An observable model of a store for code on the main actor.
///
/// Members of the state can be read from it, and each read is tracked by itself: `model.isLoading`, `model.error`.
/// It subscribes to the store while it lives, and keeps the store alive. When the client removes the store, it goes on
/// with the client's next store at that path.
@MainActor
@dynamicMemberLookup
public final class ObservableStore<State: OperationState & Sendable>: Observable, Sendable {
  private let observed: ObservedStore<State>

  /// The store that the model shows.
  public nonisolated var store: OperationStore<State> {
    guard let store = self.observed.store else { preconditionFailure("A model is made with a store.") }
    return store
  }

  /// Creates a model of a store.
  public init(_ store: OperationStore<State>) {
    self.observed = ObservedStore(store, isolation: MainActor.shared)
  }

  /// The current value, with optimistic updates applied.
  public var currentValue: State.StateValue {
    get { self.observed.value(of: \.currentValue) }
    set {
      self.store.currentValue = newValue
      self.observed.followOwnChange()
    }
  }

  /// The value of a member of the current state.
  public subscript<Member>(dynamicMember keyPath: any KeyPath<State, Member> & Sendable) -> Member {
    self.observed.value(of: keyPath)
  }
}

extension OperationStore {
  /// Makes an observable model of this store for code on the main actor.
  ///
  /// Keep the model: each call creates one, and each is a subscriber.
  @MainActor
  public func makeObservable() -> ObservableStore<State> { ObservableStore(self) }
}
