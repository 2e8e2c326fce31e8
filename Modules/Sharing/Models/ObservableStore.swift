public import Observation
public import OperationCore

/// An observable model of a store for code on the main actor.
///
/// Members of the state can be read from it, and each read is tracked by itself: `model.isLoading`, `model.error`.
/// It subscribes to the store while it lives, and keeps the store alive.
@MainActor
@dynamicMemberLookup
public final class ObservableStore<State: OperationState & Sendable>: Observable, Sendable {
  /// The store.
  public let store: OperationStore<State>

  private let observed: ObservedStore<State>

  /// Creates a model of a store.
  public init(_ store: OperationStore<State>) {
    self.store = store
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
  /// A new observable model of this store for code on the main actor.
  ///
  /// Keep the model: each call creates one, and each is a subscriber.
  @MainActor
  public var observable: ObservableStore<State> { ObservableStore(self) }
}
