internal import Synchronization

/// The implementation of an ``OperationStore``: owns the state machine, performs its decisions, and runs the operation.
///
/// Runs, subscriptions and controls retain the runtime, never the store, so the store is deinitialized with its last
/// reference, and closes the runtime.
@usableFromInline
package final class StoreRuntime: Sendable {
  // The lock and the value that it guards are in one object.
  let lock = ReentrantLock()
  /// Guards only the entry. The entry is set with the client's lock held, and a thread with exclusive access to the
  /// store may wait for that lock.
  let entryLock = Mutex(())
  @usableFromInline let operation: OperationBox
  // Unsafe only in name: `entryLock` guards the entry, and the reference is set before the object is shared. With a
  // `Mutex` around the entry, each store would be 16 bytes larger. An `AtomicLazyReference` would take 2,900
  // instructions more of the 5,600 that a store takes to make and to drop.
  nonisolated(unsafe) var links = Links()
  /// The number of the last invalidation; 0 before the first.
  let lastInvalidation = Atomic<Int>(0)
  let isInClient = Atomic(false)
  /// Flags in one atomic value, so that a thread that sets one sees the others: has dependents, is closed, is over.
  let lifetime = Atomic<UInt8>(0)
  /// What the observers of the store receive, a ``StoreWatch``. Written with the lock held.
  let watch = Atomic<UInt32>(0)
  /// Whether the context of the store has, or had, interceptors of its calls.
  private let hasInterceptors: Atomic<Bool>
  /// The settings by which the store treats states of its type.
  let traits: StateTraits
  /// The sequence number of the last idleness check. It wraps around.
  let idlenessReadings = Atomic<UInt32>(0)
  #if DEBUG
    /// The operation that was passed to the client when it made the store.
    @usableFromInline let requestedOperation = RequestedOperation()
  #endif
  /// The observers of the client that observe the store; nil for none.
  // Unsafe only in name: guarded by `lock`.
  nonisolated(unsafe) var clientObservers: ClientObservers.List?
  // Unsafe only in name: guarded by `lock`, which also makes the accesses exclusive: see `QueryContent` for the figure.
  @exclusivity(unchecked) nonisolated(unsafe) var lockedMachine: StoreMachine

  struct Links {
    /// The reference is not a constant of the runtime, because it needs the store.
    var reference: StoreReference?
    /// The entry of the client that has the store, if any.
    var entry: StoreEntry?
    /// Makes the store that takes the place of this one; nil if no client has made this one. Set before the object is
    /// shared.
    var maker: StoreMaker.Type?

    init() {}
  }

  init(operation: OperationBox, state: any StoredState, context: OperationContext) {
    self.operation = operation
    self.traits = type(of: state).traits
    self.hasInterceptors = Atomic(context.isSet(OperationContext.CallInterceptorsKey.self))
    self.lockedMachine = StoreMachine(state: state, context: context)
  }

  /// Runs `body` on the machine with the lock held. It must not call user code.
  func withMachine<R: ~Copyable>(_ body: (inout StoreMachine) -> R) -> R {
    self.lock.withLock { body(&self.lockedMachine) }
  }

  /// The weak reference to the store that the contexts of its runs carry.
  var reference: StoreReference {
    guard let reference = self.links.reference else { preconditionFailure("A runtime is made with its store.") }
    return reference
  }
}

extension StoreRuntime {
  /// Whether calls of the store may have interceptors.
  var interceptsCalls: Bool { self.hasInterceptors.load(ordering: .acquiring) }

  /// Notes the interceptors in a context that the store is about to have.
  func noteInterceptors(in context: OperationContext) {
    if context.isSet(OperationContext.CallInterceptorsKey.self) {
      self.hasInterceptors.store(true, ordering: .releasing)
    }
  }

  /// Whether the store has ever been invalidated.
  var wasInvalidated: Bool { self.lastInvalidation.load(ordering: .relaxed) > 0 }

  /// Whether the store is in a client, or has been in one.
  var wasInClient: Bool { self.isInClient.load(ordering: .acquiring) }

  static var hasDependentsFlag: UInt8 { 1 }
  static var isClosedFlag: UInt8 { 2 }
  static var isOverFlag: UInt8 { 4 }

  /// Whether anything has ever subscribed to the store, or attached to it.
  @usableFromInline
  var hasDependents: Bool { self.lifetime.load(ordering: .acquiring) & Self.hasDependentsFlag != 0 }

  /// Marks the store deinitialized. Returns whether it has dependents to notify.
  func markClosed() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.isClosedFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.hasDependentsFlag != 0
  }

  /// Whether a client has removed the store. It runs nothing by itself since then, and writes nothing.
  var isOver: Bool { self.lifetime.load(ordering: .acquiring) & Self.isOverFlag != 0 }

  /// Marks the store as removed, in the step in which the client forgets it.
  func markOver() {
    _ = self.lifetime.bitwiseOr(Self.isOverFlag, ordering: .acquiringAndReleasing)
  }

  /// The entry of the client that has the store, read with its lock held.
  var lockedEntry: StoreEntry? { self.entryLock.withLock { _ in self.links.entry } }

  /// Notifies the client that the store was deinitialized.
  func leaveClient() {
    self.lockedEntry?.storeIsGone()
  }

  /// Notes that the store has a dependent to notify when it is deinitialized. Returns whether the store has been
  /// deinitialized already.
  @discardableResult
  func noteDependent() -> Bool {
    let former = self.lifetime.bitwiseOr(Self.hasDependentsFlag, ordering: .acquiringAndReleasing).oldValue
    return former & Self.isClosedFlag != 0
  }
}
