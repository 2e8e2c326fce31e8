internal import Operation
internal import OperationCore

extension OperationClient {
  /// A client without default modifiers that keeps any number of idle stores.
  static func plain() -> OperationClient {
    OperationClient(storeCache: DefaultStoreCache(maximumIdleStores: .max), storeCreator: PlainStoreCreator())
  }

  /// A client with the umbrella's defaults that keeps any number of idle stores.
  static func withDefaults() -> OperationClient {
    OperationClient(storeCache: .default(maximumIdleStores: .max), storeCreator: .default())
  }

  /// Creates the stores of the posts of a range.
  func addPosts(_ ids: Range<Int>) {
    for id in ids { _ = self.store(for: PostQuery(id: id)) }
  }
}
