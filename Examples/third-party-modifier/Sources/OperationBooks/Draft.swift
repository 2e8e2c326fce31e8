public import OperationCore
internal import Synchronization

/// Shows a text that is being written in place of a chapter, in all books at a path, until it is saved or dropped.
public final class Draft: Sendable {
  private let id = StateLayerIdentifier()
  private let stores: [StoreReference]

  /// Shows a draft in the books that a client has.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - chapter: The number of the chapter.
  ///   - path: The prefix of the paths of the books.
  ///   - client: The client.
  public init(_ text: String, of chapter: Int, matching path: OperationPath, in client: OperationClient) {
    var stores: [StoreReference] = []
    for store in client.stores(matching: path) {
      let isShown = store.addLayer(self.id, over: BookState<String>.self, by: "Draft") { $0[chapter] = text }
      if isShown { stores.append(store.reference) }
    }
    self.stores = stores
  }

  /// Makes the text part of the books.
  public func save() {
    for store in self.stores { store.store?.commitLayer(self.id) }
  }

  /// Shows the books without it.
  public func drop() {
    for store in self.stores { store.store?.removeLayer(self.id) }
  }
}
