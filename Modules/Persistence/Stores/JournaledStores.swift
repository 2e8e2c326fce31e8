internal import OperationCore
internal import OperationMutation

/// The stores of a client that show the calls of its journal, whichever is set first.
final class JournaledStores: Sendable {
  private struct Stores: Sendable {
    var attach: [ObjectIdentifier: @Sendable (MutationJournal) -> Void] = [:]
  }

  private let stores = Locked(Stores())

  /// Shows the calls of the client's journal in a store.
  func add<Mutation: MutationRequest>(_ store: JournaledStore<Mutation>, of client: OperationClient) {
    self.stores.withLock { stores in
      stores.attach[ObjectIdentifier(store)] = { [weak store] journal in store?.attach(to: journal) }
    }
    // After that, so that a journal which is set meanwhile finds the store.
    if let journal = client.attachment(of: MutationJournal.self) { store.attach(to: journal) }
  }

  func remove(_ store: AnyObject) {
    self.stores.withLock { stores, released in
      released.append(stores.attach.removeValue(forKey: ObjectIdentifier(store)))
    }
  }

  /// Shows the calls of a journal that was set.
  func attach(to journal: MutationJournal) {
    for attach in self.stores.withLock({ $0.attach.values.map(\.self) }) { attach(journal) }
  }
}

/// Shows the calls of a journal in the stores of a mutation.
struct JournaledStoreController<Mutation: MutationRequest>: OperationController, Sendable
where Mutation.Arguments: Codable {
  let names: Set<String>
  let stored: StoredArguments<Mutation.Arguments>
  /// Nil for the journal of the client.
  let journal: MutationJournal?

  func control(with controls: OperationControls<Mutation.State>) -> OperationSubscription {
    let store = JournaledStore<Mutation>(names: self.names, stored: self.stored, controls: controls)
    if let journal {
      store.attach(to: journal)
      return OperationSubscription { store.detach() }
    }
    guard let client = controls.context.operationClient else { return .empty }
    let stores = client.journaledStores
    stores.add(store, of: client)
    return OperationSubscription {
      stores.remove(store)
      store.detach()
    }
  }
}

extension OperationClient {
  var journaledStores: JournaledStores { self.attachment { JournaledStores() } }
}
