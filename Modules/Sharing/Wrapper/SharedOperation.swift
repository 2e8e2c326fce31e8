public import OperationCore

/// The state of an operation's store in the current client, tracked property by property.
///
/// All wrappers of an operation share one store, and so its value and its runs:
///
/// ```swift
/// @Observable @MainActor final class PostModel {
///   @ObservationIgnored @SharedOperation(Post.query(for: 10)) var post
///
///   var title: String {
///     $post.isLoading ? "Loading…" : post?.title ?? "Not found"
///   }
/// }
/// ```
///
/// The wrapped value is the value of the store. `$post` has the members of the state, such as `$post.isLoading` and
/// `$post.error`, and the calls of the store, such as `$post.fetch()`. Reads are tracked by `withObservationTracking`,
/// by `Observations` and by SwiftUI: a reader of one property is not notified when another one changes.
///
/// Creating a wrapper subscribes to the store, which runs the operation if its value is stale and automatic running is
/// enabled. When the last copy of the wrapper is released, it unsubscribes, and the store may be released. When the client
/// removes the store, the wrapper goes on with the client's next store at that path, which begins without a value.
///
/// A wrapper that is created on the main actor changes for the readers on the main actor only between two of their
/// jobs, or by their own calls. It can be read on any thread; on others it shows the state of the store.
@propertyWrapper
@dynamicMemberLookup
public struct SharedOperation<State: OperationState & Sendable>: Sendable {
  let observed: ObservedStore<State>

  init(_ observed: ObservedStore<State>) {
    self.observed = observed
  }

  /// The value of the store, with optimistic updates applied.
  ///
  /// While the store has none, it may be another one: see ``isPrevious`` and ``isPlaceholder``. A change in place, such as
  /// `post?.title = ""`, reads that one and sets the result as the value of the store: ask before.
  ///
  /// The setter notifies the subscribers of the store before it returns, as
  /// ``/OperationCore/OperationStore/currentValue`` does. Without a store it changes the value of this wrapper.
  public var wrappedValue: State.StateValue {
    get { self.observed.shownValue }
    nonmutating set { self.setResult(to: .success(newValue)) }
  }

  /// Whether the wrapped value is the one of the operation before, until this one has a value.
  ///
  /// It can be true for a wrapper that is created with `keepsPrevious`. `$post.isLoading`, `$post.currentValue` and the
  /// other members of the state describe this operation. After a failure the value is nil, until the operation runs again.
  public var isPrevious: Bool { self.observed.isPrevious }

  /// Whether the wrapped value is a placeholder: the one of this wrapper, or the default value of the operation.
  ///
  /// No run has returned a placeholder, and no store has it as its value.
  public var isPlaceholder: Bool { self.observed.isPlaceholder }

  /// The wrapper itself, for the members of its state and the calls of its store.
  ///
  /// Assigning another wrapper moves this one, with all its copies and observers, to the store of the other:
  /// `$post = SharedOperation(Post.query(for: 11))`.
  public var projectedValue: SharedOperation<State> {
    get { self }
    nonmutating set { self.observed.move(to: newValue.observed) }
  }

  /// The value of a member of the state.
  public subscript<Member>(dynamicMember keyPath: any KeyPath<State, Member> & Sendable) -> Member {
    self.observed.value(of: keyPath)
  }

  /// The store; nil for a wrapper that is not backed by one.
  public var store: OperationStore<State>? { self.observed.store }
}
