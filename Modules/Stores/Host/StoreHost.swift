/// What a store knows of the client that has it.
///
/// The module of clients implements it. A store refers to its client by the context of its runs, weakly.
package protocol StoreHost: AnyObject, Sendable {
  /// What was invalidated.
  var invalidations: InvalidationLog { get }
  /// The call that signs the user out, while it is under way.
  var clearing: ClientClearing? { get }
  /// Whether nothing runs by itself any more.
  var automaticRunsAreStopped: AtomicFlag { get }

  /// The stores at paths that start with the given one.
  func runtimes(matching path: OperationPath) -> [StoreRuntime]

  /// Waits for the runs of a removed store when the client signs its user out.
  func note(removed runtime: StoreRuntime)

  /// Passes on to a level what is invalidated, and clears it when the client forgets its user.
  func add(_ level: any ValueLevel)
}

/// A weak reference to a client, as an entry of contexts.
package final class ClientReference: Sendable {
  package weak let host: (any StoreHost)?
  package let observers: ClientObservers

  package init(_ host: any StoreHost, observers: ClientObservers) {
    self.host = host
    self.observers = observers
  }
}

extension OperationContext {
  /// The reference to the client; nil for a store that belongs to none.
  package var clientReference: ClientReference? {
    get { self[ClientKey.self] }
    set { self[ClientKey.self] = newValue }
  }

  var clientObservers: ClientObservers? { self.clientReference?.observers }

  /// The client; nil for a store that belongs to none, and once the client has been released.
  var storeHost: (any StoreHost)? { self.clientReference?.host }

  private enum ClientKey: Key {
    static let defaultValue: ClientReference? = nil
  }
}

extension OperationContext {
  var automaticRunsAreStopped: Bool { self.storeHost?.automaticRunsAreStopped.isOn ?? false }
}
