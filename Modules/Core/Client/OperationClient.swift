/// Keeps the stores of a program by their paths, so that all users of an operation share one store.
///
/// A client can be used from any thread. Idle stores are evicted after a time: see ``DefaultStoreCache``.
public final class OperationClient: Sendable {
  @usableFromInline let storage: ClientStorage
  /// Whether the creator is a ``PlainStoreCreator``. The client then creates stores itself, with their types known
  /// statically.
  @usableFromInline let createsPlainStores: Bool
  @usableFromInline package let storeCreator: any StoreCreator
  private let context: Locked<OperationContext>
  /// The defaults of operations by the beginnings of their paths.
  let pathDefaults = PathDefaults()
  /// What was invalidated, for values that arrive later.
  package let invalidations = InvalidationLog()
  /// Held only during edits with `withStores`.
  let transactions = ReentrantLock()
  /// On when operations no longer run automatically.
  package let automaticRunsAreStopped = AtomicFlag(false)
  /// The objects that modules keep with the client, by their types.
  let attachments = Locked<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - defaultContext: The initial context of new stores.
  ///   - storeCache: Decides which idle stores are evicted.
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

  /// The initial context of new stores.
  ///
  /// Its ``OperationContext/operationClient`` is always this client, whatever is assigned.
  public var defaultContext: OperationContext {
    get { self.context.withLock { $0 } }
    set {
      var context = newValue
      context.operationClient = self
      if let observers = self.attachment(of: ClientNoticeObservers.self) { context.addNoticeObserver(observers) }
      self.context.withLock { [context] current, released in
        released.append(current)
        current = context
      }
      context.attachClearings(to: self)
    }
  }
}

extension OperationContext {
  /// The client that the operation runs for; nil without one, and when it no longer exists.
  ///
  /// The context does not keep the client alive.
  public var operationClient: OperationClient? {
    get { self[ClientKey.self]?.value }
    set { self[ClientKey.self] = newValue.map { ClientReference($0) } }
  }

  /// The observers of the client's stores; nil without a client.
  var clientObservers: ClientObservers? { self[ClientKey.self]?.observers }

  /// The reference to the client; nil without one.
  var clientReference: ClientReference? { self[ClientKey.self] }

  private enum ClientKey: Key {
    static let defaultValue: ClientReference? = nil
  }
}

/// A weak reference to a client, which all contexts of its stores share.
final class ClientReference: Sendable {
  weak let value: OperationClient?
  let observers: ClientObservers

  init(_ value: OperationClient) {
    self.value = value
    self.observers = value.storage.observers
  }
}
