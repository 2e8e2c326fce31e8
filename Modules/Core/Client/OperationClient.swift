/// Keeps the stores of a program by their paths, so that all who use an operation share one.
///
/// A client can be used from any thread. Idle stores are dropped in time: see ``DefaultStoreCache``.
public final class OperationClient: Sendable {
  @usableFromInline let storage: ClientStorage
  /// Whether the creator adds nothing, so that clients make their stores themselves, knowing their types.
  @usableFromInline let createsPlainStores: Bool
  @usableFromInline let storeCreator: any StoreCreator
  private let context: Locked<OperationContext>
  /// Held while stores are edited as a whole. Nothing else takes it.
  let transactions = ReentrantMutex(0)
  /// Whether nothing is run for subscribers any more.
  let automaticRunsAreStopped = Switch(false)

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - defaultContext: The context that stores begin with.
  ///   - storeCache: Decides which idle stores go.
  ///   - storeCreator: Creates the stores.
  public init(
    defaultContext: OperationContext = OperationContext(),
    storeCache: some StoreCache = DefaultStoreCache(),
    storeCreator: some StoreCreator = PlainStoreCreator()
  ) {
    self.storage = ClientStorage(cache: storeCache)
    self.storeCreator = storeCreator
    self.createsPlainStores = storeCreator is PlainStoreCreator
    self.context = Locked(defaultContext)
    self.defaultContext = defaultContext
  }

  /// The context that stores begin with. It always refers to this client.
  public var defaultContext: OperationContext {
    get { self.context.withLock { $0 } }
    set {
      var context = newValue
      context.operationClient = self
      self.context.withLock { current, released in
        released.append(current)
        current = context
      }
    }
  }

  /// Creates a store that is not kept.
  @inlinable
  func makeStore<Operation: StatefulOperationRequest>(
    for operation: Operation,
    initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    let context = self.defaultContext
    let store =
      self.createsPlainStores
      ? OperationStore.detached(operation: operation, initialState: initialState, initialContext: context)
      : self.storeCreator.store(for: operation, in: context, with: initialState)
    #if DEBUG
      store.runtime.requestedOperation.note(Operation.self)
    #endif
    return store
  }
}

extension OperationContext {
  /// The client that the operation runs for, while there is one. The context does not keep it alive.
  public var operationClient: OperationClient? {
    get { self[ClientKey.self]?.value }
    set { self[ClientKey.self] = newValue.map { WeakClient($0) } }
  }

  private final class WeakClient: Sendable {
    weak let value: OperationClient?

    init(_ value: OperationClient) {
      self.value = value
    }
  }

  private enum ClientKey: Key {
    static let defaultValue: WeakClient? = nil
  }
}
